/// An index over properties of the objects of one collection: finds, sorts and counts them without reading the others.
///
/// ```swift
/// let byDue = YapDatabaseSecondaryIndex("byDue", of: Todo.self, in: "todos", version: "1") {
///     $0.column(\.due)
///     $0.column(\.priority)
/// }
/// try await database.register(byDue)
/// let late = try await connection.read {
///     try $0[byDue].rows(where: { $0.due < now && $0.priority >= 3 }, sort: [.by(\.due)], limit: 50)
/// }
/// ```
///
/// It follows each write inside the transaction, so that the same transaction finds what it wrote. A row is in it while
/// its object is in the collection and `isIncluded` says so.
///
/// Columns may also be properties of the rows' metadata: `$0.column(metadata: \TodoInfo.seenAt)`. A query names such a
/// column `$0[metadata: \TodoInfo.seenAt]`.
public final class YapDatabaseSecondaryIndex<Object: Sendable>: YapDatabaseNamedExtension {
    /// The class's name in the file, whatever the objects' type.
    public static var className: String { "YapDatabaseSecondaryIndex" }
    /// The version of the tables.
    public static var classVersion: Int { 1 }
    /// Its transactions note the conditions of their queries.
    public static var notesReads: Bool { true }
    /// True: its rows have the rowids of the objects' rows.
    public static var catchesUp: Bool { true }

    /// What it is reached by in transactions, and known by in the file.
    public var name: String { description.name }
    /// The collection that it is over.
    public var collection: String { description.collection }
    /// The version that the app gave, with what the columns are.
    public var versionTag: String { description.versionTag }
    let description: IndexDescription<Object>
    /// The SQLite indexes, each with the places of its columns.
    let indexes: [[Int]]

    /// Describes an index.
    ///
    /// - Parameters:
    ///   - name: What it is known by in the file.
    ///   - type: The type that the collection is registered with.
    ///   - collection: The collection.
    ///   - version: Change it whenever a property is computed in another way, or `isIncluded` decides in another way:
    ///     the index is then filled anew. Columns of another name or type are noticed without it.
    ///   - isIncluded: Which objects are in the index.
    ///   - describe: Adds the columns. What is wrong with them, registering throws.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        including isIncluded: @escaping @Sendable (Object) -> Bool = { _ in true },
        _ describe: (inout YapDatabaseIndexColumns<Object>) -> Void
    ) {
        self.init(name, in: collection, version: version, including: RowCondition(isIncluded), describe)
    }

    /// Describes an index where `isIncluded` gets the metadata as well as the object. Parameters as in the other form.
    ///
    /// - Parameters:
    ///   - metadata: The type that the collection's metadata is registered with.
    ///   - isIncluded: Which rows are in the index, by object and metadata; nil for a row without metadata.
    public convenience init<Metadata: Sendable>(
        _ name: String, of type: Object.Type, metadata: Metadata.Type, in collection: String, version: String,
        including isIncluded: @escaping @Sendable (Object, Metadata?) -> Bool,
        _ describe: (inout YapDatabaseIndexColumns<Object>) -> Void
    ) {
        self.init(
            name, in: collection, version: version, including: RowCondition(metadata, isIncluded), describe)
    }

    private init(
        _ name: String, in collection: String, version: String, including condition: RowCondition<Object>,
        _ describe: (inout YapDatabaseIndexColumns<Object>) -> Void
    ) {
        var described = YapDatabaseIndexColumns<Object>()
        describe(&described)
        indexes = described.indexes
        description = IndexDescription(
            name, in: collection, version: version, including: condition, columns: described.columns,
            shape: indexes.map { $0.map(String.init).joined(separator: "+") }.joined(separator: ","),
            mistakes: described.mistakes + (described.columns.isEmpty ? ["the index has no column"] : []))
    }

    /// The one collection.
    public var collections: [String]? { [collection] }

    /// The one table, which SQLite's own indexes belong to.
    public func tableNames(registeredName: String) -> [String] { ["secondaryIndex_\(registeredName)"] }

    /// The index at one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseSecondaryIndexConnection<Object> {
        YapDatabaseSecondaryIndexConnection(self, table: tableNames(registeredName: registeredName)[0])
    }
}

/// An index at one SQLite handle. It keeps nothing but the texts of its statements.
public final class YapDatabaseSecondaryIndexConnection<Object: Sendable>: YapDatabaseExtensionConnection {
    private let table: IndexTable<Object>

    init(_ index: YapDatabaseSecondaryIndex<Object>, table name: String) {
        let columns = index.description.columns.map(\.name)
        let sql = SecondaryIndexSQL(table: name, columns: columns)
        table = IndexTable(
            description: index.description, classVersion: YapDatabaseSecondaryIndex<Object>.classVersion,
            create: SecondaryIndexSQL.create(table: name, columns: columns, indexes: index.indexes),
            insert: sql.insert, delete: sql.delete, sql: sql)
    }

    /// The index in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseSecondaryIndexTransaction<Object> {
        YapDatabaseSecondaryIndexTransaction(table, transaction, tables)
    }

    /// Nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Nothing is cached.
    public func dropCaches() {}
}

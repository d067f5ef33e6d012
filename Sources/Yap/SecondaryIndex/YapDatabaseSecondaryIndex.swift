/// An index over properties of the objects of one collection. It finds, sorts and counts objects without reading the
/// others.
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
/// It is updated with each write in the same transaction, which sees the result. A row is in it while its object is
/// in the collection and `isIncluded` returns true.
///
/// Columns may also be properties of the rows' metadata: `$0.column(metadata: \TodoInfo.seenAt)`. A query names such
/// a column `$0[metadata: \TodoInfo.seenAt]`.
public final class YapDatabaseSecondaryIndex<Object: Sendable>: YapDatabaseNamedExtension {
    /// Class name in the file, independent of the type of the objects.
    public static var className: String { "YapDatabaseSecondaryIndex" }
    /// Version of the tables.
    public static var classVersion: Int { 1 }
    /// Its transactions record the conditions of their queries.
    public static var notesReads: Bool { true }
    /// True: its rows have the rowids of the objects' rows.
    public static var catchesUp: Bool { true }

    /// Name of the index in transactions and in the file.
    public var name: String { description.name }
    /// Collection of the objects.
    public var collection: String { description.collection }
    /// The app's version, and a description of the columns.
    public var versionTag: String { description.versionTag }
    let description: IndexDescription<Object>
    /// The SQLite indexes, each as the positions of its columns.
    let indexes: [[Int]]

    /// Describes an index.
    ///
    /// - Parameters:
    ///   - name: Name of the index in transactions and in the file.
    ///   - type: The registered type of the collection.
    ///   - collection: The collection.
    ///   - version: Change it whenever a property is computed differently, or `isIncluded` decides differently. The
    ///     index is then filled again. Columns of another name or type are detected without it.
    ///   - isIncluded: Returns true if an object is in the index. Default: all objects.
    ///   - describe: Adds the columns. Registering throws their mistakes.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        including isIncluded: @escaping @Sendable (Object) -> Bool = { _ in true },
        _ describe: (inout YapDatabaseIndexColumns<Object>) -> Void
    ) {
        self.init(name, in: collection, version: version, including: RowCondition(isIncluded), describe)
    }

    /// Describes an index where `isIncluded` also receives the metadata. For the other parameters see the first form.
    ///
    /// - Parameters:
    ///   - name: Name under which it is registered.
    ///   - type: Type of the objects.
    ///   - metadata: The registered type of the collection's metadata.
    ///   - collection: Collection of the objects.
    ///   - version: Version of the closures. Change it with them: the extension is then filled again.
    ///   - isIncluded: Returns true if a row is in the index, by object and metadata, which is nil for a row without
    ///     metadata.
    ///   - describe: Describes the columns.
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

    /// The collection of the objects.
    public var collections: [String]? { [collection] }

    /// Returns the table, to which SQLite's own indexes belong.
    public func tableNames(registeredName: String) -> [String] { ["secondaryIndex_\(registeredName)"] }

    /// Creates the part of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseSecondaryIndexConnection<Object> {
        YapDatabaseSecondaryIndexConnection(self, table: tableNames(registeredName: registeredName)[0])
    }
}

/// An index at one SQLite handle. It only keeps its SQL texts.
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

    /// Creates the part of a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseSecondaryIndexTransaction<Object> {
        YapDatabaseSecondaryIndexTransaction(table, transaction, tables)
    }

    /// Does nothing, because nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Does nothing, because nothing is cached.
    public func dropCaches() {}
}

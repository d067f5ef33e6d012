/// An index over coordinates of the objects of one collection: finds those in a region, and those nearest to a point,
/// without reading the others.
///
/// ```swift
/// let places = YapDatabaseRTreeIndex("places", of: Place.self, in: "places", version: "1") {
///     $0.dimension(\.longitude)
///     $0.dimension(\.latitude)
/// }
/// try await database.register(places)
/// let found = try await connection.read {
///     try $0[places].rows(
///         where: { $0.longitude.isInside(8.4...8.7) && $0.latitude.isInside(49...50) }, limit: 50)
/// }
/// ```
///
/// It has 1 to 5 dimensions, each with one property or with a range of two. It follows each write inside the
/// transaction, so that the same transaction finds what it wrote. Queries are exact, though SQLite's R-tree has 32-bit
/// numbers: the index also has the values as they are.
///
/// An object isn't in the index if a value is nil or NaN, or a range ends before it begins. Infinite values are
/// allowed: a range without an end ends at infinity.
public final class YapDatabaseRTreeIndex<Object: Sendable>: YapDatabaseNamedExtension {
    /// The class's name in the file, whatever the objects' type.
    public static var className: String { "YapDatabaseRTreeIndex" }
    /// The version of the tables.
    public static var classVersion: Int { 1 }
    /// Its transactions note the conditions of their queries.
    public static var notesReads: Bool { true }
    /// True: its rows have the rowids of the objects' rows.
    public static var catchesUp: Bool { true }

    /// The name of the index in transactions and in the file.
    public var name: String { description.name }
    /// The collection that it is over.
    public var collection: String { description.collection }
    /// The version that the app gave, with what the dimensions are.
    public var versionTag: String { description.versionTag }
    let description: IndexDescription<Object>
    let dimensions: [RTreeDimension]
    var columns: [YapDatabaseIndexColumns<Object>.Column] { description.columns }

    /// Describes an index.
    ///
    /// - Parameters:
    ///   - name: The name of the index in transactions and in the file.
    ///   - type: The type that the collection is registered with.
    ///   - collection: The collection.
    ///   - version: Change it whenever a property is computed in another way, or `isIncluded` decides in another way:
    ///     the index is then filled anew. Dimensions of another name or type are noticed without it.
    ///   - isIncluded: Which objects are in the index.
    ///   - describe: Adds the dimensions. Registering throws `invalidExtension` if they have a mistake.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        including isIncluded: @escaping @Sendable (Object) -> Bool = { _ in true },
        _ describe: (inout YapDatabaseRTreeDimensions<Object>) -> Void
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
        _ describe: (inout YapDatabaseRTreeDimensions<Object>) -> Void
    ) {
        self.init(
            name, in: collection, version: version, including: RowCondition(metadata, isIncluded), describe)
    }

    private init(
        _ name: String, in collection: String, version: String, including condition: RowCondition<Object>,
        _ describe: (inout YapDatabaseRTreeDimensions<Object>) -> Void
    ) {
        var described = YapDatabaseRTreeDimensions<Object>()
        describe(&described)
        dimensions = described.dimensions
        description = IndexDescription(
            name, in: collection, version: version, including: condition, columns: described.columns,
            shape: dimensions.map { "\($0.from)...\($0.to)" }.joined(separator: ","),
            mistakes: described.mistakes)
    }

    /// The one collection.
    public var collections: [String]? { [collection] }

    /// The virtual table, which owns three tables of SQLite's.
    public func tableNames(registeredName: String) -> [String] { ["rtreeIndex_\(registeredName)"] }

    /// The index at one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseRTreeIndexConnection<Object> {
        YapDatabaseRTreeIndexConnection(self, table: tableNames(registeredName: registeredName)[0])
    }
}

/// An index at one SQLite handle. It keeps nothing but the texts of its statements.
public final class YapDatabaseRTreeIndexConnection<Object: Sendable>: YapDatabaseExtensionConnection {
    let index: YapDatabaseRTreeIndex<Object>
    let sql: RTreeSQL
    let table: IndexTable<Object>

    init(_ index: YapDatabaseRTreeIndex<Object>, table name: String) {
        let dimensions = index.dimensions
        let sql = RTreeSQL(table: name, columns: index.columns.map(\.name), dimensions: dimensions)
        (self.index, self.sql) = (index, sql)
        table = IndexTable(
            description: index.description, classVersion: YapDatabaseRTreeIndex<Object>.classVersion,
            create: sql.create, insert: sql.insert, delete: sql.delete, sql: sql.exact, bounds: sql.bounds
        ) { values in
            var bounds: [YapDatabaseColumnValue] = []
            for dimension in dimensions {
                guard let more = dimension.bounds(values) else { return nil }
                bounds += more
            }
            return bounds
        }
    }

    /// The index in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseRTreeIndexTransaction<Object> {
        YapDatabaseRTreeIndexTransaction(self, transaction, tables)
    }

    /// Nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Nothing is cached.
    public func dropCaches() {}
}

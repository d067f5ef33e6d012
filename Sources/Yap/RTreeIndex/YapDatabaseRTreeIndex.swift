/// An index over coordinates of the objects of one collection. It finds the objects in a region, and those nearest to
/// a point, without reading the others.
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
/// It has 1 to 5 dimensions, each with one property or with a range of two. It is updated with each write in the same
/// transaction, which sees the result. Queries are exact, although SQLite's R-tree has 32-bit numbers, because the
/// index also stores the exact values.
///
/// An object isn't in the index if a value is nil or NaN, or a range ends before it begins. Infinite values are
/// allowed: a range without an end ends at infinity.
public final class YapDatabaseRTreeIndex<Object: Sendable>: YapDatabaseNamedExtension {
    /// Class name in the file, independent of the type of the objects.
    public static var className: String { "YapDatabaseRTreeIndex" }
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
    /// The app's version, and a description of the dimensions.
    public var versionTag: String { description.versionTag }
    let description: IndexDescription<Object>
    let dimensions: [RTreeDimension]
    var columns: [YapDatabaseIndexColumns<Object>.Column] { description.columns }

    /// Describes an index.
    ///
    /// - Parameters:
    ///   - name: Name of the index in transactions and in the file.
    ///   - type: The registered type of the collection.
    ///   - collection: The collection.
    ///   - version: Change it whenever a property is computed differently, or `isIncluded` decides differently. The
    ///     index is then filled again. Dimensions of another name or type are detected without it.
    ///   - isIncluded: Returns true if an object is in the index. Default: all objects.
    ///   - describe: Adds the dimensions. Registering throws `invalidExtension` if they have a mistake.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        including isIncluded: @escaping @Sendable (Object) -> Bool = { _ in true },
        _ describe: (inout YapDatabaseRTreeDimensions<Object>) -> Void
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

    /// The collection of the objects.
    public var collections: [String]? { [collection] }

    /// Returns the virtual table, which owns three tables of SQLite.
    public func tableNames(registeredName: String) -> [String] { ["rtreeIndex_\(registeredName)"] }

    /// Creates the part of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseRTreeIndexConnection<Object> {
        YapDatabaseRTreeIndexConnection(self, table: tableNames(registeredName: registeredName)[0])
    }
}

/// An index at one SQLite handle. It only keeps its SQL texts.
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

    /// Creates the part of a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseRTreeIndexTransaction<Object> {
        YapDatabaseRTreeIndexTransaction(self, transaction, tables)
    }

    /// Does nothing, because nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Does nothing, because nothing is cached.
    public func dropCaches() {}
}

/// An index over vectors of the objects of one collection, such as embeddings of texts or images. It finds the
/// objects with the vectors nearest to another one.
///
/// ```swift
/// let byMeaning = YapDatabaseVectorIndex(
///     "byMeaning", of: Note.self, in: "notes", version: "1", dimensions: 384, distance: .cosine
/// ) { $0.embedding }
/// try await database.register(byMeaning)
/// let near = try await connection.rows(nearest: vector, in: byMeaning, limit: 20)
/// ```
///
/// It is updated with each write in the same transaction, which sees the result. A write that doesn't change the
/// vector doesn't change the index.
///
/// Results are exact: a query is compared with all vectors, one after the other. The index stores a second copy of
/// the vectors, in 32 bits a component.
public final class YapDatabaseVectorIndex<Object: Sendable>: YapDatabaseNamedExtension {
    /// Class name in the file, independent of the type of the objects.
    public static var className: String { "YapDatabaseVectorIndex" }
    /// Version of the tables.
    public static var classVersion: Int { 1 }
    /// Its transactions record that a query depends on the vectors.
    public static var notesReads: Bool { true }
    /// True: rows are replaced and removed by their rowids.
    public static var catchesUp: Bool { true }

    /// Maximum dimensions.
    public static var dimensionsMax: Int { 4_096 }
    /// Maximum `limit` of a query.
    public static var limitMax: Int { 10_000 }

    /// Name of the index in transactions and in the file.
    public let name: String
    /// Collection of the objects.
    public let collection: String
    /// The app's version, and dimensions and distance.
    public let versionTag: String
    /// Number of components of each vector.
    public let dimensions: Int
    /// Distance measure.
    public let distance: YapDatabaseVectorDistance
    let blockBytesMax: Int
    private let vector: @Sendable (Object) -> [Float]?

    /// Describes an index.
    ///
    /// - Parameters:
    ///   - name: Name of the index in transactions and in the file.
    ///   - type: The registered type of the collection.
    ///   - collection: The collection.
    ///   - version: Change it when `vector` would return other vectors, for example of another model. The index is
    ///     then filled again. Other dimensions and another distance are detected without it.
    ///   - dimensions: Number of components of each vector: 1 to 4,096. For others, registering throws
    ///     `invalidExtension`.
    ///   - distance: The distance measure.
    ///   - vector: Returns an object's vector, or nil if the object isn't in the index. Writing an object throws
    ///     `invalidVector` with its key if the vector has another number of components, one that isn't finite, or
    ///     only zeros with `.cosine`; registering throws it for a stored object. A fetched object with such a vector,
    ///     or one that was written without the index, isn't in the index.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String, dimensions: Int,
        distance: YapDatabaseVectorDistance, _ vector: @escaping @Sendable (Object) -> [Float]?
    ) {
        self.init(
            name, of: type, in: collection, version: version, dimensions: dimensions, distance: distance,
            blockBytesMax: VectorLayout.blockBytesMax, vector)
    }

    /// Creates an index with another block size, for tests. The file doesn't store the size.
    package init(
        _ name: String, of type: Object.Type, in collection: String, version: String, dimensions: Int,
        distance: YapDatabaseVectorDistance, blockBytesMax: Int,
        _ vector: @escaping @Sendable (Object) -> [Float]?
    ) {
        self.name = name
        self.collection = collection
        self.dimensions = dimensions
        self.distance = distance
        self.blockBytesMax = blockBytesMax
        self.vector = vector
        versionTag = "\(version);\(collection);\(dimensions);\(distance.rawValue)"
    }

    /// The collection of the objects.
    public var collections: [String]? { [collection] }

    /// Returns the table of blocks, and the table of the rows' places in them.
    public func tableNames(registeredName: String) -> [String] {
        ["vectorIndex_\(registeredName)", "vectorPlaces_\(registeredName)"]
    }

    /// Creates the part of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseVectorIndexConnection<Object> {
        YapDatabaseVectorIndexConnection(self, tableNames(registeredName: registeredName))
    }

    /// Throws if the description is invalid.
    func check() throws {
        guard !(1...Self.dimensionsMax).contains(dimensions) else { return }
        throw YapDatabaseError(
            .invalidExtension,
            "\(name): the index has \(dimensions) dimensions: it must have 1 to \(Self.dimensionsMax)",
            collection: collection)
    }

    /// Returns the vector of an object to store, or nil if the object isn't in the index.
    func vector(of object: Object, _ key: String) throws -> [Float]? {
        try vector(object).map { try prepared($0, key) }
    }

    /// Returns a vector prepared for comparison.
    ///
    /// - Parameter key: Key of the object. Nil for a query's vector.
    func prepared(_ vector: [Float], _ key: String? = nil) throws -> [Float] {
        if let mistake = distance.mistake(in: vector, dimensions: dimensions) {
            throw YapDatabaseError(
                .invalidVector, "the index \"\(name)\": \(mistake)", collection: collection, key: key)
        }
        return distance.prepared(vector)
    }
}

/// An index at one SQLite handle. It only keeps its SQL texts.
public final class YapDatabaseVectorIndexConnection<Object: Sendable>: YapDatabaseExtensionConnection {
    let index: YapDatabaseVectorIndex<Object>
    let sql: VectorSQL
    let layout: VectorLayout

    init(_ index: YapDatabaseVectorIndex<Object>, _ tables: [String]) {
        self.index = index
        sql = VectorSQL(blocks: tables[0], places: tables[1])
        layout = VectorLayout(dimensions: index.dimensions, blockBytesMax: index.blockBytesMax)
    }

    /// Creates the part of a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseVectorIndexTransaction<Object> {
        YapDatabaseVectorIndexTransaction(self, transaction, tables)
    }

    /// Does nothing, because nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Does nothing, because nothing is cached.
    public func dropCaches() {}
}

/// An index over vectors of the objects of one collection, such as embeddings of texts or images: finds the objects
/// whose vectors are nearest to another one.
///
/// ```swift
/// let byMeaning = YapDatabaseVectorIndex(
///     "byMeaning", of: Note.self, in: "notes", version: "1", dimensions: 384, distance: .cosine
/// ) { $0.embedding }
/// try await database.register(byMeaning)
/// let near = try await connection.rows(nearest: vector, in: byMeaning, limit: 20)
/// ```
///
/// It follows each write inside the transaction, so that the same transaction finds what it wrote. A write that doesn't
/// change the vector writes nothing into it.
///
/// Results are exact: a query compares with all vectors, one after the other. The index stores the vectors a second
/// time, in 32 bits a component.
public final class YapDatabaseVectorIndex<Object: Sendable>: YapDatabaseNamedExtension {
    /// The class's name in the file, whatever the objects' type.
    public static var className: String { "YapDatabaseVectorIndex" }
    /// The version of the tables.
    public static var classVersion: Int { 1 }
    /// Its transactions note that a query depends on the vectors.
    public static var notesReads: Bool { true }
    /// True: rows are replaced and removed by their rowids.
    public static var catchesUp: Bool { true }

    /// Maximum number of dimensions.
    public static var dimensionsMax: Int { 4_096 }
    /// Maximum `limit` of a query.
    public static var limitMax: Int { 10_000 }

    /// The name by which transactions find it, and under which it is stored.
    public let name: String
    /// The collection that it is over.
    public let collection: String
    /// The app's version, with the dimensions and the distance.
    public let versionTag: String
    /// Number of components of each vector.
    public let dimensions: Int
    /// How vectors are compared.
    public let distance: YapDatabaseVectorDistance
    let blockBytesMax: Int
    private let vector: @Sendable (Object) -> [Float]?

    /// Describes an index.
    ///
    /// - Parameters:
    ///   - name: Its name in the file.
    ///   - type: The type that the collection is registered with.
    ///   - collection: The collection.
    ///   - version: Change it when `vector` returns other vectors than before, as those of another model: the index is
    ///     then filled again. Other dimensions and another distance are noticed without it.
    ///   - dimensions: Number of components of each vector: 1 to 4,096. Registering throws `invalidExtension` for
    ///     others.
    ///   - distance: How vectors are compared.
    ///   - vector: Returns an object's vector, or nil for an object that isn't in the index. The write of an object
    ///     throws `invalidVector` with its key if the vector has another number of components, one that isn't a finite
    ///     number, or only zeros with `.cosine`; registering does for an object that is stored already. An object with
    ///     such a vector that a sync brings, or that was written without the index, isn't in the index.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String, dimensions: Int,
        distance: YapDatabaseVectorDistance, _ vector: @escaping @Sendable (Object) -> [Float]?
    ) {
        self.init(
            name, of: type, in: collection, version: version, dimensions: dimensions, distance: distance,
            blockBytesMax: VectorLayout.blockBytesMax, vector)
    }

    /// The same with blocks of another size, for tests. The file doesn't say which.
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

    /// The one collection.
    public var collections: [String]? { [collection] }

    /// The table of blocks, and that of the rows' places in them.
    public func tableNames(registeredName: String) -> [String] {
        ["vectorIndex_\(registeredName)", "vectorPlaces_\(registeredName)"]
    }

    /// Returns the index of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseVectorIndexConnection<Object> {
        YapDatabaseVectorIndexConnection(self, tableNames(registeredName: registeredName))
    }

    /// Throws the mistake in the description.
    func check() throws {
        guard !(1...Self.dimensionsMax).contains(dimensions) else { return }
        throw YapDatabaseError(
            .invalidExtension,
            "\(name): the index has \(dimensions) dimensions: it must have 1 to \(Self.dimensionsMax)",
            collection: collection)
    }

    /// Returns the vector of an object as the index stores it; nil if the object isn't in the index.
    func vector(of object: Object, _ key: String) throws -> [Float]? {
        try vector(object).map { try prepared($0, key) }
    }

    /// Returns a vector as the index compares it.
    ///
    /// - Parameter key: Key of the object that has it; nil for a query's.
    func prepared(_ vector: [Float], _ key: String? = nil) throws -> [Float] {
        if let mistake = distance.mistake(in: vector, dimensions: dimensions) {
            throw YapDatabaseError(
                .invalidVector, "the index \"\(name)\": \(mistake)", collection: collection, key: key)
        }
        return distance.prepared(vector)
    }
}

/// An index at one SQLite handle. It keeps only the texts of its statements.
public final class YapDatabaseVectorIndexConnection<Object: Sendable>: YapDatabaseExtensionConnection {
    let index: YapDatabaseVectorIndex<Object>
    let sql: VectorSQL
    let layout: VectorLayout

    init(_ index: YapDatabaseVectorIndex<Object>, _ tables: [String]) {
        self.index = index
        sql = VectorSQL(blocks: tables[0], places: tables[1])
        layout = VectorLayout(dimensions: index.dimensions, blockBytesMax: index.blockBytesMax)
    }

    /// Returns the index in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseVectorIndexTransaction<Object> {
        YapDatabaseVectorIndexTransaction(self, transaction, tables)
    }

    /// Nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Nothing is cached.
    public func dropCaches() {}
}

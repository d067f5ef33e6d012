import SQLite

@testable import Yap

/// A page with a vector.
struct Page: Codable, Sendable, Equatable {
    var vector: [Float]?
    var title = ""
}

typealias PageIndex = YapDatabaseVectorIndex<Page>

/// A database of pages, with an index over their vectors.
struct VectorStage {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let index: PageIndex

    /// An index with few vectors in each block, so that few vectors take several blocks.
    static func index(
        _ name: String = "vectors", version: String = "1", dimensions: Int = 2,
        distance: YapDatabaseVectorDistance = .squaredEuclidean, slotsCount: Int = 3
    ) -> PageIndex {
        PageIndex(
            name, of: Page.self, in: "pages", version: version, dimensions: dimensions, distance: distance,
            blockBytesMax: VectorLayout.headBytes + slotsCount * (VectorLayout.rowIDBytes + dimensions * 4)
        ) { $0.vector }
    }

    static func open(_ folder: TestFolder) throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.durability = .normal
        return try folder.open(options) { $0.register(Page.self, inCollection: "pages") }
    }

    init(_ index: PageIndex = Self.index()) throws {
        self.index = index
        folder = try TestFolder()
        database = try Self.open(folder)
        connection = database.newConnection()
        try database.blocking.register(index)
    }

    func set(_ vectors: KeyValuePairs<String, [Float]?>) throws {
        try connection.blocking.readWrite { transaction in
            for (key, vector) in vectors { try transaction.setVector(vector, key) }
        }
    }

    func remove(_ keys: String...) throws {
        try connection.blocking.readWrite { try $0.removeObjects(forKeys: keys, inCollection: "pages") }
    }

    /// The keys of the nearest rows.
    func nearest(_ vector: [Float], _ limit: Int = 100, among keys: [String]? = nil) throws -> [String] {
        try read { try $0.keys(nearest: vector, limit: limit, among: keys).map(\.key) }
    }

    func read<Result>(_ body: (YapDatabaseVectorIndexTransaction<Page>) throws -> Result) throws -> Result {
        try connection.blocking.read { try body($0[index]) }
    }

    /// Runs SQL behind the index's back.
    func execute(_ sql: String) throws {
        try connection.blocking.readWrite { try $0.sqlite.execute(sql) }
    }
}

extension YapDatabaseReadWriteTransaction {
    func setVector(_ vector: [Float]?, _ key: String, title: String = "") throws {
        try setObject(Page(vector: vector, title: title), forKey: key, inCollection: "pages")
    }
}

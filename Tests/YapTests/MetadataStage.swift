@testable import Yap

/// A database with books, whose metadata says how they are read.
struct MetadataStage {
    struct Book: Codable, Sendable, Equatable {
        var title: String
        var pages = 100
    }

    struct Reading: Codable, Sendable, Equatable {
        var rating = 0
        var lender: String?
        var tags: [String] = []
        var page: Double?
        var lastPage = 100
    }

    typealias Index = YapDatabaseSecondaryIndex<Book>
    typealias Write = YapDatabaseReadWriteTransaction

    static let collection = "books"

    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    /// A line for each object that is decoded.
    let decoded = Log()

    init() throws {
        folder = try TestFolder()
        database = try Self.open(folder, decoded)
        connection = database.newConnection()
    }

    static func open(_ folder: TestFolder, _ decoded: Log = Log()) throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.durability = .normal
        return try folder.open(options) {
            let serializer = YapDatabaseSerializer<Book>.cbor().decoding { book in
                decoded.add(book.title)
                return book
            }
            $0.register(Book.self, serializer: serializer, inCollection: collection)
            $0.registerMetadata(Reading.self, serializer: .cbor(), inCollection: collection)
            $0.register(Book.self, inCollection: "plain")
        }
    }

    static func index(version: String = "1") -> Index {
        Index("byRating", of: Book.self, in: collection, version: version) {
            $0.column(\.title)
            $0.column(metadata: \Reading.rating)
            $0.column(metadata: \Reading.lender)
            $0.index(over: [\Book.title, \Reading.rating])
        }
    }

    /// Four books, of which "d" has no metadata.
    func setFour() throws {
        try connection.blocking.readWrite { transaction in
            try transaction.set(Book(title: "Apples"), Reading(rating: 3, lender: "Ann"), "a")
            try transaction.set(Book(title: "Bees"), Reading(rating: 5), "b")
            try transaction.set(Book(title: "Cats"), Reading(rating: 1, lender: "Carl"), "c")
            try transaction.set(Book(title: "Dogs"), nil, "d")
        }
    }

    func isObserved(
        _ read: (YapDatabaseReadTransaction) throws -> Void, whenWriting write: (Write) throws -> Void
    ) throws -> Bool {
        try connection.isObserved(read, whenWriting: write)
    }
}

extension YapDatabaseReadWriteTransaction {
    func set(_ book: MetadataStage.Book, _ reading: MetadataStage.Reading?, _ key: String) throws {
        if let reading {
            try setObject(book, metadata: reading, forKey: key, inCollection: MetadataStage.collection)
        } else {
            try setObject(book, forKey: key, inCollection: MetadataStage.collection)
        }
    }

    func setReading(_ reading: MetadataStage.Reading?, _ key: String) throws {
        try replaceMetadata(reading, forKey: key, inCollection: MetadataStage.collection)
    }

    func replaceBook(_ title: String, _ key: String) throws {
        try replaceObject(
            MetadataStage.Book(title: title), forKey: key, inCollection: MetadataStage.collection)
    }
}

import Testing

@testable import Yap

/// A database through each kind of write, read by each call on several connections after each.
struct CoreWalkTests {
    private struct Row: Equatable {
        var title: String
        var stamp: Int64?
    }

    private let folder: TestFolder
    private let database: YapDatabase
    private let connections: [YapDatabaseConnection]

    init() throws {
        folder = try TestFolder()
        database = try folder.open { $0.register(Todo.self, metadata: Stamp.self, inCollection: "archive") }
        connections = [database.newConnection(), database.newConnection()]
    }

    private func check(
        _ expected: [String: [String: Row]], _ transaction: YapDatabaseReadTransaction,
        _ sourceLocation: SourceLocation
    ) throws {
        let rows = expected.filter { !$0.value.isEmpty }
        #expect(try transaction.allCollections() == rows.keys.sorted(), sourceLocation: sourceLocation)
        #expect(try transaction.numberOfCollections() == rows.count, sourceLocation: sourceLocation)
        #expect(
            try transaction.numberOfKeysInAllCollections() == rows.values.map(\.count).reduce(0, +),
            sourceLocation: sourceLocation)
        for collection in ["todos", "archive", "none"] {
            let part = rows[collection] ?? [:]
            #expect(try transaction.numberOfKeys(inCollection: collection) == part.count)
            #expect(try transaction.allKeys(inCollection: collection) == part.keys.sorted())
            #expect(try Array(transaction.keys(inCollection: collection)) == part.keys.sorted())
            guard collection != "none" else { continue }
            for key in ["1", "2", "3", "none"] {
                #expect(try read(key, collection, transaction) == part[key], sourceLocation: sourceLocation)
            }
            let all = try transaction.rows(Todo.self, metadata: Stamp.self, inCollection: collection)
            #expect(
                all.map { Row(title: $0.object.title, stamp: $0.metadata?.milliseconds) }
                    == part.sorted { $0.key < $1.key }.map(\.value), sourceLocation: sourceLocation)
        }
    }

    /// One row, by each call that reads one.
    private func read(
        _ key: String, _ collection: String, _ transaction: YapDatabaseReadTransaction
    ) throws -> Row? {
        let object = try transaction.object(Todo.self, forKey: key, inCollection: collection)
        let metadata = try transaction.metadata(Stamp.self, forKey: key, inCollection: collection)
        let row = try transaction.row(Todo.self, metadata: Stamp.self, forKey: key, inCollection: collection)
        #expect(row?.object == object && row?.metadata == metadata)
        #expect(try transaction.hasObject(forKey: key, inCollection: collection) == (object != nil))
        let bytes = try transaction.serializedObject(forKey: key, inCollection: collection)
        #expect((bytes == nil) == (object == nil))
        let metadataBytes = try transaction.serializedMetadata(forKey: key, inCollection: collection)
        #expect((metadataBytes == nil) == (metadata == nil))
        return object.map { Row(title: $0.title, stamp: metadata?.milliseconds) }
    }

    /// Writes, and reads in the same transaction, on both connections, and from disk.
    private func step(
        _ expected: [String: [String: Row]], _ sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (YapDatabaseReadWriteTransaction) throws -> Void
    ) throws {
        try connections[0].blocking.readWrite { transaction in
            try body(transaction)
            try check(expected, transaction, sourceLocation)
        }
        for _ in 0..<2 {
            for connection in connections {
                try connection.blocking.read { try check(expected, $0, sourceLocation) }
                try connection.blocking.flushMemory()
            }
        }
        try database.blocking.flushMemory()
        try connections[0].blocking.readWrite { try check(expected, $0, sourceLocation) }
    }

    @Test func eachCallReadsTheSameOnTwoConnectionsAndFromDisk() throws {
        try step([:]) { _ in }
        try step(["todos": ["1": Row(title: "a"), "2": Row(title: "b", stamp: 2)]]) { transaction in
            try transaction.set("a", "1")
            try transaction.setObject(
                Todo(title: "b"), metadata: Stamp(milliseconds: 2), forKey: "2", inCollection: "todos")
        }
        let archived = ["1": Row(title: "old", stamp: 9)]
        try step([
            "todos": ["1": Row(title: "a"), "2": Row(title: "c", stamp: 2)], "archive": archived,
        ]) { transaction in
            #expect(try transaction.replaceObject(Todo(title: "c"), forKey: "2", inCollection: "todos"))
            try transaction.setObject(
                Todo(title: "old"), metadata: Stamp(milliseconds: 9), forKey: "1", inCollection: "archive")
        }
        try step([
            "todos": ["1": Row(title: "a", stamp: 1), "2": Row(title: "c")], "archive": archived,
        ]) { transaction in
            try transaction.replaceMetadata(Stamp(milliseconds: 1), forKey: "1", inCollection: "todos")
            try transaction.replaceMetadata(Stamp?.none, forKey: "2", inCollection: "todos")
            try transaction.touchRow(forKey: "1", inCollection: "todos")
        }
        // Setting an object anew clears its metadata.
        try step([
            "todos": ["1": Row(title: "d"), "2": Row(title: "c"), "3": Row(title: "e", stamp: 3)],
            "archive": archived,
        ]) { transaction in
            try transaction.set("d", "1")
            try transaction.setObject(
                Todo(title: "e"), metadata: Stamp(milliseconds: 3), forKey: "3", inCollection: "todos")
        }
        try step(["todos": ["2": Row(title: "c"), "3": Row(title: "e", stamp: 3)], "archive": archived]) {
            try $0.removeObject(forKey: "1", inCollection: "todos")
        }
        try step(["archive": archived]) {
            try $0.removeObjects(forKeys: ["2", "none", "3"], inCollection: "todos")
        }
        try step(["todos": ["1": Row(title: "f")]]) { transaction in
            try transaction.set("f", "1")
            try transaction.removeAllObjects(inCollection: "archive")
        }
        try step([:]) { try $0.removeAllObjectsInAllCollections() }
    }

    // MARK: Memory maps

    @Test(arguments: [0, 25 << 20] as [Int64])
    func aReaderThatReadsFirstAfterAWriteSeesItsOwnSnapshot(memoryMapBytes: Int64) throws {
        let folder = try TestFolder()
        var options = YapDatabaseOptions()
        options.memoryMapBytes = memoryMapBytes
        let database = try folder.open(options)
        let (writer, reader) = (database.newConnection(), database.newConnection())
        for count in 0..<3 {
            try reader.blocking.read { transaction in
                try writer.blocking.readWrite { try $0.set("t", "\(count)") }
                #expect(try writer.blocking.read { try $0.numberOfCollections() } == 1)
                #expect(try writer.blocking.read { try $0.numberOfKeys(inCollection: "todos") } == count + 1)
                #expect(try transaction.numberOfCollections() == min(count, 1))
                #expect(try transaction.numberOfKeys(inCollection: "todos") == count)
            }
        }
    }

    // MARK: Backups

    private func setTenThousand() throws {
        try connections[0].blocking.readWrite { transaction in
            for number in 0..<10_000 {
                try transaction.setObject(
                    String(repeating: "x", count: 100), forKey: "\(number)", inCollection: "notes")
            }
        }
    }

    private func copiedCount(_ copy: TestFolder) throws -> Int {
        try copy.open().newConnection().blocking.read { transaction in
            let texts = try transaction.objects(String.self, inCollection: "notes").map(\.object.count)
            return texts.filter { $0 == 100 }.count
        }
    }

    /// Shares done, which begin anew at no point and end with the whole.
    private func isProgress(_ shares: [Double]) -> Bool {
        shares.last == 1 && shares == shares.sorted() && shares.allSatisfy { 0...1 ~= $0 }
    }

    @Test func aBackupHasAllRowsAndReportsItsProgress() throws {
        try setTenThousand()
        let copy = try TestFolder()
        var shares: [Double] = []
        try database.blocking.backup(to: copy.file) { shares.append($0) }
        #expect(try copiedCount(copy) == 10_000)
        #expect(isProgress(shares), "\(shares)")
    }

    @Test func anAsynchronousBackupHasAllRowsAndReportsItsProgress() async throws {
        try setTenThousand()
        let copy = try TestFolder()
        let log = Log()
        try await database.backup(to: copy.file) { log.add("\($0)") }
        #expect(try copiedCount(copy) == 10_000)
        #expect(isProgress(log.lines.compactMap(Double.init)), "\(log.lines)")
    }
}

import System
import Testing

@testable import Yap

struct CacheTests {
    /// Random transactions on three connections and a second process; after each, every connection's caches
    /// are compared with what a new connection reads from disk.
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func cachesEqualTheDiskAfterAnyOperations(seed: UInt64) throws {
        let folder = try TestFolder()
        var options = YapDatabaseOptions()
        options.durability = .normal
        options.cachedRowsPerCollectionMax = seed % 2 == 0 ? 4 : 100
        options.changedKeysPerCommitMax = seed % 3 == 0 ? 3 : 100
        options.random = SeededRandomSource(seed: seed)
        let database = try folder.open(options)
        let second = try folder.open(options)
        let connections = (0..<3).map { _ in database.newConnection() } + [second.newConnection()]
        let random = SeededRandomSource(seed: seed)
        for step in 0..<150 {
            let connection = connections[random.next(in: 0..<connections.count)]
            let mustFail = random.next(in: 0..<4) == 0
            do {
                try connection.blocking.readWrite { transaction in
                    for _ in 0..<random.next(in: 1..<6) { try change(transaction, random) }
                    if mustFail { throw Refused() }
                }
            } catch is Refused {}
            let disk = try contents(database.newConnection())
            for connection in connections {
                #expect(try contents(connection) == disk, "seed \(seed), step \(step)")
            }
            try database.newConnection().blocking.readWrite { transaction throws in
                #expect(try contents(transaction) == disk, "the writer, seed \(seed), step \(step)")
            }
        }
    }

    private func change(_ transaction: YapDatabaseReadWriteTransaction, _ random: SeededRandomSource) throws {
        let key = "\(random.next(in: 0..<8))"
        let number = random.next(in: 0..<1000)
        switch random.next(in: 0..<20) {
        case 0..<6: try transaction.set("\(number)", key)
        case 6..<9:
            try transaction.setObject(
                Todo(title: "\(number)"), metadata: Stamp(milliseconds: Int64(number)), forKey: key,
                inCollection: "todos")
        case 9..<11:
            try transaction.replaceObject(Todo(title: "r\(number)"), forKey: key, inCollection: "todos")
        case 11..<13:
            try transaction.replaceMetadata(
                Stamp(milliseconds: Int64(number)), forKey: key, inCollection: "todos")
        case 13: try transaction.replaceMetadata(Stamp?.none, forKey: key, inCollection: "todos")
        case 14..<17: try transaction.removeObject(forKey: key, inCollection: "todos")
        case 17: try transaction.removeAllObjects(inCollection: "todos")
        case 18: try transaction.removeAllObjectsInAllCollections()
        default: _ = try contents(transaction)
        }
    }

    private func contents(_ connection: YapDatabaseConnection) throws -> [String] {
        try connection.blocking.read { try contents($0) }
    }

    private func contents(_ transaction: YapDatabaseReadTransaction) throws -> [String] {
        try (0..<8).map { number in
            let row = try transaction.row(
                Todo.self, metadata: Stamp.self, forKey: "\(number)", inCollection: "todos")
            let rowID = try transaction.rowID(forKey: "\(number)", inCollection: "todos")
            return "\(rowID ?? 0) \(row?.object.title ?? "-") \(row?.metadata?.milliseconds ?? -1)"
        }
    }

    @Test func aCachedValueIsNotDecodedAgainAndIsSharedOnCommit() throws {
        let log = Log()
        let folder = try TestFolder()
        let database = try folder.open {
            $0.register(
                Int.self,
                serializer: YapDatabaseSerializer(
                    encode: { [UInt8($0)] },
                    decode: { bytes in
                        log.add("decoded \(bytes[0])")
                        return Int(bytes[0])
                    }), inCollection: "numbers")
        }
        let connection = database.newConnection()
        func read() throws -> Int? {
            try connection.blocking.read { try $0.object(Int.self, forKey: "k", inCollection: "numbers") }
        }
        try connection.blocking.readWrite { try $0.setObject(1, forKey: "k", inCollection: "numbers") }
        #expect(try read() == 1)
        #expect(try read() == 1)
        #expect(log.take() == ["decoded 1"])
        // The value of another connection's commit is taken over, not read again.
        try database.newConnection().blocking.readWrite {
            try $0.setObject(2, forKey: "k", inCollection: "numbers")
        }
        #expect(try read() == 2)
        #expect(log.take() == [])
        // After more commits than are kept, the cache is dropped.
        let commitsCount = 2 * CommitLog.recordsMax + 10
        for number in 0..<commitsCount {
            try connection.blocking.readWrite {
                try $0.setObject(number % 7, forKey: "k", inCollection: "numbers")
            }
        }
        #expect(try read() == (commitsCount - 1) % 7)
        #expect(log.take().count == 1)
    }

    @Test func rowsThatAFailedTransactionLeftAloneStayCached() throws {
        let log = Log()
        let folder = try TestFolder()
        let database = try folder.open {
            for collection in ["numbers", "others"] {
                $0.register(
                    Int.self,
                    serializer: YapDatabaseSerializer(
                        encode: { [UInt8($0)] },
                        decode: { bytes in
                            log.add("\(bytes[0])")
                            return Int(bytes[0])
                        }), inCollection: collection)
            }
        }
        let connection = database.newConnection()
        func set(_ number: Int, _ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
            try transaction.setObject(number, forKey: key, inCollection: "numbers")
        }
        func read(_ transaction: YapDatabaseReadTransaction) throws -> [Int?] {
            let others = try transaction.object(Int.self, forKey: "a", inCollection: "others")
            return try ["a", "b", "c"].map {
                try transaction.object(Int.self, forKey: $0, inCollection: "numbers")
            } + [others]
        }
        func readInWriter() throws -> [Int?] { try connection.blocking.readWrite { try read($0) } }
        try connection.blocking.readWrite { transaction in
            for (number, key) in [(1, "a"), (2, "b"), (3, "c")] { try set(number, key, transaction) }
            try transaction.setObject(4, forKey: "a", inCollection: "others")
        }
        let values = [1, 2, 3, 4]
        #expect(try readInWriter() == values)
        _ = log.take()
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction throws in
                try set(9, "b", transaction)
                throw Refused()
            }
        }
        #expect(try readInWriter() == values)
        #expect(log.take() == ["2"])
        try connection.blocking.readWrite { transaction throws in
            try? transaction.savepoint { () throws in
                try set(9, "c", transaction)
                throw Refused()
            }
            #expect(try read(transaction) == values)
            #expect(log.take() == ["3"])
            try? transaction.savepoint { () throws in
                try transaction.removeAllObjects(inCollection: "numbers")
                throw Refused()
            }
            #expect(try read(transaction) == values)
            #expect(log.take() == ["1", "2", "3"])
        }
    }

    @Test func keysThatLookAlikeAreTwoRowsInTheCachesToo() throws {
        let folder = try TestFolder()
        let connection = try folder.open().newConnection()
        let keys = ["caf\u{e9}", "cafe\u{301}"]
        func titles() throws -> [String?] {
            try connection.blocking.read { transaction in try keys.map { try transaction.todo($0)?.title } }
        }
        try connection.blocking.readWrite { transaction in
            for key in keys { try transaction.set(key, key) }
        }
        #expect(try titles().map { $0.map { Array($0.utf8) } } == keys.map { Array($0.utf8) })
        try connection.blocking.readWrite { transaction in
            for key in keys { _ = try transaction.todo(key) }
            try transaction.set("new", keys[1])
        }
        #expect(try titles()[1] == "new")
        #expect(try connection.todoFromDisk(keys[0])?.title == keys[0])
        #expect(try connection.todoFromDisk(keys[1])?.title == "new")
        try connection.blocking.readWrite { try $0.removeObjects(forKeys: keys, inCollection: "todos") }
        #expect(try titles() == [nil, nil])
        #expect(try connection.blocking.read { try $0.numberOfKeysInAllCollections() } == 0)
        #expect(
            YapCollectionKey(collection: "a", key: keys[0]) != YapCollectionKey(collection: "a", key: keys[1])
        )
    }

    @Test func aCacheKeepsItsBoundAndWhatIsUsed() {
        var cache = RowCache(rowsMax: 4)
        for number in 0..<4 {
            cache.insert("\(number)", rowID: Int64(number)) { $0.object = TypedValue(number) }
        }
        _ = cache.object("0")
        for number in 4..<7 {
            cache.insert("\(number)", rowID: Int64(number)) { $0.object = TypedValue(number) }
        }
        #expect(cache.object("0") != nil)
        #expect((0..<7).filter { cache.entry("\($0)") != nil }.count == 4)
        cache.remove("0")
        cache.remove("none")
        #expect(cache.object("0") == nil && cache.entry("6")?.rowID == 6)
        var none = RowCache(rowsMax: 0)
        none.insert("a", rowID: 1) { $0.object = TypedValue(1) }
        #expect(none.isEmpty)
    }
}

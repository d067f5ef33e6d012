import SQLite
import Testing

@testable import Yap

struct IterationTests {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
        try connection.blocking.readWrite { transaction throws in
            for number in 0..<5 {
                try transaction.setObject(
                    Todo(title: "t\(number)"), metadata: Stamp(milliseconds: Int64(number)),
                    forKey: "\(number)",
                    inCollection: "todos")
            }
        }
    }

    @Test func keysObjectsAndRowsAreIteratedInOrder() throws {
        try connection.blocking.read { transaction throws in
            #expect(try Array(transaction.keys(inCollection: "todos")) == ["0", "1", "2", "3", "4"])
            let objects = try transaction.objects(Todo.self, inCollection: "todos") { $0 > "2" }
            #expect(objects.map(\.object.title) == ["t3", "t4"])
            let rows = try transaction.rows(Todo.self, metadata: Stamp.self, inCollection: "todos")
            #expect(rows.map { $0.metadata?.milliseconds } == [0, 1, 2, 3, 4])
            let metadata = try transaction.metadata(Stamp.self, inCollection: "todos") { $0 < "2" }
            #expect(metadata.map { $0.metadata?.milliseconds } == [0, 1])
            // Each iteration of a sequence begins anew, and iterations may be nested.
            var pairs = 0
            for _ in rows { for _ in rows { pairs += 1 } }
            #expect(pairs == 25)
            let identities = try Array(transaction.identities(inCollection: "todos"))
            #expect(identities.map(\.key) == ["0", "1", "2", "3", "4"])
            #expect(try transaction.identity(ofRowID: identities[2].rowID) == identities[2])
        }
    }

    @Test func whatIsNotAskedForIsNotDecoded() throws {
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
        try connection.blocking.readWrite {
            for number in 0..<9 { try $0.setObject(number, forKey: "\(number)", inCollection: "numbers") }
        }
        try connection.blocking.read { transaction throws in
            for row in try transaction.objects(Int.self, inCollection: "numbers", where: { $0 != "1" }) {
                if row.key == "3" { break }
            }
        }
        #expect(log.lines == ["decoded 0", "decoded 2", "decoded 3"])
    }

    @Test func addingOrRemovingRowsWhileIteratingFailsTheTransaction() throws {
        let changes: [(YapDatabaseReadWriteTransaction) throws -> Void] = [
            { try $0.set("new", "9") },
            { try $0.removeObject(forKey: "4", inCollection: "todos") },
            { try $0.removeAllObjects(inCollection: "todos") },
            { try $0.removeAllObjectsInAllCollections() },
        ]
        for change in changes {
            var seen = 0
            #expect(
                code {
                    try connection.blocking.readWrite { transaction throws in
                        for _ in try transaction.keys(inCollection: "todos") {
                            seen += 1
                            try change(transaction)
                        }
                    }
                } == .mutatedDuringIteration)
            #expect(seen == 1)
            #expect(try connection.blocking.read { try $0.allKeys(inCollection: "todos") }.count == 5)
        }
    }

    @Test func changingRowsWhileIteratingAndChangingOtherCollectionsIsAllowed() throws {
        try connection.blocking.readWrite { transaction throws in
            for row in try transaction.objects(Todo.self, inCollection: "todos") {
                try transaction.set(row.object.title + "!", row.key)
                try transaction.touchRow(forKey: row.key, inCollection: "todos")
                try transaction.setObject("note", forKey: row.key, inCollection: "notes")
            }
        }
        try connection.blocking.read { transaction throws in
            #expect(
                try transaction.objects(Todo.self, inCollection: "todos").map(\.object.title).last == "t4!")
            #expect(try transaction.numberOfKeys(inCollection: "notes") == 5)
        }
    }

    @Test func stoppingEarlyAndThenAddingIsAllowed() throws {
        try connection.blocking.readWrite { transaction throws in
            for _ in try transaction.keys(inCollection: "todos") {
                try transaction.set("new", "9")
                break
            }
        }
        #expect(try connection.todoFromDisk("9") != nil)
    }

    @Test func anUnreadableRowEndsTheIterationAndTheEnclosingCallThrows() throws {
        try connection.blocking.readWrite {
            try $0.sqlite.execute("UPDATE database2 SET data = x'ff' WHERE key = '2'")
        }
        var titles: [String] = []
        let error = try #require(throws: YapDatabaseError.self) {
            try database.newConnection().blocking.read { transaction throws in
                titles = try transaction.objects(Todo.self, inCollection: "todos").map(\.object.title)
            }
        }
        #expect(titles == ["t0", "t1"])
        #expect(error.code == .decoding && error.key == "2")
    }
}

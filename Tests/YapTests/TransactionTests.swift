import Testing

@testable import Yap

struct TransactionTests {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
    }

    @Test func whatIsSetIsReadByEveryConnectionAndFromDisk() throws {
        let other = database.newConnection()
        try connection.blocking.readWrite { try $0.set("eggs", "1") }
        #expect(try connection.blocking.read { try $0.todo("1") } == Todo(title: "eggs"))
        #expect(try other.blocking.read { try $0.todo("1") } == Todo(title: "eggs"))
        #expect(try connection.todoFromDisk("1") == Todo(title: "eggs"))
        #expect(try other.blocking.read { try $0.todo("2") } == nil)
        #expect(database.snapshot == 1)
    }

    @Test func asynchronousFormsReadAndWrite() async throws {
        try await connection.readWrite { try $0.set("milk", "1") }
        let todo = try await connection.read { try $0.todo("1") }
        #expect(todo == Todo(title: "milk"))
    }

    @Test func aTransactionReadsItsOwnWrites() throws {
        try connection.blocking.readWrite { transaction throws in
            try transaction.set("eggs", "1")
            #expect(try transaction.todo("1")?.title == "eggs")
            try transaction.set("milk", "1")
            #expect(try transaction.todo("1")?.title == "milk")
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            #expect(try transaction.todo("1") == nil)
            #expect(try !transaction.hasObject(forKey: "1", inCollection: "todos"))
        }
    }

    @Test func settingAnObjectClearsTheMetadataAndReplacingKeepsIt() throws {
        func metadata() throws -> Stamp? {
            let read = try connection.blocking.read {
                try $0.metadata(Stamp.self, forKey: "1", inCollection: "todos")
            }
            let disk = try database.newConnection().blocking.read {
                try $0.metadata(Stamp.self, forKey: "1", inCollection: "todos")
            }
            #expect(read == disk)
            return read
        }
        try connection.blocking.readWrite {
            try $0.setObject(
                Todo(title: "a"), metadata: Stamp(milliseconds: 5), forKey: "1", inCollection: "todos")
        }
        #expect(try metadata() == Stamp(milliseconds: 5))
        try connection.blocking.readWrite { transaction throws in
            #expect(try transaction.replaceObject(Todo(title: "b"), forKey: "1", inCollection: "todos"))
        }
        #expect(try metadata() == Stamp(milliseconds: 5))
        try connection.blocking.readWrite { transaction throws in
            #expect(
                try transaction.replaceMetadata(Stamp(milliseconds: 6), forKey: "1", inCollection: "todos"))
        }
        #expect(try metadata() == Stamp(milliseconds: 6))
        let row = try connection.blocking.read {
            try $0.row(Todo.self, metadata: Stamp.self, forKey: "1", inCollection: "todos")
        }
        #expect(row?.object.title == "b" && row?.metadata == Stamp(milliseconds: 6))
        try connection.blocking.readWrite { try $0.set("c", "1") }
        #expect(try metadata() == nil)
        try connection.blocking.readWrite {
            try $0.replaceMetadata(Stamp(milliseconds: 7), forKey: "1", inCollection: "todos")
            try $0.replaceMetadata(Stamp?.none, forKey: "1", inCollection: "todos")
        }
        #expect(try metadata() == nil)
    }

    @Test func replacingAndTouchingAMissingRowDoNothing() throws {
        try connection.blocking.readWrite { transaction throws in
            #expect(try !transaction.replaceObject(Todo(title: "b"), forKey: "1", inCollection: "todos"))
            #expect(
                try !transaction.replaceMetadata(Stamp(milliseconds: 1), forKey: "1", inCollection: "todos"))
            try transaction.touchObject(forKey: "1", inCollection: "todos")
        }
        #expect(database.snapshot == 0)
    }

    @Test func rowsAreCountedAndListedInTheOrderOfTheirKeys() throws {
        try connection.blocking.readWrite {
            for key in ["b", "ä", "a", "B"] { try $0.set(key, key) }
            try $0.setObject("x", forKey: "b", inCollection: "notes")
        }
        try connection.blocking.read { transaction throws in
            #expect(try transaction.allKeys(inCollection: "todos") == ["B", "a", "b", "ä"])
            #expect(try transaction.numberOfKeys(inCollection: "todos") == 4)
            #expect(try transaction.numberOfKeysInAllCollections() == 5)
            #expect(try transaction.allCollections() == ["notes", "todos"])
            #expect(try transaction.allCollections(containingKey: "b") == ["notes", "todos"])
            #expect(try transaction.allCollections(containingKey: "a") == ["todos"])
            #expect(try transaction.numberOfCollections() == 2)
            #expect(try transaction.numberOfKeys(inCollection: "none") == 0)
        }
    }

    @Test func rowsAreRemovedOneManyACollectionAndAll() throws {
        try connection.blocking.readWrite { transaction throws in
            for number in 0..<1200 { try transaction.set("t", "\(number)") }
            try transaction.setObject("x", forKey: "n", inCollection: "notes")
        }
        func counts() throws -> [Int] {
            try connection.blocking.read {
                [try $0.numberOfKeys(inCollection: "todos"), try $0.numberOfKeys(inCollection: "notes")]
            }
        }
        try connection.blocking.readWrite { try $0.removeObject(forKey: "0", inCollection: "todos") }
        #expect(try counts() == [1199, 1])
        try connection.blocking.readWrite {
            try $0.removeObjects(forKeys: ["0", "1", "2", "1", "none"], inCollection: "todos")
        }
        #expect(try counts() == [1197, 1])
        try connection.blocking.readWrite {
            try $0.removeObjects(forKeys: (3..<1100).map(String.init), inCollection: "todos")
        }
        #expect(try counts() == [100, 1])
        try connection.blocking.readWrite { try $0.removeAllObjects(inCollection: "todos") }
        #expect(try counts() == [0, 1])
        try connection.blocking.readWrite { try $0.removeAllObjectsInAllCollections() }
        #expect(try counts() == [0, 0])
    }

    @Test func serializedObjectsAreTheBytesOnDisk() throws {
        let bytes = try YapDatabaseSerializer<Todo>.cbor().encode(Todo(title: "eggs"))
        try connection.blocking.readWrite { transaction throws in
            try transaction.setSerializedObject(bytes, forKey: "1", inCollection: "todos")
            #expect(try transaction.todo("1")?.title == "eggs")
            #expect(try transaction.serializedObject(forKey: "1", inCollection: "todos") == bytes)
            #expect(try transaction.serializedMetadata(forKey: "1", inCollection: "todos") == nil)
            let row = try transaction.serializedRow(forKey: "1", inCollection: "todos")
            #expect(row?.object == bytes && row?.metadata == nil)
            #expect(try transaction.serializedRow(forKey: "2", inCollection: "todos") == nil)
        }
    }

    @Test func objectAndMetadataAreReplacedByBytesOneByOne() throws {
        let object = try YapDatabaseSerializer<Todo>.cbor().encode(Todo(title: "milk"))
        let metadata = try YapDatabaseSerializer<Stamp>.cbor().encode(Stamp(milliseconds: 2))
        func row(_ connection: YapDatabaseConnection) throws -> (Todo?, Stamp?) {
            let row = try connection.blocking.read {
                try $0.row(Todo.self, metadata: Stamp.self, forKey: "1", inCollection: "todos")
            }
            return (row?.object, row?.metadata)
        }
        try connection.blocking.readWrite { transaction throws in
            // Without a row nothing is stored.
            #expect(try !transaction.replaceSerializedObject(object, forKey: "1", inCollection: "todos"))
            #expect(try !transaction.replaceSerializedMetadata(metadata, forKey: "1", inCollection: "todos"))
            try transaction.setObject(
                Todo(title: "eggs"), metadata: Stamp(milliseconds: 1), forKey: "1", inCollection: "todos")
        }
        let changed = try database.commit {
            try $0.replaceSerializedObject(object, forKey: "1", inCollection: "todos")
        }
        #expect(changed.hasObjectChange(forKey: "1", inCollection: "todos"))
        #expect(!changed.hasMetadataChange(forKey: "1", inCollection: "todos"))
        #expect(try row(connection) == (Todo(title: "milk"), Stamp(milliseconds: 1)))
        try connection.blocking.readWrite { transaction throws in
            #expect(try transaction.replaceSerializedMetadata(metadata, forKey: "1", inCollection: "todos"))
            let stored = try transaction.serializedRow(forKey: "1", inCollection: "todos")
            #expect(stored?.object == object && stored?.metadata == metadata)
            #expect(
                code {
                    try transaction.replaceSerializedObject([0xFF], forKey: "1", inCollection: "todos")
                } == .decoding)
            #expect(
                code {
                    try transaction.replaceSerializedMetadata([0xFF], forKey: "1", inCollection: "todos")
                } == .decoding)
        }
        #expect(try row(connection) == (Todo(title: "milk"), Stamp(milliseconds: 2)))
        #expect(try row(database.newConnection()) == (Todo(title: "milk"), Stamp(milliseconds: 2)))
        try connection.blocking.readWrite {
            _ = try $0.replaceSerializedMetadata(nil, forKey: "1", inCollection: "todos")
        }
        #expect(try row(connection) == (Todo(title: "milk"), nil))
        #expect(try row(database.newConnection()) == (Todo(title: "milk"), nil))
    }

    @Test func metadataThatIsNilIsCleared() throws {
        for stamp in [Stamp(milliseconds: 1), nil] {
            try connection.blocking.readWrite {
                try $0.setObject(Todo(title: "a"), metadata: stamp, forKey: "1", inCollection: "todos")
            }
            let stored = try connection.blocking.read {
                try $0.metadata(Stamp.self, forKey: "1", inCollection: "todos")
            }
            #expect(stored == stamp)
        }
    }

    @Test func misuseIsAThrownErrorThatSaysWhereAndWhat() throws {
        try connection.blocking.readWrite { transaction throws in
            try transaction.set("eggs", "1")
            #expect(
                code { try transaction.setObject(7, forKey: "1", inCollection: "todos") } == .typeMismatch)
            #expect(
                code { try transaction.setObject(7, forKey: "1", inCollection: "x") } == .missingRegistration)
            #expect(
                code { _ = try transaction.object(Int.self, forKey: "1", inCollection: "todos") }
                    == .typeMismatch)
            #expect(
                code { _ = try transaction.metadata(forKey: "1", inCollection: "notes") }
                    == .missingRegistration)
            #expect(
                code { try transaction.setSerializedObject([0xFF], forKey: "2", inCollection: "todos") }
                    == .decoding)
        }
        let error = try #require(throws: YapDatabaseError.self) {
            try connection.blocking.readWrite { try $0.setObject(7, forKey: "1", inCollection: "todos") }
        }
        #expect(error.collection == "todos" && error.key == "1")
        #expect(error.description.contains("registered is Todo"))
        // The erased form takes a value of the registered type.
        try connection.blocking.readWrite { transaction throws in
            let value: any Sendable = Todo(title: "milk")
            try transaction.setObject(value, forKey: "1", inCollection: "todos")
            #expect(
                try transaction.object(forKey: "1", inCollection: "todos") as? Todo == Todo(title: "milk"))
        }
    }

    @Test func aTransactionIsRefusedAfterItsClosure() throws {
        var escaped: YapDatabaseReadWriteTransaction?
        try connection.blocking.readWrite { escaped = $0 }
        let transaction = try #require(escaped)
        #expect(code { try transaction.set("a", "1") } == .transactionEnded)
        #expect(code { _ = try transaction.todo("1") } == .transactionEnded)
        #expect(code { _ = try transaction.keys(inCollection: "todos") } == .transactionEnded)
        #expect(try connection.blocking.read { try $0.numberOfKeysInAllCollections() } == 0)
    }

    @Test func aTransactionInsideAnotherIsRefusedInsteadOfWaitingForEver() throws {
        let other = database.newConnection()
        try connection.blocking.readWrite { _ throws in
            #expect(code { try connection.blocking.readWrite { _ in } } == .nestedTransaction)
            #expect(code { try other.blocking.readWrite { _ in } } == .nestedTransaction)
            #expect(code { try database.blocking.close() } == .nestedTransaction)
            // Reading what is committed is allowed.
            #expect(code { try other.blocking.read { _ in } } == nil)
        }
        try connection.blocking.read { _ throws in
            #expect(code { try connection.blocking.read { _ in } } == .nestedTransaction)
        }
    }

    @Test func sanitizersRunBeforeAndAfterStoring() throws {
        let log = Log()
        let folder = try TestFolder()
        let database = try folder.open {
            $0.preSanitize(Todo.self, inCollection: "todos") { collection, key, todo in
                log.add("pre \(collection) \(key) \(todo.title)")
                return Todo(title: todo.title.uppercased())
            }
            $0.postSanitize(Todo.self, inCollection: "todos") { _, _, todo in log.add("post \(todo.title)") }
            $0.preSanitizeMetadata(Stamp.self, inCollection: "todos") { _, _, stamp in
                Stamp(milliseconds: stamp.milliseconds + 1)
            }
        }
        let connection = database.newConnection()
        try connection.blocking.readWrite {
            try $0.setObject(
                Todo(title: "a"), metadata: Stamp(milliseconds: 1), forKey: "k", inCollection: "todos")
            log.add("stored \(try $0.todo("k")?.title ?? "")")
            try $0.replaceObject(Todo(title: "b"), forKey: "k", inCollection: "todos")
        }
        #expect(log.lines == ["pre todos k a", "post A", "stored A", "pre todos k b", "post B"])
        let row = try connection.blocking.read {
            try $0.row(Todo.self, metadata: Stamp.self, forKey: "k", inCollection: "todos")
        }
        #expect(row?.object.title == "B" && row?.metadata == Stamp(milliseconds: 2))
    }

    @Test func aClosedDatabaseRefusesEverything() async throws {
        try await connection.readWrite { try $0.set("a", "1") }
        _ = try await connection.read { try $0.todo("1") }
        try closing()
        await #expect(throws: YapDatabaseError.self) { try await connection.read { try $0.todo("1") } }
        await #expect(throws: YapDatabaseError.self) {
            try await connection.readWrite { try $0.set("b", "1") }
        }
        let again = try folder.open().newConnection()
        let todo = try await again.read { try $0.todo("1") }
        #expect(todo?.title == "a")
    }

    private func closing() throws {
        try database.blocking.close()
        #expect(code { try connection.blocking.read { _ in } } == .closed)
        #expect(code { try connection.blocking.readWrite { _ in } } == .closed)
    }

    @Test func aCancelledTaskDoesNotWrite() async throws {
        let connection = connection
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await connection.readWrite { try $0.set("a", "1") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(database.snapshot == 0)
    }

    @Test func aBackupIsAWholeDatabase() async throws {
        try await connection.readWrite { transaction throws in
            for number in 0..<500 { try transaction.set("t", "\(number)") }
        }
        let other = try TestFolder()
        try await database.backup(to: other.file)
        let count = try await other.open().newConnection().read { try $0.numberOfKeys(inCollection: "todos") }
        #expect(count == 500)
    }
}

import Testing

@testable import Yap

private protocol Titled: Sendable { var name: String { get } }
extension Todo: Titled { fileprivate var name: String { title } }

private struct Project: Codable, Sendable, Titled {
    var name: String
}

/// Reading rows of several collections, and of all.
struct AllCollectionsTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        database = try folder.open {
            $0.register(Todo.self, metadata: Stamp.self, inCollection: "archive")
            $0.register(Project.self, inCollection: "projects")
        }
        connection = database.newConnection()
        try connection.blocking.readWrite { transaction in
            for key in ["2", "1"] { try transaction.set("t\(key)", key) }
            try transaction.setObject(
                Todo(title: "old"), metadata: Stamp(milliseconds: 7), forKey: "1", inCollection: "archive")
            try transaction.setObject("note", forKey: "n", inCollection: "notes")
            try transaction.setObject(Project(name: "p"), forKey: "9", inCollection: "projects")
        }
    }

    @Test func allRowsAreReadInTheOrderOfCollectionsAndKeys() throws {
        try connection.blocking.read { transaction throws in
            let names = ["archive 1", "notes n", "projects 9", "todos 1", "todos 2"]
            #expect(try transaction.keysInAllCollections().map { "\($0.collection) \($0.key)" } == names)
            let objects = try transaction.objectsInAllCollections((any Sendable).self)
            #expect(objects.map { "\($0.collection) \($0.key)" } == names)
            #expect(objects.compactMap { ($0.object as? Todo)?.title } == ["old", "t1", "t2"])
            let metadata = try transaction.metadataInAllCollections(Stamp.self)
            #expect(metadata.map { $0.metadata?.milliseconds } == [7, nil, nil, nil, nil])
            let rows = try transaction.rowsInAllCollections((any Sendable).self, metadata: Stamp.self)
            #expect(rows.map { $0.metadata?.milliseconds } == [7, nil, nil, nil, nil])
            #expect(rows.compactMap { $0.object as? String } == ["note"])
            let counts = try transaction.numberOfKeysInEachCollection()
            #expect(
                counts.map { "\($0.collection) \($0.count)" } == [
                    "archive 1", "notes 1", "projects 1", "todos 2",
                ])
        }
    }

    @Test func severalCollectionsAreReadOneAfterTheOther() throws {
        try connection.blocking.read { transaction throws in
            let collections = ["todos", "none", "archive", "todos"]
            #expect(try transaction.keys(inCollections: collections).map(\.key) == ["1", "2", "1"])
            let objects = try transaction.objects(Todo.self, inCollections: collections)
            #expect(objects.map(\.object.title) == ["t1", "t2", "old"])
            #expect(objects.map(\.collection) == ["todos", "todos", "archive"])
            let filtered = try transaction.objects(Todo.self, inCollections: collections) {
                $0 != "todos" || $1 > "1"
            }
            #expect(filtered.map(\.object.title) == ["t2", "old"])
            let metadata = try transaction.metadata(Stamp.self, inCollections: collections)
            #expect(metadata.map { $0.metadata?.milliseconds } == [nil, nil, 7])
            let rows = try transaction.rows(Todo.self, metadata: Stamp.self, inCollections: collections)
            #expect(rows.map(\.object.title) == ["t1", "t2", "old"])
            #expect(try Array(transaction.keys(inCollections: [])).isEmpty)
            // A protocol that the types of the collections conform to.
            let titled = try transaction.objects((any Titled).self, inCollections: ["projects", "todos"])
            #expect(titled.map(\.object.name) == ["p", "t1", "t2"])
            #expect(titled.prefix(1).map(\.object.name) == ["p"])
        }
    }

    @Test func aListOfKeysIsReadInItsOrder() throws {
        try connection.blocking.read { transaction throws in
            let keys = ["2", "none", "1"]
            #expect(
                try transaction.objects(Todo.self, forKeys: keys, inCollection: "todos").map { $0?.title }
                    == ["t2", nil, "t1"])
            #expect(
                try transaction.metadata(Stamp.self, forKeys: ["1", "2"], inCollection: "archive")
                    .map { $0?.milliseconds } == [7, nil])
            let rows = try transaction.rows(
                Todo.self, metadata: Stamp.self, forKeys: ["2", "1"], inCollection: "archive")
            #expect(rows.map { $0?.object.title } == [nil, "old"])
        }
    }

    @Test func aRowOfAnotherTypeOrOfAnUnregisteredCollectionFailsTheTransactionUnlessItIsPassedOver() throws {
        func titles(_ database: YapDatabase, _ filter: @escaping (String, String) -> Bool) throws -> [String]
        {
            try database.newConnection().blocking.read {
                try $0.objectsInAllCollections(Todo.self, where: filter).map(\.object.title)
            }
        }
        #expect(code { _ = try titles(database) { _, _ in true } } == .typeMismatch)
        #expect(try titles(database) { collection, _ in collection == "todos" } == ["t1", "t2"])
        let plain = try folder.open()
        #expect(
            code { _ = try titles(plain) { collection, _ in collection != "notes" } } == .missingRegistration)
    }

    @Test func addingRowsWhileAllAreReadFailsTheTransaction() throws {
        let failure = code {
            try connection.blocking.readWrite { transaction throws in
                for _ in try transaction.keysInAllCollections() { try transaction.set("new", "new") }
            }
        }
        #expect(failure == .mutatedDuringIteration)
        let other = code {
            try connection.blocking.readWrite { transaction throws in
                for _ in try transaction.keys(inCollections: ["todos", "archive"]) {
                    try transaction.setObject("new", forKey: "new", inCollection: "notes")
                }
                for row in try transaction.objectsInAllCollections((any Sendable).self) {
                    if let todo = row.object as? Todo {
                        try transaction.replaceObject(
                            Todo(title: todo.title + "!"), forKey: row.key, inCollection: row.collection)
                    }
                }
            }
        }
        #expect(other == nil)
        #expect(try connection.blocking.read { try $0.todo("2") }?.title == "t2!")
    }

    @Test func whatReadsSeveralCollectionsIsObservedByThem() throws {
        func isObserved(_ write: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> Bool {
            try connection.isObserved(
                { _ = try Array($0.keys(inCollections: ["todos", "archive"])) }, whenWriting: write)
        }
        #expect(try isObserved { try $0.set("new", "3") })
        #expect(try !isObserved { try $0.setObject("x", forKey: "x", inCollection: "notes") })
        #expect(
            try connection.isObserved(
                { _ = try Array($0.keysInAllCollections()) },
                whenWriting: { try $0.setObject("x", forKey: "x", inCollection: "notes") }))
    }
}

import System
import Testing

@testable import Yap

/// What an observation depends on.
@Suite struct ReadDependenciesTests {
    private let stage: TodoStage
    private var database: YapDatabase { stage.database }
    private var connection: YapDatabaseConnection { stage.connection }

    init() throws { stage = try TodoStage(["1": "milk", "2": "bread"]) }

    private typealias Query = (YapDatabaseReadTransaction) throws -> Void
    private typealias Write = (YapDatabaseReadWriteTransaction) throws -> Void

    private func isObserved(_ query: Query, whenWriting write: Write) throws -> Bool {
        try connection.isObserved(query, whenWriting: write)
    }

    private func commit(_ write: Write) throws -> YapDatabaseCommit { try database.commit(write) }

    private func lastCommit(_ body: () throws -> Void) throws -> YapDatabaseCommit {
        try database.lastCommit(body)
    }

    @Test func aRowIsObservedByItsKey() throws {
        let query: Query = { _ = try $0.todo("1") }
        #expect(try isObserved(query) { try $0.set("oat milk", "1") })
        #expect(try isObserved(query) { try $0.touchRow(forKey: "1", inCollection: "todos") })
        #expect(try !isObserved(query) { try $0.set("rye bread", "2") })
        #expect(try !isObserved(query) { try $0.setObject("x", forKey: "1", inCollection: "notes") })
        #expect(try isObserved(query) { try $0.removeObject(forKey: "1", inCollection: "todos") })
        #expect(try isObserved(query) { try $0.set("milk", "1") })
        #expect(try isObserved(query) { try $0.removeAllObjects(inCollection: "todos") })
        try commitTodo("1")
        #expect(try isObserved(query) { try $0.removeAllObjectsInAllCollections() })
    }

    private func commitTodo(_ key: String) throws {
        try connection.blocking.readWrite { try $0.set("milk", key) }
    }

    @Test func aRowThatDoesNotExistIsObservedToo() throws {
        let query: Query = { _ = try $0.hasObject(forKey: "9", inCollection: "todos") }
        #expect(try !isObserved(query) { try $0.set("eggs", "8") })
        #expect(try isObserved(query) { try $0.set("eggs", "9") })
    }

    @Test func manyKeysOfOneCollectionAreObservedAsTheCollection() throws {
        func query(_ count: Int) -> Query {
            { transaction in for key in 0..<count { _ = try transaction.todo("k\(key)") } }
        }
        let max = ReadDependencies.keysPerCollectionMax
        #expect(try !isObserved(query(max)) { try $0.set("eggs", "2") })
        #expect(try isObserved(query(max + 1)) { try $0.set("eggs", "2") })
    }

    @Test func aListIsObservedByItsCollection() throws {
        let query: Query = { _ = try $0.keys(inCollection: "todos") }
        #expect(try isObserved(query) { try $0.set("eggs", "3") })
        #expect(try !isObserved(query) { try $0.setObject("x", forKey: "1", inCollection: "notes") })
    }

    @Test func aPartOfAnExtensionIsObservedByItsChanges() throws {
        try database.blocking.register(WordCounter(), withName: "words")
        let query: Query = { _ = try $0.ext("words", as: WordCounter.self).count(of: "milk") }
        #expect(try !isObserved(query) { try $0.set("bread", "3") })
        #expect(try isObserved(query) { try $0.set("milk", "4") })
        #expect(try !isObserved(query) { try $0.setObject("milk", forKey: "1", inCollection: "notes") })
    }

    @Test func anExtensionThatNotesNothingIsObservedByEachCommit() throws {
        try database.blocking.register(NothingExtension(log: Log()), withName: "nothing")
        let query: Query = { _ = try $0.ext("nothing", as: NothingExtension.self) }
        #expect(try isObserved(query) { try $0.setObject("x", forKey: "1", inCollection: "notes") })
    }

    @Test func manyPartsOfAnExtensionAreObservedAsTheExtension() throws {
        try database.blocking.register(WordCounter(), withName: "words")
        func query(_ count: Int) -> Query {
            { transaction in
                for word in 0..<count {
                    _ = try transaction.ext("words", as: WordCounter.self).count(of: "w\(word)")
                }
            }
        }
        let max = ReadDependencies.partsPerExtensionMax
        #expect(try !isObserved(query(max)) { try $0.set("milk", "3") })
        #expect(try isObserved(query(max + 1)) { try $0.set("milk", "3") })
    }

    @Test func anUnregisteredExtensionEndsTheObservationOfItsParts() async throws {
        try await database.register(WordCounter(), withName: "words")
        try await database.register(NothingExtension(log: Log()), withName: "nothing")
        var counts = connection.observe { try $0.ext("words", as: WordCounter.self).count(of: "milk") }
            .makeAsyncIterator()
        #expect(try await counts.next() == 1)
        try await database.unregister("nothing")
        try await database.unregister("words")
        await #expect(throws: YapDatabaseError.self) { _ = try await counts.next() }
    }

    // MARK: Changes of extensions in commits

    @Test func aCommitHasWhatAnExtensionChanged() throws {
        try database.blocking.register(WordCounter(), withName: "words")
        let commit = try commit { transaction in
            try transaction.set("milk", "3")
            try transaction.set("eggs", "4")
        }
        #expect(commit.changes(ofExtension: "words") as? [String: Int] == ["milk": 2, "eggs": 1])
        #expect(!commit.mayMissChanges(ofExtension: "words"))
        #expect(commit.changes(ofExtension: "other") == nil)
        let other = try self.commit { try $0.setObject("x", forKey: "1", inCollection: "notes") }
        #expect(other.changes(ofExtension: "words") == nil)
    }

    @Test func theCommitThatRegistersAnExtensionMayMissItsChanges() throws {
        let registering = try lastCommit { try database.blocking.register(WordCounter(), withName: "words") }
        #expect(registering.mayMissChanges(ofExtension: "words"))
        let other = try lastCommit {
            try database.blocking.register(NothingExtension(log: Log()), withName: "nothing")
        }
        #expect(!other.mayMissChanges(ofExtension: "words"))
        let unregistering = try lastCommit { try database.blocking.unregister("words") }
        #expect(unregistering.mayMissChanges(ofExtension: "words"))
    }

    @Test func theChangesOfExtensionsCountAgainstTheMemoryOfTheLog() {
        struct Changes: YapDatabaseCountedChanges { var count: Int }
        let mark = SnapshotMark(number: 1, writer: 1)
        let log = CommitLog(newest: mark, publisher: CommitPublisher())
        var previous = mark
        for number in 2...5 {
            let next = SnapshotMark(number: UInt64(number), writer: 1)
            let changes = ExtensionChanges(
                name: "x", generation: 1, changes: Changes(count: CommitLog.changesMax / 2))
            let record = CommitRecord(
                previous: previous, mark: next, changes: CommitChanges(), extensionChanges: [changes],
                registry: nil)
            log.addPending([record])
            log.confirm([record])
            previous = next
        }
        #expect(log.records(from: mark, to: previous) == nil)
        #expect(log.records(from: SnapshotMark(number: 3, writer: 1), to: previous)?.count == 2)
    }
}

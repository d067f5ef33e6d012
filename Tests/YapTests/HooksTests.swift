import System
import TestSeed
import Testing

@testable import Yap

/// `YapDatabaseHooks`: closures of the app around each write.
@Suite struct HooksTests {
    private typealias Kind = YapDatabaseHookChangeKind

    private let folder: TestFolder
    private let log = Log()

    init() throws { folder = try TestFolder() }

    private func open(_ hooks: (any YapDatabaseNamedExtension)...) throws -> YapDatabase {
        let database = try folder.open { $0.register(Secret.self, inCollection: "secrets") }
        for hooks in hooks { try database.blocking.register(hooks) }
        return database
    }

    private func write(_ database: YapDatabase, _ body: (YapDatabaseReadWriteTransaction) throws -> Void)
        throws
    {
        try database.newConnection().blocking.readWrite(body)
    }

    private static func name(_ kind: Kind) -> String {
        let names: [(Kind, String)] = [
            (.inserted, "inserted"), (.updated, "updated"), (.changedObject, "object"),
            (.changedMetadata, "metadata"), (.touchedObject, "touchedObject"),
            (.touchedMetadata, "touchedMetadata"),
        ]
        return names.filter { kind.contains($0.0) }.map(\.1).joined(separator: " ")
    }

    /// Hooks that log each call.
    private func logging() -> YapDatabaseHooks<any Sendable> {
        let log = log
        @Sendable func line(_ when: String, _ change: YapDatabaseHookChange<any Sendable>) -> String {
            let loaded = (change.isObjectLoaded ? " +o" : "") + (change.isMetadataLoaded ? " +m" : "")
            return "\(when) \(change.collection)/\(change.key): \(Self.name(change.kind))\(loaded)"
        }
        return YapDatabaseHooks(
            "log", in: ["todos"],
            willModify: { change, _ in log.add(line("will", change)) },
            didModify: { change, _ in log.add(line("did", change)) },
            willRemove: { row, transaction in
                let isThere = try transaction.hasObject(forKey: row.key, inCollection: row.collection)
                log.add("will remove \(row.key) \(isThere)")
            },
            didRemove: { row, transaction in
                let isThere = try transaction.hasObject(forKey: row.key, inCollection: row.collection)
                log.add("did remove \(row.key) \(isThere)")
            },
            willRemoveAll: { log.add("will remove all \(try $0.numberOfKeysInAllCollections())") },
            didRemoveAll: { log.add("did remove all \(try $0.numberOfKeysInAllCollections())") })
    }

    private func expect(_ lines: [String], _ sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(log.take() == lines, sourceLocation: sourceLocation)
    }

    @Test func eachWriteCallsTheHooksWithWhatItChanges() throws {
        let database = try open(logging())
        try write(database) { transaction in
            try transaction.set("a", "1")
            expect([
                "will todos/1: inserted object metadata +o +m", "did todos/1: inserted object metadata +o +m",
            ])
            try transaction.setObject(
                Todo(title: "b"), metadata: Stamp(milliseconds: 1), forKey: "1", inCollection: "todos")
            expect([
                "will todos/1: updated object metadata +o +m", "did todos/1: updated object metadata +o +m",
            ])
            try transaction.replaceObject(Todo(title: "c"), forKey: "1", inCollection: "todos")
            expect(["will todos/1: updated object +o", "did todos/1: updated object +o"])
            try transaction.replaceMetadata(
                Stamp(milliseconds: 2), forKey: "1", inCollection: "todos")
            expect(["will todos/1: updated metadata +m", "did todos/1: updated metadata +m"])
            try transaction.touchObject(forKey: "1", inCollection: "todos")
            expect(["will todos/1: touchedObject", "did todos/1: touchedObject"])
            try transaction.touchMetadata(forKey: "1", inCollection: "todos")
            expect(["will todos/1: touchedMetadata", "did todos/1: touchedMetadata"])
            try transaction.touchRow(forKey: "1", inCollection: "todos")
            expect([
                "will todos/1: touchedObject touchedMetadata", "did todos/1: touchedObject touchedMetadata",
            ])
            // Rows that aren't there, and rows of other collections.
            try transaction.replaceObject(Todo(title: "c"), forKey: "2", inCollection: "todos")
            try transaction.touchRow(forKey: "2", inCollection: "todos")
            try transaction.removeObject(forKey: "2", inCollection: "todos")
            try transaction.setObject("text", forKey: "1", inCollection: "notes")
            try transaction.removeAllObjects(inCollection: "notes")
            expect([])
        }
    }

    @Test func hooksAreCalledOnceForEachRow() throws {
        let database = try open(logging())
        try write(database) { transaction in
            for number in 0..<10 { try transaction.set("t", "\(number)") }
            try transaction.removeObject(forKey: "0", inCollection: "todos")
            try transaction.removeObjects(forKeys: ["1", "2", "2", "none"], inCollection: "todos")
        }
        var lines = log.take()
        #expect(lines.filter { $0.hasPrefix("will todos") }.count == 10)
        #expect(lines.filter { $0.hasPrefix("did todos") }.count == 10)
        #expect(
            lines.filter { $0.contains("remove") } == [
                "will remove 0 true", "did remove 0 false", "will remove 1 true", "did remove 1 false",
                "will remove 2 true", "did remove 2 false",
            ])
        try write(database) { try $0.removeAllObjects(inCollection: "todos") }
        lines = log.take()
        #expect(lines.count == 14 && lines.allSatisfy { $0.contains(" remove ") })
        try write(database) { transaction in
            for number in 0..<3 { try transaction.set("t", "\(number)") }
            _ = log.take()
            try transaction.removeAllObjectsInAllCollections()
        }
        expect(["will remove all 3", "did remove all 0"])
    }

    /// A type that counts how often it is decoded.
    private struct Secret: Codable, Sendable {
        static let decoded = Lock(0)
        var text: String

        init(text: String) { self.text = text }

        init(from decoder: any Decoder) throws {
            Self.decoded.withLock { $0 += 1 }
            text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
        }
    }

    @Test func anObjectIsDecodedOnlyWhenAHookReadsIt() throws {
        let log = log
        let reads = Lock(false)
        let hooks = YapDatabaseHooks(
            "secrets", of: Secret.self, in: "secrets",
            didModify: { change, _ in
                guard reads.withLock({ $0 }) else { return }
                log.add(try change.object?.text ?? "none")
            }, didRemove: { row, _ in log.add("removed \(row.key)") })
        var database = try open(hooks)
        try write(database) {
            try $0.setObject(Secret(text: "x"), forKey: "1", inCollection: "secrets")
            try $0.setObject(Secret(text: "y"), forKey: "2", inCollection: "secrets")
        }
        try database.blocking.close()
        database = try open(hooks)
        let before = Secret.decoded.withLock { $0 }
        try write(database) { try $0.touchObject(forKey: "1", inCollection: "secrets") }
        try write(database) { try $0.removeObject(forKey: "2", inCollection: "secrets") }
        #expect(Secret.decoded.withLock { $0 } == before)
        expect(["removed 2"])
        reads.withLock { $0 = true }
        try write(database) { try $0.touchObject(forKey: "1", inCollection: "secrets") }
        #expect(Secret.decoded.withLock { $0 } == before + 1)
        try write(database) { try $0.setObject(Secret(text: "z"), forKey: "1", inCollection: "secrets") }
        expect(["x", "z"])
    }

    @Test func aHookReadsTheRowBeforeAndAfterTheChange() throws {
        let log = log
        let hooks = YapDatabaseHooks(
            "titles", of: Todo.self, in: "todos",
            willModify: { change, transaction in
                let stamp = try change.metadata(Stamp.self)?.milliseconds
                let before = try transaction.todo(change.key)?.title ?? "-"
                log.add("\(before) to \(try change.object?.title ?? "-"), \(stamp ?? -1)")
            },
            didModify: { change, transaction in
                let stamp = try change.metadata(Stamp.self)?.milliseconds
                #expect(try transaction.todo(change.key) == change.object)
                log.add("now \(try change.object?.title ?? "-"), \(stamp ?? -1)")
            })
        let database = try open(hooks)
        try write(database) { transaction in
            try transaction.setObject(
                Todo(title: "a"), metadata: Stamp(milliseconds: 7), forKey: "1", inCollection: "todos")
            try transaction.replaceObject(Todo(title: "b"), forKey: "1", inCollection: "todos")
            try transaction.replaceMetadata(Stamp(milliseconds: 8), forKey: "1", inCollection: "todos")
            try transaction.replaceMetadata(Stamp?.none, forKey: "1", inCollection: "todos")
        }
        expect([
            "- to a, 7", "now a, 7", "a to b, 7", "now b, 7", "b to b, 8", "now b, 8", "b to b, -1",
            "now b, -1",
        ])
    }

    @Test func aChangeThatOutlivesItsTransactionThrows() throws {
        let kept = Kept()
        let database = try open(
            YapDatabaseHooks(
                "keep", of: Todo.self, in: "todos", didModify: { change, _ in kept.change = change }))
        try write(database) { try $0.set("a", "1") }
        let change = try #require(kept.change)
        #expect(code { _ = try change.object } == .transactionEnded)
        #expect(code { _ = try change.metadata(Stamp.self) } == .transactionEnded)
        #expect(change.key == "1")
    }

    private final class Kept: @unchecked Sendable {  // Used by one thread: the test's.
        var change: YapDatabaseHookChange<Todo>?
    }

    @Test(arguments: ["willModify", "didModify", "willRemove", "didRemove", "willRemoveAll", "didRemoveAll"])
    func aHookThatThrowsFailsTheTransaction(which: String) throws {
        let isOn = Lock(false)
        @Sendable func hook(_ name: String) throws {
            if name == which, isOn.withLock({ $0 }) { throw Refused() }
        }
        let database = try open(
            YapDatabaseHooks(
                "refusing", of: Todo.self, in: "todos", willModify: { _, _ in try hook("willModify") },
                didModify: { _, _ in try hook("didModify") }, willRemove: { _, _ in try hook("willRemove") },
                didRemove: { _, _ in try hook("didRemove") },
                willRemoveAll: { _ in try hook("willRemoveAll") },
                didRemoveAll: { _ in try hook("didRemoveAll") }))
        try write(database) { try $0.set("kept", "1") }
        isOn.withLock { $0 = true }
        #expect(throws: Refused.self) {
            try write(database) { transaction in
                try transaction.setObject("lost", forKey: "1", inCollection: "notes")
                // The app catches the error, and the transaction fails all the same.
                try? transaction.set("lost", "1")
                try? transaction.removeObject(forKey: "1", inCollection: "todos")
                try? transaction.removeAllObjectsInAllCollections()
            }
        }
        let connection = database.newConnection()
        #expect(try connection.blocking.read { try $0.todo("1") }?.title == "kept")
        #expect(try connection.todoFromDisk("1")?.title == "kept")
        #expect(try connection.blocking.read { try $0.numberOfKeysInAllCollections() } == 1)
    }

    @Test func aHookMayWriteAndOtherExtensionsFollowInOrder() throws {
        let index = YapDatabaseSecondaryIndex("titles", of: Todo.self, in: "todos", version: "1") {
            $0.column(\.title)
        }
        // Registered before the index, and it sets the row again.
        let hooks = YapDatabaseHooks(
            "upper", of: Todo.self, in: "todos",
            willModify: { change, transaction in
                try transaction.setObject("before", forKey: change.key, inCollection: "notes")
            },
            didModify: { change, transaction in
                guard var todo = try change.object, todo.title != todo.title.uppercased() else { return }
                todo.title = todo.title.uppercased()
                try transaction.replaceObject(todo, forKey: change.key, inCollection: change.collection)
            })
        let database = try open(hooks, index)
        try write(database) { transaction in
            try transaction.set("milk", "1")
            #expect(try transaction[index].keys { $0.title == "MILK" } == ["1"])
            try transaction.set("bread", "1")
        }
        let read = try database.newConnection().blocking.read { transaction in
            (
                try transaction.todo("1")?.title, try transaction[index].keys { $0.title == "BREAD" },
                try transaction[index].count(), try transaction.hasObject(forKey: "1", inCollection: "notes")
            )
        }
        #expect(read == ("BREAD", ["1"], 1, true))
    }

    @Test func hooksMayRemoveOtherRowsOfTheSameRemoval() throws {
        let log = log
        let index = YapDatabaseSecondaryIndex("titles", of: Todo.self, in: "todos", version: "1") {
            $0.column(\.title)
        }
        // The title is the key of the parent.
        @Sendable func removeChildren(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
            let children = try transaction[index].keys { $0.title == key }
            try transaction.removeObjects(forKeys: children, inCollection: "todos")
        }
        let hooks = YapDatabaseHooks(
            "cascade", of: Todo.self, in: "todos",
            willRemove: { row, transaction in try removeChildren(row.key, transaction) },
            didRemove: { row, transaction in log.add(row.key) })
        let database = try open(index, hooks)
        func set(_ transaction: YapDatabaseReadWriteTransaction) throws {
            for (key, parent) in [("a", ""), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "")] {
                try transaction.set(parent, key)
            }
        }
        try write(database) { transaction in
            try set(transaction)
            try transaction.removeObjects(forKeys: ["a", "b", "c"], inCollection: "todos")
            expect(["c", "b", "d", "a"])
            #expect(try Array(transaction.keys(inCollection: "todos")) == ["e"])
        }
        #expect(try database.newConnection().blocking.read { try $0[index].count() } == 1)
        try write(database) { transaction in
            try set(transaction)
            try transaction.removeAllObjects(inCollection: "todos")
            expect(["c", "b", "d", "a", "e"])
        }
        #expect(try database.newConnection().blocking.read { try $0[index].count() } == 0)
    }

    @Test func rowsThatHooksInsertWhileACollectionIsClearedStay() throws {
        let database = try open(
            YapDatabaseHooks(
                "archive", of: Todo.self, in: "todos",
                didRemove: { row, transaction in try transaction.set("archived", row.key + "'") }))
        try write(database) { transaction in
            for number in 0..<5 { try transaction.set("t", "\(number)") }
        }
        try write(database) { try $0.removeAllObjects(inCollection: "todos") }
        let keys = try database.newConnection().blocking.read { try Array($0.keys(inCollection: "todos")) }
        #expect(keys == ["0'", "1'", "2'", "3'", "4'"])
    }

    @Test func writesOfHooksThatNeverEndAreAnError() throws {
        let calls = Lock(0)
        let database = try open(
            YapDatabaseHooks(
                "endless", of: Todo.self, in: "todos",
                didModify: { change, transaction in
                    calls.withLock { $0 += 1 }
                    try transaction.touchObject(forKey: change.key, inCollection: change.collection)
                }))
        #expect(code { try write(database) { try $0.set("a", "1") } } == .extensionsDoNotSettle)
        #expect(calls.withLock { $0 } <= YapDatabaseReadWriteTransaction.hookDepthMax)
        #expect(try database.newConnection().blocking.read { try $0.todo("1") } == nil)
        // Two that call each other.
        let other = YapDatabaseHooks(
            "ping", in: ["notes"],
            didModify: { _, transaction in try transaction.set("a", "1") })
        try database.blocking.register(other)
        try database.blocking.register(
            YapDatabaseHooks(
                "pong", in: ["todos"],
                didModify: { _, transaction in
                    try transaction.setObject("a", forKey: "1", inCollection: "notes")
                }))
        try database.blocking.unregister("endless")
        #expect(
            code { try write(database) { try $0.setObject("a", forKey: "1", inCollection: "notes") } }
                == .extensionsDoNotSettle)
    }

    @Test func manyWritesOfHooksAreAllowedUpToADepth() throws {
        let database = try open(
            YapDatabaseHooks(
                "chain", of: Todo.self, in: "todos",
                didModify: { change, transaction in
                    guard let number = Int(change.key), number > 0 else { return }
                    try transaction.set("t", "\(number - 1)")
                }))
        let depth = YapDatabaseReadWriteTransaction.hookDepthMax
        try write(database) { try $0.set("t", "\(depth - 1)") }
        #expect(
            try database.newConnection().blocking.read { try $0.numberOfKeys(inCollection: "todos") } == depth
        )
        #expect(code { try write(database) { try $0.set("t", "\(depth)") } } == .extensionsDoNotSettle)
        // The depth isn't the number of writes.
        try write(database) { transaction in
            for _ in 0..<50 { try transaction.set("t", "5") }
        }
    }

    @Test func aHookThatInsertsOrRemovesTheRowOfTheChangeIsAnError() throws {
        let database = try open(
            YapDatabaseHooks(
                "self", of: Todo.self, in: "todos",
                willModify: { change, transaction in
                    switch change.key {
                    case "insert": try transaction.setObject("x", forKey: "x", inCollection: "notes")
                    case "remove" where !change.kind.contains(.inserted):
                        try transaction.removeObject(forKey: change.key, inCollection: "todos")
                    case "twice" where try change.object?.priority == 0:
                        try transaction.setObject(
                            Todo(title: "t", priority: 1), forKey: change.key, inCollection: "todos")
                    default: break
                    }
                }))
        try write(database) {
            try $0.set("t", "insert")
            try $0.set("t", "remove")
        }
        #expect(code { try write(database) { try $0.set("u", "remove") } } == .invalidExtension)
        #expect(code { try write(database) { try $0.set("u", "twice") } } == .invalidExtension)
        let row = try database.newConnection().todoFromDisk("remove")
        #expect(row?.title == "t")
    }

    @Test func aFailedSavepointAndARollbackUndoWhatHooksWrote() throws {
        let database = try open(
            YapDatabaseHooks(
                "copy", of: Todo.self, in: "todos",
                didModify: { change, transaction in
                    try transaction.setObject("copy", forKey: change.key, inCollection: "notes")
                    if try change.object?.title == "bad" { throw Refused() }
                }))
        func notes() throws -> [String] {
            try database.newConnection().blocking.read { try Array($0.keys(inCollection: "notes")) }
        }
        try write(database) { transaction in
            try transaction.set("a", "1")
            #expect(throws: Refused.self) { try transaction.savepoint { try transaction.set("bad", "2") } }
            // The transaction goes on.
            try transaction.set("a", "3")
        }
        #expect(try notes() == ["1", "3"])
        try write(database) { transaction in
            try transaction.set("a", "4")
            transaction.rollback()
        }
        #expect(try notes() == ["1", "3"])
    }

    @Test func registeringCallsNoHookAndStoresNothingThatAges() throws {
        var database = try open()
        try write(database) { try $0.set("a", "1") }
        try database.blocking.close()
        database = try open(logging())
        expect([])
        try write(database) { try $0.set("b", "1") }
        #expect(log.take().count == 2)
        try database.blocking.close()
        // A program without the hooks writes without them.
        database = try open()
        try write(database) { try $0.set("c", "1") }
        expect([])
        try database.blocking.close()
        database = try open(logging())
        try write(database) { try $0.set("d", "1") }
        #expect(log.take().count == 2)
        try database.blocking.unregister("log")
        try write(database) { try $0.set("e", "1") }
        expect([])
    }

    @Test func hooksOfAnotherTypeOrOfAnUnknownCollectionAreRejected() throws {
        let database = try open()
        #expect(
            code { try database.blocking.register(YapDatabaseHooks("x", of: Stamp.self, in: "todos")) }
                == .typeMismatch)
        #expect(
            code { try database.blocking.register(YapDatabaseHooks("x", of: Todo.self, in: "none")) }
                == .missingRegistration)
        let name = "a\"b'; DROP TABLE database2; -- é\0"
        let log = log
        try database.blocking.register(
            YapDatabaseHooks(name, in: nil, didModify: { change, _ in log.add(change.collection) }))
        try write(database) {
            try $0.set("a", "1")
            try $0.setObject("a", forKey: "1", inCollection: "notes")
        }
        expect(["todos", "notes"])
        #expect(database.registeredExtensionNames == [name])
    }

    @Test func anObservedReadDependsOnNoHook() throws {
        let hooks = YapDatabaseHooks("h", of: Todo.self, in: "todos")
        let database = try open(hooks)
        let connection = database.newConnection()
        let isObserved = try connection.isObserved {
            _ = try $0[hooks]
        } whenWriting: {
            try $0.set("a", "1")
        }
        #expect(!isObserved)
    }

    /// A hook that keeps a copy of each row in another collection, against random writes.
    @Test(arguments: TestSeed.values(count: 4))
    func aCopyThatHooksKeepIsAlwaysEqual(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let index = YapDatabaseSecondaryIndex("n", of: Todo.self, in: "todos", version: "1") {
            $0.column(\.priority)
        }
        let database = try open(
            YapDatabaseHooks(
                "copy", of: Todo.self, in: "todos",
                didModify: { change, transaction in
                    guard var todo = try change.object else { return }
                    try transaction.setObject(todo.title, forKey: change.key, inCollection: "notes")
                    // Each row is written once more by a hook.
                    guard todo.priority >= 0 else { return }
                    todo.priority = -1 - todo.priority
                    try transaction.replaceObject(todo, forKey: change.key, inCollection: "todos")
                },
                didRemove: { row, transaction in
                    try transaction.removeObject(forKey: row.key, inCollection: "notes")
                }), index)
        for round in 0..<60 {
            let fails = random.next(in: 0..<5) == 0
            try write(database) { transaction in
                for _ in 0...random.next(in: 0..<5) { try draw(random, round, transaction) }
                if fails { transaction.rollback() }
            }
            try database.newConnection().blocking.read { transaction in
                let keys = try Array(transaction.keys(inCollection: "todos"))
                #expect(try Array(transaction.keys(inCollection: "notes")) == keys)
                #expect(try transaction[index].keys { $0.priority < 0 }.sorted() == keys)
                #expect(try transaction[index].count() == keys.count)
                for key in keys {
                    let copy = try transaction.object(String.self, forKey: key, inCollection: "notes")
                    #expect(try transaction.todo(key)?.title == copy)
                }
            }
        }
    }

    private func draw(
        _ random: SeededRandomSource, _ round: Int, _ transaction: YapDatabaseReadWriteTransaction
    )
        throws
    {
        let key = "\(random.next(in: 0..<12))"
        let todo = Todo(title: "\(round) \(random.next(in: 0..<100))", priority: random.next(in: 0..<9))
        switch random.next(in: 0..<12) {
        case 0: try transaction.removeAllObjectsInAllCollections()
        case 1: try transaction.removeAllObjects(inCollection: "todos")
        case 2, 3: try transaction.removeObjects(forKeys: [key, "3", "4"], inCollection: "todos")
        case 4, 5: try transaction.replaceObject(todo, forKey: key, inCollection: "todos")
        case 6:
            try? transaction.savepoint {
                try transaction.setObject(todo, forKey: key, inCollection: "todos")
                throw Refused()
            }
        default: try transaction.setObject(todo, forKey: key, inCollection: "todos")
        }
    }

    @Test(arguments: [1_000, 3])
    func rowsThatHooksInsertWhileACollectionIsClearedAreInTheCommit(changedKeysMax: Int) throws {
        var options = YapDatabaseOptions()
        options.changedKeysPerCommitMax = changedKeysMax
        let database = try folder.open(options)
        try database.blocking.register(
            YapDatabaseHooks(
                "archive", of: Todo.self, in: "todos",
                willRemove: { row, transaction in
                    guard row.key == "1" else { return }
                    try transaction.set("kept no longer", "2")
                },
                didRemove: { row, transaction in
                    if row.key == "0" { try transaction.set("back", "0") }
                    if row.key == "4" { try transaction.set("archived", "4'") }
                }))
        let reader = database.newConnection()
        try write(database) { transaction in
            for number in 0..<5 { try transaction.set("t", "\(number)") }
        }
        #expect(try reader.blocking.read { try $0.todo("0")?.title } == "t")
        let seen = CommitList()
        let id = database.addInlineCommitObserver { seen.add($0) }
        defer { database.removeCommitObserver(id) }
        try write(database) { transaction in
            try transaction.set("gone too", "before")
            try transaction.removeAllObjects(inCollection: "todos")
        }
        let commit = try #require(seen.commits.last)
        #expect(commit.didClear(collection: "todos"))
        #expect(commit.insertedKeys(inCollection: "todos") == ["0", "4'"])
        #expect(!commit.isIncomplete(inCollection: "todos"))
        #expect(commit.hasChange(forKey: "3", inCollection: "todos"))
        #expect(try reader.blocking.read { try $0.todo("0")?.title } == "back")
        #expect(try reader.blocking.read { try Array($0.keys(inCollection: "todos")) } == ["0", "4'"])
    }
}

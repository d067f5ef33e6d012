import Dispatch
import Foundation
import SQLite
import System
import TestSeed
import Testing

@testable import Yap

/// How extensions get the rows that are there when they are registered.
struct ExtensionFillingTests {
    private static let rowsCount = 1_234

    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let index = Self.index()

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
        try connection.blocking.readWrite { transaction in
            for number in 0..<Self.rowsCount {
                let todo = Todo(title: "\(number)", priority: number)
                try transaction.setObject(todo, forKey: "\(number)", inCollection: "todos")
            }
            try transaction.setObject("text", forKey: "1", inCollection: "notes")
        }
    }

    private static func index(_ name: String = "priority", version: String = "1")
        -> YapDatabaseSecondaryIndex<Todo>
    {
        YapDatabaseSecondaryIndex(name, of: Todo.self, in: "todos", version: version) {
            $0.column(\.priority)
        }
    }

    private func begin(_ index: YapDatabaseSecondaryIndex<Todo>) throws -> UInt64 {
        try #require(try database.writer.withCore { try $0.register(index, withName: index.name) })
    }

    private func fillNext(_ generation: UInt64) throws -> Double? {
        try database.writer.withCore { try ExtensionFiller($0).fillNext(generation) }
    }

    /// Up to which rowid an extension has been filled, in the writer's memory.
    private func filledThrough(_ generation: UInt64) throws -> Int64? {
        try database.writer.withCore { core in
            core.store.filling.first { $0.registered.generation == generation }?.filledThrough
        }
    }

    private func write(_ priority: Int, _ key: String) throws {
        try connection.blocking.readWrite {
            try $0.setObject(Todo(title: "new", priority: priority), forKey: key, inCollection: "todos")
        }
    }

    /// The index has exactly what the rows have.
    private func checkIndex(_ database: YapDatabase, _ index: YapDatabaseSecondaryIndex<Todo>) throws {
        try database.newConnection().blocking.read { transaction in
            let found = try transaction[index].rows(sort: [.by(\.priority)])
            let all = try transaction.objects(Todo.self, inCollection: "todos").map(\.object.priority)
                .sorted()
            #expect(found.map(\.object.priority) == all)
            #expect(try transaction[index].count() == all.count)
        }
    }

    @Test func othersWriteBetweenTheBatchesAndAnIncompleteExtensionIsNotRead() throws {
        let generation = try begin(index)
        #expect(try filledThrough(generation) == 0)
        let part = try #require(try fillNext(generation))
        #expect(part > 0.3 && part < 0.5)
        #expect(try filledThrough(generation) == 500)
        let isReadable = code { _ = try connection.blocking.read { try $0[index].count() } }
        #expect(isReadable == .extensionNotRegistered)
        #expect(database.registeredExtensionNames.isEmpty)
        // Rows that it has and rows that it lacks: changed, removed, and new ones.
        try write(-1, "3")
        try write(-2, "1200")
        try connection.blocking.readWrite { transaction in
            try transaction.removeObjects(forKeys: ["4", "1201"], inCollection: "todos")
            try transaction.replaceObject(Todo(title: "x", priority: -3), forKey: "5", inCollection: "todos")
            try transaction.touchRow(forKey: "6", inCollection: "todos")
        }
        try write(-4, "new")
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction in
                try transaction.removeAllObjects(inCollection: "todos")
                throw Refused()
            }
        }
        while try fillNext(generation) != nil {}
        #expect(database.registeredExtensionNames == ["priority"])
        try checkIndex(database, index)
        try write(-5, "later")
        try checkIndex(database, index)
    }

    @Test func aRowidThatIsUsedAgainWhileFillingIsIndexed() throws {
        try connection.blocking.readWrite { transaction in
            for number in 500..<Self.rowsCount {
                try transaction.removeObject(forKey: "\(number)", inCollection: "todos")
            }
            try transaction.removeAllObjects(inCollection: "notes")
        }
        let generation = try begin(index)
        #expect(try fillNext(generation) != nil)
        // The highest rowid, which it has, is given again.
        try connection.blocking.readWrite { transaction in
            try transaction.removeObject(forKey: "499", inCollection: "todos")
            try transaction.setObject(Todo(title: "x", priority: -7), forKey: "again", inCollection: "todos")
            #expect(try transaction.rowID(forKey: "again", inCollection: "todos") == 500)
        }
        #expect(try fillNext(generation) == nil)
        try checkIndex(database, index)
    }

    @Test func allRowsMayGoWhileAnExtensionIsFilled() throws {
        let generation = try begin(index)
        _ = try fillNext(generation)
        try connection.blocking.readWrite { try $0.removeAllObjectsInAllCollections() }
        try write(1, "new")
        while try fillNext(generation) != nil {}
        try checkIndex(database, index)
    }

    @Test func extensionsThatAreFilledAtATimeShareEachRow() throws {
        let second = Self.index("second")
        let first = try begin(index)
        _ = try fillNext(first)
        let other = try begin(second)
        // The one that is behind first, and then both.
        #expect(try fillNext(first) != nil)
        #expect(try filledThrough(first) == 500)
        #expect(try filledThrough(other) == 500)
        #expect(try fillNext(other) != nil)
        #expect(try filledThrough(first) == 1000)
        #expect(try fillNext(other) == nil)
        #expect(database.registeredExtensionNames == ["priority", "second"])
        #expect(try fillNext(first) == nil)
        try checkIndex(database, index)
        try checkIndex(database, second)
    }

    @Test func anotherRunContinuesWhereFillingEnded() throws {
        let generation = try begin(index)
        _ = try fillNext(generation)
        // As after a crash: nothing says goodbye.
        let again = try folder.open()
        let resumed = try again.writer.withCore { core in
            let generation = try #require(try core.register(Self.index(), withName: "priority"))
            return (generation, core.store.filling.first?.filledThrough)
        }
        #expect(resumed.1 == 500)
        try again.blocking.unregister("priority")
        let failure = code { _ = try again.writer.withCore { try ExtensionFiller($0).fillNext(resumed.0) } }
        #expect(failure == .extensionNotRegistered)
    }

    @Test(arguments: [false, true])
    func aPartiallyFilledExtensionContinuesIfItsMissedChangesAreKnown(isKnown: Bool) throws {
        let generation = try begin(index)
        _ = try fillNext(generation)
        try database.blocking.close()
        let without = try folder.open()
        try without.writer { $0.store.missedChangeLog.rowsMax = isKnown ? 4 : 3 }
        try without.newConnection().blocking.readWrite { transaction in
            for key in ["1", "1200", "new"] { try transaction.set("x", key) }
            try transaction.removeObject(forKey: "2", inCollection: "todos")
        }
        try without.blocking.close()
        let again = try folder.open()
        let registration = try SteppedRegistration(Self.index(), "priority", in: again)
        #expect(try again.writer { $0.store.filling.first?.filledThrough } == (isKnown ? 500 : 0))
        try registration.finish()
        try checkIndex(again, Self.index())
    }

    @Test func anotherVersionOfAHalfFilledExtensionBeginsAnew() throws {
        let generation = try begin(index)
        _ = try fillNext(generation)
        try database.blocking.close()
        let again = try folder.open()
        let other = Self.index(version: "2")
        try again.blocking.register(other)
        try checkIndex(again, other)
    }

    @Test func twoInstancesMayFillTheSameExtension() throws {
        let generation = try begin(index)
        let other = try folder.open()
        let theirs = Self.index()
        let otherGeneration = try other.writer.withCore {
            try #require(try $0.register(theirs, withName: "priority"))
        }
        func otherFillNext() throws -> Double? {
            try other.writer.withCore { try ExtensionFiller($0).fillNext(otherGeneration) }
        }
        _ = try fillNext(generation)
        _ = try otherFillNext()
        // Only the other one filled this row; this one has to know.
        try write(-1, "700")
        while try otherFillNext() != nil {}
        try checkIndex(other, theirs)
        try write(-2, "1230")
        #expect(try fillNext(generation) == nil)
        try checkIndex(database, index)
    }

    @Test func anIndexThatAnotherInstanceFillsAnewIsNotReadMeanwhile() throws {
        try database.blocking.register(index)
        try checkIndex(database, index)
        // Another instance writes more than is logged without the index, and then fills it anew.
        let other = try folder.open()
        try other.writer { $0.store.missedChangeLog.rowsMax = 0 }
        try other.newConnection().blocking.readWrite { try $0.set("x", "1") }
        func canRead() -> Bool {
            code { _ = try connection.blocking.read { try $0[index].count() } } != .extensionNotRegistered
        }
        #expect(!canRead())
        let theirs = Self.index()
        let generation = try other.writer.withCore {
            try #require(try $0.register(theirs, withName: "priority"))
        }
        _ = try other.writer.withCore { try ExtensionFiller($0).fillNext(generation) }
        #expect(!canRead())
        // What is written here meanwhile is there in the end.
        try write(-1, "1200")
        try write(-2, "1")
        try write(-3, "1100")
        try other.newConnection().blocking.readWrite {
            try $0.removeObjects(forKeys: ["1100", "1200"], inCollection: "todos")
        }
        while try other.writer.withCore({ try ExtensionFiller($0).fillNext(generation) }) != nil {}
        #expect(canRead())
        try checkIndex(database, index)
        try checkIndex(other, theirs)
    }

    @Test(arguments: [false, true])
    func anExtensionThatMissesRowsWhileItIsFilledCatchesUpOrBeginsAnew(isKnown: Bool) throws {
        let generation = try begin(index)
        _ = try fillNext(generation)
        let other = try folder.open()
        try other.writer { $0.store.missedChangeLog.rowsMax = isKnown ? 1 : 0 }
        try other.newConnection().blocking.readWrite {
            try $0.setObject(Todo(title: "x", priority: -9), forKey: "3", inCollection: "todos")
        }
        _ = try fillNext(generation)
        #expect(try filledThrough(generation) == (isKnown ? 1000 : 500))
        while try fillNext(generation) != nil {}
        try checkIndex(database, index)
    }

    @Test func whatAnotherInstanceReplacesOrUnregistersIsNotFilledOn() throws {
        let generation = try begin(index)
        _ = try fillNext(generation)
        let other = try folder.open()
        let later = Self.index(version: "2")
        try other.blocking.register(later)
        #expect(code { _ = try fillNext(generation) } == .extensionNotRegistered)
        try write(-1, "3")
        try other.blocking.unregister("priority")
        try write(-2, "4")
        let again = try begin(index)
        _ = try fillNext(again)
        try other.blocking.unregister("priority")
        #expect(code { _ = try fillNext(again) } == .extensionNotRegistered)
        try write(-3, "5")
    }

    @Test func aRegistrationOfALaterVersionElsewhereLeavesThisOnesTablesAlone() throws {
        try database.blocking.register(index)
        let other = try folder.open()
        let later = Self.index(version: "2")
        try other.blocking.register(later)
        #expect(
            code { _ = try connection.blocking.read { try $0[index].count() } } == .extensionNotRegistered)
        // The later version hears that it missed what the earlier one wrote.
        try write(-1, "3")
        try other.blocking.close()
        let again = try folder.open()
        try again.blocking.register(later)
        try checkIndex(again, later)
    }

    @Test func aDependentIsRemovedWithItsDependencyWhileItIsFilled() throws {
        try database.blocking.register(ScriptedExtension(fills: false), withName: "base")
        let dependent = ScriptedExtension(dependencies: ["base"], asksFor: "base")
        let generation = try database.writer.withCore {
            try #require(try $0.register(dependent, withName: "dependent"))
        }
        _ = try fillNext(generation)
        try database.blocking.unregister("base")
        try write(-1, "3")
        #expect(code { _ = try fillNext(generation) } == .extensionNotRegistered)
        #expect(Set(dependent.log.lines) == ["depends", "filled 500"])
    }

    @Test func aPartThatNamesAMissingItemGetsAnError() throws {
        let lost = ScriptedExtension(asksFor: "lost", fills: false)
        try database.blocking.register(lost, withName: "lost")
        try write(-1, "3")
        #expect(Set(lost.log.lines) == ["nothing to depend on", "changed"])
    }

    @Test func rowsThatAnExtensionWritesWhileAnotherIsFilledAreHeard() throws {
        let isDue = Lock(false)
        let writing = ScriptedExtension(onFlush: { part in
            guard isDue.withLock({ $0 }),
                let transaction = part.transaction as? YapDatabaseReadWriteTransaction
            else { return }
            isDue.withLock { $0 = false }
            try transaction.replaceObject(Todo(title: "", priority: -3), forKey: "3", inCollection: "todos")
        })
        let first = try database.writer.withCore {
            try #require(try $0.register(writing, withName: "writing"))
        }
        let second = try begin(index)
        // In the transaction in which both get the row.
        isDue.withLock { $0 = true }
        while try fillNext(second) != nil {}
        #expect(try fillNext(first) == nil)
        try checkIndex(database, index)
        let inFill = ScriptedExtension(onFill: { part in
            try (part.transaction as? YapDatabaseReadWriteTransaction)?.set("new", "new")
        })
        #expect(code { try database.blocking.register(inFill, withName: "wrong") } == .extensionsDoNotSettle)
    }

    @Test func anExtensionThatFailsStopsNoOther() throws {
        let failing = ScriptedExtension(onFill: { _ in throw Refused() })
        let other = try begin(index)
        let wrong = try database.writer.withCore {
            try #require(try $0.register(failing, withName: "failing"))
        }
        #expect(try fillNext(other) != nil)
        while try fillNext(other) != nil {}
        #expect(throws: Refused.self) { _ = try fillNext(wrong) }
        try checkIndex(database, index)
    }

    @Test func aFileThatIsBusyForAWhileDoesNotEndARegistration() throws {
        var options = YapDatabaseOptions()
        options.busyTimeoutMilliseconds = 0
        let impatient = try folder.open(options)
        let generation = try #require(
            try impatient.writer { try $0.register(Self.index(), withName: "priority") })
        let steps = FillingSteps(generation)
        func next() throws -> Double? { try impatient.writer { try steps.next($0) } }
        let part = try next()
        try connection.blocking.readWrite { _ throws in
            for _ in 1...FillingSteps.busyRetriesMax { #expect(try next() == part) }
        }
        let later = try #require(try next())
        #expect(try later > #require(part))
        try connection.blocking.readWrite { _ throws in
            for _ in 1...FillingSteps.busyRetriesMax { #expect(try next() == later) }
            #expect(code { _ = try next() } == .busy)
        }
        while try next() != nil {}
        try checkIndex(impatient, Self.index())
    }

    @Test func anExtensionThatSaysThatItIsBusyIsNotTriedAgain() throws {
        let failing = ScriptedExtension(onFill: { _ in throw YapDatabaseError(.busy, "by itself") })
        #expect(code { try database.blocking.register(failing, withName: "failing") } == .busy)
        #expect(database.registeredExtensionNames.isEmpty)
    }

    @Test func aRegistrationWaitsForAnotherProcessThatWritesInBetween() async throws {
        var options = YapDatabaseOptions()
        options.busyTimeoutMilliseconds = 0
        let impatient = try folder.open(options)
        let other = connection
        let (isHeld, mayEnd, isOver) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let parts = Lock<[Double]>([])
        try await impatient.register(Self.index()) { part in
            switch parts.withLock({ parts in (parts.append(part), parts.count).1 }) {
            case 1:
                Thread.detachNewThread {
                    try? other.blocking.readWrite { _ in
                        isHeld.signal()
                        mayEnd.wait()
                    }
                    isOver.signal()
                }
                isHeld.wait()
            case 2:
                // The batch in between found the file busy.
                mayEnd.signal()
                isOver.wait()
            default: break
            }
        }
        #expect(parts.withLock { $0.count > 2 && $0[0] == $0[1] })
        try checkIndex(impatient, Self.index())
    }

    @Test func aCancelledRegistrationMayBeginAgain() async throws {
        let (database, index) = (database, index)
        let task = Task {
            try await database.register(index) { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(database.registeredExtensionNames.isEmpty)
        try write(-1, "1")
        let parts = Log()
        try await database.register(index) { _ in parts.add("") }
        #expect(database.registeredExtensionNames == ["priority"])
        try checkIndex(database, index)
    }

    @Test func anExtensionThatFailsOnARowIsNotRegistered() throws {
        #expect(throws: Refused.self) {
            let failing = ScriptedExtension(onFill: { _ in throw Refused() })
            try database.blocking.register(failing, withName: "failing")
        }
        #expect(database.registeredExtensionNames.isEmpty)
        try write(1, "after")
        try database.blocking.register(index)
        try checkIndex(database, index)
    }

    @Test(arguments: 1...20) func writesAtRandomBetweenTheBatchesAreIndexed(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed &* TestSeed.value)
        let generation = try begin(index)
        repeat {
            for _ in 0..<random.next(in: 0..<12) {
                let key = "\(random.next(in: 0..<1500))"
                switch random.next(in: 0..<40) {
                case 0: try connection.blocking.readWrite { try $0.removeAllObjects(inCollection: "todos") }
                case 1..<14:
                    try connection.blocking.readWrite {
                        try $0.removeObject(forKey: key, inCollection: "todos")
                    }
                default: try write(random.next(in: -1000..<0), key)
                }
            }
        } while try fillNext(generation) != nil
        try checkIndex(database, index)
    }
}

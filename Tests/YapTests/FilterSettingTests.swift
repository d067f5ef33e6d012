import SQLite
import Testing

@testable import Yap

/// `setFilter(version:_:)`: another filter of a filtered view, while the app runs.
@Suite struct FilterSettingTests {
    private typealias Task = FilteredViewTests.Task
    private typealias Auto = YapDatabaseAutoView<Task, String>
    private typealias Filtered = YapDatabaseFilteredView<Task, String>
    private typealias View = YapDatabaseView<Task, String>

    private let folder: TestFolder
    private let parent = Self.parent()
    private let urgent: Filtered

    init() throws {
        folder = try TestFolder()
        urgent = Self.urgent(parent)
    }

    private static func parent() -> Auto {
        Auto(
            "all", of: Task.self, in: "tasks", version: "1", group: { $0.list }, sort: [.by(\.priority)])
    }

    private static func urgent(_ parent: View, version: String = "50", from priority: Int = 50) -> Filtered {
        Filtered("urgent", of: parent, version: version) { _, task in task.priority >= priority }
    }

    private func open(_ views: [View]) throws -> YapDatabase {
        let database = try folder.open { $0.register(Task.self, metadata: Int.self, inCollection: "tasks") }
        for view in views { try database.blocking.register(view) }
        return database
    }

    private static func set(_ priority: Int, _ key: String, _ transaction: YapDatabaseReadWriteTransaction)
        throws
    {
        try transaction.setObject(Task(priority: priority), forKey: key, inCollection: "tasks")
    }

    private func setHundred(_ database: YapDatabase) throws {
        try database.write { transaction in
            for number in 0..<100 { try Self.set(number, "k\(number)", transaction) }
        }
    }

    private func keys(_ view: View, _ database: YapDatabase) throws -> [String] {
        try database.read { try $0[view].keys(in: "home") }
    }

    private func setFilter(from priority: Int, _ transaction: YapDatabaseReadWriteTransaction) throws {
        try transaction[urgent].setFilter(version: "\(priority)") { _, task in task.priority >= priority }
    }

    private func numbers(_ range: Range<Int>) -> [String] { range.map { "k\($0)" } }

    @Test func aFilterThatIsSetCountsFromItsTransactionOn() throws {
        let database = try open([parent, urgent])
        try setHundred(database)
        try database.write { transaction in
            try setFilter(from: 90, transaction)
            #expect(try transaction[urgent].keys(in: "home") == numbers(90..<100))
            try Self.set(95, "k0", transaction)
            try Self.set(60, "k91", transaction)
            #expect(try transaction[urgent].count() == 10)
        }
        try database.write { try Self.set(70, "k92", $0) }
        #expect(try keys(urgent, database) == ["k90", "k93", "k94", "k0"] + numbers(95..<100))
        try database.write { transaction in
            try transaction[urgent].setFilter(
                version: "keys", byKey: { $0 == "home" && $1 == "k7" && $2.priority == 7 })
        }
        #expect(try keys(urgent, database) == ["k7"])
        // The same version is the same filter.
        try database.write { transaction in
            try transaction[urgent].setFilter(version: "keys") { _, _ in true }
        }
        #expect(try keys(urgent, database) == ["k7"])
    }

    @Test func viewsOfTheViewFollowAndOnlyRowsThatEnterOrLeaveAreWritten() throws {
        let last = Filtered("last", of: urgent, version: "1") { _, task in task.priority < 95 }
        let database = try open([parent, urgent, last])
        try setHundred(database)
        try database.write { try setFilter(from: 90, $0) }
        #expect(try keys(last, database) == numbers(90..<95))
        let writes = try database.writer { core in
            let before = core.store.sqlite.totalChangesCount
            try core.alone { try setFilter(from: 89, $0) }
            return core.store.sqlite.totalChangesCount - before
        }
        // In each of two views the entry, its page and its group; the version, and the snapshot.
        #expect(writes <= 8)
        #expect(try keys(last, database) == numbers(89..<95))
    }

    @Test func aFilterOfATransactionThatFailsIsForgotten() throws {
        let database = try open([parent, urgent])
        try setHundred(database)
        #expect(throws: Refused.self) {
            try database.write { transaction in
                try setFilter(from: 10, transaction)
                throw Refused()
            }
        }
        try database.write { transaction in
            try setFilter(from: 20, transaction)
            transaction.rollback()
        }
        try database.write { transaction in
            try? transaction.savepoint {
                try setFilter(from: 30, transaction)
                throw Refused()
            }
            try Self.set(40, "k99", transaction)
        }
        #expect(try keys(urgent, database) == numbers(50..<99))
        try database.write { transaction in
            try setFilter(from: 60, transaction)
            try? transaction.savepoint {
                try setFilter(from: 30, transaction)
                throw Refused()
            }
            try Self.set(59, "k98", transaction)
        }
        #expect(try keys(urgent, database) == numbers(60..<98))
    }

    @Test func membersOfACommitFollowEachOthersFilters() throws {
        let database = try open([parent, urgent])
        try setHundred(database)
        try database.writer { core in
            try core.begin()
            try core.member { try setFilter(from: 60, $0) }
            #expect(throws: Refused.self) {
                try core.member { transaction in
                    try setFilter(from: 70, transaction)
                    throw Refused()
                }
            }
            try core.member { try Self.set(59, "k99", $0) }
            try core.commit()
        }
        #expect(try keys(urgent, database) == numbers(60..<99))
        try database.writer { core in
            try core.begin()
            try core.member { try setFilter(from: 10, $0) }
            try core.member { try setFilter(from: 20, $0) }
            core.abandon()
        }
        try database.write { try Self.set(30, "k60", $0) }
        #expect(try keys(urgent, database) == numbers(61..<99))
    }

    @Test func theNextRunWithTheVersionThatWasSetKeepsTheRows() throws {
        let log = Log()
        func view(version: String, from priority: Int) -> Filtered {
            Filtered(
                "urgent", of: parent, version: version,
                filterByKey: { _, key, task in
                    log.add(key)
                    return task.priority >= priority
                })
        }
        var database = try open([parent, urgent])
        try setHundred(database)
        try database.write { try setFilter(from: 90, $0) }
        try database.blocking.close()
        let later = view(version: "90", from: 90)
        database = try open([parent, later])
        #expect(log.take() == [])
        #expect(try keys(later, database) == numbers(90..<100))
        try database.blocking.close()
        let former = view(version: "50", from: 50)
        database = try open([parent, former])
        #expect(log.take().count == 100)
        #expect(try keys(former, database) == numbers(50..<100))
    }

    @Test func aFilterThatIsSetWithAnotherOrderOfTheParentKeepsTheRowsInTheNextRun() throws {
        let (parent, calls) = (Self.parent(), Log())
        let urgent = Self.urgent(parent)
        var database = try open([parent, urgent])
        try setHundred(database)
        try database.write { transaction in
            try transaction[parent].setSort(version: "by key", [.byKey()])
            try transaction[urgent].setFilter(version: "90") { _, task in task.priority >= 90 }
        }
        try database.blocking.close()
        let later = YapDatabaseAutoView<Task, String>(
            parent.name, of: Task.self, in: "tasks", version: "by key", group: { _ in "home" },
            sort: [.byKey()])
        let filtered = Filtered(
            "urgent", of: later, version: "90",
            filterByKey: { _, key, task in
                calls.add(key)
                return task.priority >= 90
            })
        database = try open([later, filtered])
        #expect(calls.take() == [])
        #expect(try keys(filtered, database) == numbers(90..<100))
    }

    @Test func anotherProcessWithTheFormerFilterDoesNotReadTheView() throws {
        let database = try open([parent, urgent])
        try setHundred(database)
        let (otherParent, otherView) = (Self.parent(), Self.urgent(Self.parent()))
        let other = try open([otherParent, otherView])
        #expect(try keys(otherView, other).count == 50)
        try database.write { try setFilter(from: 90, $0) }
        #expect(code { _ = try keys(otherView, other) } == .extensionNotRegistered)
        try other.write { try Self.set(99, "k0", $0) }
        try database.write { _ in }
        #expect(try keys(urgent, database).count == 11)
    }

    @Test func viewsThatAreNotRegisteredMissTheFilterAndCatchUp() throws {
        let last = Filtered("last", of: urgent, version: "1") { _, _ in true }
        var database = try open([parent, urgent, last])
        try setHundred(database)
        try database.blocking.close()
        let again = Self.urgent(parent)
        database = try open([parent, again])
        try database.write { transaction in
            try transaction[again].setFilter(version: "97") { _, task in task.priority >= 97 }
        }
        let child = Filtered("last", of: again, version: "1") { _, _ in true }
        try database.blocking.register(child)
        #expect(try keys(child, database) == numbers(97..<100))
    }

    @Test func aListFollowsAnotherFilterRowByRow() async throws {
        let database = try open([parent, urgent])
        try await database.newConnection().readWrite { transaction in
            for number in 0..<10 { try Self.set(number * 10, "k\(number)", transaction) }
        }
        let connection = database.newConnection()
        var changes = connection.changes(of: urgent).makeAsyncIterator()
        var list = YapDatabaseViewSections<String, Task>()
        list.apply(try #require(try await changes.next()))
        for (priority, kind, count) in [(70, YapDatabaseViewRowChange.Kind.delete, 2), (40, .insert, 3)] {
            try await connection.readWrite { try setFilter(from: priority, $0) }
            let change = try #require(try await changes.next())
            #expect(!change.isReset && change.rowChanges.map(\.kind) == Array(repeating: kind, count: count))
            list.apply(change)
            #expect(
                list.sections.map { $0.rows.map(\.priority) } == [
                    Array(stride(from: priority, to: 100, by: 10))
                ])
        }
    }

    @Test func databasesThatShareADescriptionDoNotShareAFilter() throws {
        let database = try open([parent, urgent])
        try setHundred(database)
        let otherFolder = try TestFolder()
        let other = try otherFolder.open { $0.register(Task.self, metadata: Int.self, inCollection: "tasks") }
        try other.blocking.register(parent)
        try other.blocking.register(urgent)
        for database in [database, other] {
            try database.write { transaction in
                #expect(code { try setFilter(from: 90, transaction) } == .invalidExtension)
                try Self.set(49, "k50", transaction)
                try Self.set(51, "k51", transaction)
            }
        }
        #expect(try keys(urgent, database) == numbers(51..<100))
        try other.blocking.unregister("urgent")
        try database.write { try setFilter(from: 98, $0) }
        #expect(try keys(urgent, database) == numbers(98..<100))
        #expect(code { try other.blocking.register(urgent) } == .invalidExtension)
        try other.write { try Self.set(60, "k0", $0) }
        try database.write { try Self.set(99, "k0", $0) }
        #expect(try keys(urgent, database) == ["k98", "k0", "k99"])
        try database.blocking.close()
        try other.blocking.register(urgent)
        #expect(try keys(urgent, other) == [])
        try other.write { try setFilter(from: 51, $0) }
        #expect(try keys(urgent, other) == ["k51", "k0"])
    }
    /// What a filter holds is the app's, and may use the view where it is released.
    @Test func aFilterIsReleasedWithoutALock() throws {
        final class Held: Sendable {
            let whenReleased: @Sendable () -> Void
            init(whenReleased: @escaping @Sendable () -> Void) { self.whenReleased = whenReleased }
            deinit { whenReleased() }
        }
        let (database, released) = (try open([parent, urgent]), Log())
        func setFilter(_ version: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
            let held = Held { [weak urgent] in
                if urgent?.isVersion(version, at: 0) == false { released.add(version) }
            }
            try transaction[urgent].setFilter(version: version) { _, _ in withExtendedLifetime(held) { true }
            }
        }
        try database.write { try setFilter("1", $0) }
        try database.write { try setFilter("2", $0) }
        #expect(released.lines == ["1"])
        try database.write { transaction in
            try setFilter("3", transaction)
            transaction.rollback()
        }
        #expect(released.lines == ["1", "3"])
        try database.write { transaction in
            try setFilter("4", transaction)
            try setFilter("5", transaction)
        }
        #expect(released.lines == ["1", "3", "4", "2"])
    }

    @Test func aTransactionThatReadsSetsNoFilter() throws {
        let database = try open([parent, urgent])
        try database.read { transaction in
            let part = try transaction[urgent] as? YapDatabaseFilteredViewTransaction
            #expect(code { try part?.setFilter(version: "2") { _, _ in true } } == .readOnlyTransaction)
        }
    }
}

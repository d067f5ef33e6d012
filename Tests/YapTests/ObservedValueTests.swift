import Observation
import System
import Testing

@testable import Yap

/// A value on the main actor that follows a query or a list.
@MainActor @Suite struct ObservedValueTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() async throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
    }

    private func set(_ key: String, _ title: String) async throws {
        try await connection.readWrite {
            try $0.setObject(Todo(title: title), forKey: key, inCollection: "todos")
        }
    }

    /// Waits until a condition of observed values is true, as Observation reports changes.
    private func until(_ condition: @MainActor () -> Bool) async {
        while !condition() {
            await withCheckedContinuation { (next: CheckedContinuation<Void, Never>) in
                // It is reported before the change is made, on the main actor: the loop goes on after it.
                _ = withObservationTracking(condition) { Task { @MainActor in next.resume() } }
            }
        }
        #expect(condition())
    }

    @Test func aValueFollowsItsQuery() async throws {
        let count = YapDatabaseObservedValue(
            -1, following: connection.observe { try $0.numberOfKeys(inCollection: "todos") })
        #expect(count.value == -1)
        await until { count.value == 0 }
        try await set("1", "Milk")
        await until { count.value == 1 }
        guard case .isFollowing = count.state else {
            Issue.record("\(count.state)")
            return
        }
    }

    @Test func aListFollowsItsView() async throws {
        let view = YapDatabaseAutoView(
            "view", of: Todo.self, in: "todos", version: "1", group: { $0.isDone ? nil : 0 },
            sort: [.by(\.title)])
        try await database.register(view)
        let list = YapDatabaseObservedValue(
            YapDatabaseViewSections<Int, Todo>(), following: connection.changes(of: view)
        ) { $0.apply($1) }
        try await set("1", "Milk")
        try await set("2", "Bread")
        await until { list.value.sections.first?.rows.map(\.title) == ["Bread", "Milk"] }
        try await connection.readWrite { try $0.removeObject(forKey: "2", inCollection: "todos") }
        await until { list.value.sections.first?.rows.map(\.title) == ["Milk"] }
    }

    @Test func anErrorOfTheQueryEndsTheValueAndIsInItsState() async throws {
        struct Refusal: Error {}
        let count = YapDatabaseObservedValue(
            0,
            following: connection.observe { transaction in
                let count = try transaction.numberOfKeys(inCollection: "todos")
                if count > 0 { throw Refusal() }
                return count
            })
        try await set("1", "Milk")
        await until { if case .hasFailed(let error) = count.state { error is Refusal } else { false } }
        #expect(count.value == 0)
    }

    @Test func theEndOfTheDatabaseIsInTheState() async throws {
        let count = YapDatabaseObservedValue(
            -1, following: connection.observe { try $0.numberOfKeys(inCollection: "todos") })
        await until { count.value == 0 }
        try await database.close()
        await until { if case .hasEnded = count.state { true } else { false } }
        #expect(count.value == 0)
    }

    @Test func aReleasedObservedValueFollowsNoMore() async throws {
        /// Counts from 0 on, for each value that is asked for, and reports its end.
        struct Numbers: AsyncSequence, Sendable {
            let ended: AsyncStream<Void>.Continuation
            func makeAsyncIterator() -> AsyncStream<Int>.Iterator {
                let (numbers, more) = AsyncStream.makeStream(of: Int.self)
                more.onTermination = { [ended] _ in ended.yield() }
                more.yield(1)
                return numbers.makeAsyncIterator()
            }
        }
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        var number: YapDatabaseObservedValue<Int>? = YapDatabaseObservedValue(
            0, following: Numbers(ended: ended))
        await until { number?.value == 1 }
        number = nil
        var all = ends.makeAsyncIterator()
        #expect(await all.next() != nil)
    }
}

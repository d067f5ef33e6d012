import Foundation
import Testing
import Yap

let downloads = YapDatabaseActionManager("downloads", of: Bookmark.self, in: "bookmarks", version: "1") {
    bookmark in
    guard bookmark.readAt == nil, let due = bookmark.downloadAt else { return [] }
    return [YapDatabaseAction("download", at: due, retryAfterSeconds: 300, requiresNetwork: true)]
}

extension Bookmark {
    /// Bookmarks with a rating are downloaded.
    fileprivate var downloadAt: Date? { rating > 0 ? Date(timeIntervalSince1970: Double(rating)) : nil }
}

extension YapDatabaseReadTransaction {
    fileprivate func bookmark(_ key: String) throws -> Bookmark? {
        try object(Bookmark.self, forKey: key, inCollection: "bookmarks")
    }
}

/// `docs/guide/ACTIONS.md`: its blocks stand here, and do what the page says.
@Suite struct ActionsPageTests {
    private let folder: Folder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() async throws {
        let list = try await BookmarkList(
            [
                ("a", Bookmark(title: "a", rating: 2)), ("b", Bookmark(title: "b", rating: 1)),
                ("c", Bookmark()),
            ])
        (folder, database, connection) = (list.folder, list.database, list.connection)
        try await database.register(downloads)
    }

    @Test func dueActionsRunUntilTheirObjectsNoLongerHaveThem() async throws {
        let next = try await connection.read { try $0[downloads].actions(limit: 10) }
        #expect(next.map(\.id.key) == ["b", "a"])
        let load: @Sendable (String) async throws -> (date: Date, text: String) = {
            (Date(timeIntervalSince1970: 7), $0)
        }
        let (database, connection) = (database, connection)
        let running = Task {
            try await database.run(downloads, runningMax: 2) { action in
                let text = try await load(action.key)
                try await connection.readWrite { transaction in
                    guard var bookmark = try transaction.bookmark(action.key) else { return }
                    bookmark.readAt = text.date
                    try transaction.setObject(bookmark, forKey: action.key, inCollection: "bookmarks")
                }
            }
        }
        for try await count in connection.observe({ try $0[downloads].count() }) where count == 0 { break }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
    }

    @Test func actionsWaitForTheNetwork() async throws {
        let network = AsyncStream { continuation in
            continuation.yield(false)
            continuation.finish()
        }
        let handle: @Sendable (YapDatabaseStartedAction<Bookmark>) async throws -> Void = { _ in }
        let show: (String) -> Void = { #expect($0 == "b waits for the network") }
        let runner = YapDatabaseActionRunner(downloads, in: database)
        runner.isReachable = false
        let task = Task { try await runner.run { action in try await handle(action) } }
        for await isReachable in network { runner.isReachable = isReachable }
        for await status in runner.statuses where status.obstacle == .network {
            show("\(status.next?.id.key ?? "") waits for the network")
            break
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aTestMovesTheClock() async throws {
        let clock = YapDatabaseManualClock(Date(timeIntervalSince1970: 0))
        let runner = YapDatabaseActionRunner(downloads, in: database, clock: .manual(clock))
        let (started, continuation) = AsyncStream.makeStream(of: String.self)
        let task = Task { try await runner.run { continuation.yield($0.key) } }
        for await status in runner.statuses where status.obstacle == .date { break }
        clock.advance(bySeconds: 1)
        for await key in started {
            #expect(key == "b")
            break
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// A version of the app with more fields: what it fetches, and which rows it looks at.
@Suite struct NewFieldsTests {
    private let cloud = TestCloud()
    private let laptop: SyncedDevice
    private let folder: TemporaryFolder
    private let container: CKContainer
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        laptop = try SyncedDevice(cloud)
        container = cloud.device(user: "ada").container
        path = folder.file("todos.yap")
    }

    private func open<Model: CloudModel>(
        _ type: Model.Type, and others: CloudSyncModel..., onAnotherDevice: Bool = false
    ) throws -> (YapDatabase, CloudSync) {
        let path = onAnotherDevice ? folder.file("other.yap") : path
        let container = onAnotherDevice ? cloud.device(user: "ada").container : container
        let database = try YapDatabase(path: path) {
            $0.register(type, inCollection: "todos")
            $0.register(Memo.self, inCollection: "notes")
        }
        let sync = try CloudSync(
            database, container: container, models: [.model(type, collection: "todos")] + others,
            zone: "todos", scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: SeededRandomSource(seed: 5))
        return (database, sync)
    }

    /// Runs an earlier version of the app, which fetches what the laptop has set and sets objects of its own.
    private func runEarlierVersion(_ keys: [String] = ["a", "b"]) throws {
        laptop.syncNow()
        let (database, sync) = try open(EarlierTodo.self)
        try database.newConnection().blocking.readWrite { transaction in
            for key in keys {
                try transaction.setObject(EarlierTodo(title: key), forKey: key, inCollection: "todos")
            }
        }
        // Some rows are verified after each fetch.
        for _ in 0..<3 { #expect(sync.syncNowInline().state == .idle) }
        try database.blocking.close()
    }

    /// The names in the requests for records by their names.
    private func lookups(since count: Int = 0) -> [[String]] {
        cloud.requests.dropFirst(count).filter { $0.kind == .fetchRecords }.map { request in
            let body = String(decoding: request.request.body, as: UTF8.self)
            return body.split(separator: "\"recordName\":\"").dropFirst().map { name in
                String(name.prefix { $0 != "\"" })
            }.sorted()
        }
    }

    /// How many requests began to fetch a zone from the beginning.
    private func fullFetchCount(since count: Int) -> Int {
        cloud.requests.dropFirst(count).count {
            $0.kind == .fetchRecordZoneChanges
                && !String(decoding: $0.request.body, as: UTF8.self).contains("syncToken")
        }
    }

    private func todo(_ key: String, _ database: YapDatabase) throws -> Todo? {
        try database.newConnection().blocking.read {
            try $0.object(Todo.self, forKey: key, inCollection: "todos")
        }
    }

    @Test("189. a version with new fields fetches the records that have them, and no others")
    func onlyRecordsWithNewFieldsAreFetched() throws {
        try laptop.set(Todo(title: "eggs", note: "six"), "1")
        try runEarlierVersion()
        let before = cloud.requests.count
        let (database, sync) = try open(Todo.self)
        #expect(sync.syncNowInline().state == .idle)
        #expect(lookups(since: before) == [["1"]])
        #expect(fullFetchCount(since: before) == 0)
        #expect(try todo("1", database) == Todo(title: "eggs", note: "six"))
        try database.blocking.close()
        // Once is enough.
        let (again, secondSync) = try open(Todo.self)
        #expect(secondSync.syncNowInline().state == .idle)
        #expect(lookups(since: before).count == 1)
        try again.blocking.close()
    }

    @Test("189. where no record has a new field, nothing is fetched again")
    func withoutSuchRecordsNothingIsFetchedAgain() throws {
        try runEarlierVersion()
        let before = cloud.requests.count
        let (database, sync) = try open(Todo.self)
        for _ in 0..<3 { #expect(sync.syncNowInline().state == .idle) }
        #expect(lookups(since: before).isEmpty)
        #expect(fullFetchCount(since: before) == 0)
        try database.blocking.close()
    }

    @Test("189. nothing is sent before these records were fetched, also after the app has ended meanwhile")
    func nothingIsSentBeforeTheyWereFetched() throws {
        try laptop.set(Todo(title: "eggs", note: "six"), "1")
        try runEarlierVersion()
        let (database, _) = try open(Todo.self)
        try database.newConnection().blocking.readWrite {
            try $0.setObject(Todo(title: "brown eggs"), forKey: "1", inCollection: "todos")
        }
        try database.blocking.close()
        let before = cloud.requests.count
        let (again, sync) = try open(Todo.self)
        #expect(sync.syncNowInline().state == .idle)
        let kinds = cloud.requests.dropFirst(before).compactMap(\.kind)
        let sent = try #require(kinds.firstIndex(of: .modifyRecords))
        let fetched = try #require(kinds.firstIndex(of: .fetchRecords))
        #expect(fetched < sent)
        #expect(try todo("1", again) == Todo(title: "brown eggs", note: "six"))
        try again.blocking.close()
    }

    @Test("189. more records than a server takes at once are fetched in several requests")
    func moreRecordsThanTheServerTakes() throws {
        let keys = (100..<350).map { "\($0)" }
        for key in keys { try laptop.set(Todo(title: "eggs", note: key), key) }
        try runEarlierVersion()
        let before = cloud.requests.count
        cloud.fail(.fetchRecords, with: .limitExceeded)
        let (database, sync) = try open(Todo.self)
        #expect(sync.syncNowInline().state == .idle)
        #expect(lookups(since: before).map(\.count) == [200, 100, 150])
        for key in keys { #expect(try todo(key, database)?.note == key) }
        try database.blocking.close()
    }

    @Test("189. a record that was deleted meanwhile is wanted no more")
    func aRecordThatWasDeletedMeanwhile() throws {
        try laptop.set(Todo(title: "eggs", note: "six"), "1")
        try runEarlierVersion()
        try laptop.remove("1")
        laptop.syncNow()
        let (database, sync) = try open(Todo.self)
        #expect(sync.syncNowInline().state == .idle)
        #expect(try todo("1", database) == nil)
        try database.blocking.close()
    }

    @Test("189. a failed fetch is retried, and its requests are kept")
    func aFetchThatFails() throws {
        try laptop.set(Todo(title: "eggs", note: "six"), "1")
        try runEarlierVersion()
        cloud.fail(.fetchRecords, with: .serviceUnavailable, times: 1)
        let (database, sync) = try open(Todo.self)
        _ = sync.syncNowInline()
        cloud.clock.advance(bySeconds: 3_600)
        #expect(sync.syncNowInline().state == .idle)
        #expect(try todo("1", database)?.note == "six")
        try database.blocking.close()
    }

    @Test("189. a restored field and a removed field cause a full fetch")
    func aFieldThatReturnsOrIsRemoved() throws {
        try runEarlierVersion()
        var (database, sync) = try open(Todo.self)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        for _ in 0..<2 {
            let before = cloud.requests.count
            (database, sync) = try open(EarlierTodo.self)
            #expect(sync.syncNowInline().state == .idle)
            #expect(fullFetchCount(since: before) == 1)
            try database.blocking.close()
            let middle = cloud.requests.count
            (database, sync) = try open(Todo.self)
            #expect(sync.syncNowInline().state == .idle)
            #expect(fullFetchCount(since: middle) == 1)
            try database.blocking.close()
        }
    }

    @Test("189. a file whose records were fetched by an earlier library is fetched in full, once")
    func aFileOfAnEarlierLibrary() throws {
        try laptop.set(Todo(title: "eggs", note: "six"), "1")
        try runEarlierVersion()
        try OldTables.rewrite(path, name: "cloudKit", toVersion: 4)
        let before = cloud.requests.count
        var (database, sync) = try open(Todo.self)
        #expect(sync.syncNowInline().state == .idle)
        #expect(fullFetchCount(since: before) == 1)
        #expect(try todo("1", database) == Todo(title: "eggs", note: "six"))
        try database.blocking.close()
        let middle = cloud.requests.count
        (database, sync) = try open(RatedTodo.self)
        #expect(sync.syncNowInline().state == .idle)
        #expect(fullFetchCount(since: middle) == 0)
        try database.blocking.close()
    }

    @Test("189. a value that the version before couldn't read is fetched again")
    func aValueThatTheVersionBeforeCouldNotRead() throws {
        let (there, otherSync) = try open(NotedLevelledTodo.self, onAnotherDevice: true)
        try there.newConnection().blocking.readWrite {
            try $0.setObject(NotedLevelledTodo(level: .urgent), forKey: "1", inCollection: "todos")
        }
        #expect(otherSync.syncNowInline().state == .idle)
        try there.blocking.close()
        var (database, sync) = try open(EarlierLevelledTodo.self)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        (database, sync) = try open(NotedLevelledTodo.self)
        #expect(sync.syncNowInline().state == .idle)
        let level = try database.newConnection().blocking.read {
            try $0.object(NotedLevelledTodo.self, forKey: "1", inCollection: "todos")?.level
        }
        #expect(level == .urgent)
        try database.blocking.close()
    }

    @Test("189. rows of a model without new fields are not looked at")
    func rowsOfOtherModelsAreNotLookedAt() throws {
        let notes = CloudSyncModel.model(Memo.self, collection: "notes")
        var (database, sync) = try open(EarlierTodo.self, and: notes)
        try database.newConnection().blocking.readWrite { transaction in
            for key in 0..<10 {
                try transaction.setObject(Memo(text: "\(key)"), forKey: "\(key)", inCollection: "notes")
            }
        }
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        Memo.encodedCount.withLock { $0 = 0 }
        (database, sync) = try open(Todo.self, and: notes)
        #expect(Memo.encodedCount.withLock { $0 } == 0)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
    }
}

private struct Memo: CloudModel {
    var text = ""

    static let recordType = "note"
    static let encodedCount = Lock(0)
    static let fields = CloudFields<Memo> {
        $0.field(
            \.text,
            toCloud: { text in
                encodedCount.withLock { $0 += 1 }
                return text
            }, fromCloud: { $0 as? String })
    }
}

/// The todo with one field more.
private struct RatedTodo: CloudModel {
    var title = ""
    var isDone = false
    var priority = 0
    var note: String?
    var rating = 0

    static let recordType = "todo"
    static let fields = CloudFields<RatedTodo> {
        $0.field(\.title)
        $0.field(\.isDone, as: "done")
        $0.field(\.priority)
        $0.field(\.note)
        $0.field(\.rating)
    }
}

private enum EarlierLevel: String, Codable, Sendable, CloudFieldValue { case low, normal }
private enum Level: String, Codable, Sendable, CloudFieldValue { case normal, urgent }

private struct EarlierLevelledTodo: CloudModel {
    var title = ""
    var level = EarlierLevel.normal

    static let recordType = "todo"
    static let fields = CloudFields<EarlierLevelledTodo> {
        $0.field(\.title)
        $0.field(\.level)
    }
}

private struct NotedLevelledTodo: CloudModel {
    var title = ""
    var level = Level.normal
    var note: String?

    static let recordType = "todo"
    static let fields = CloudFields<NotedLevelledTodo> {
        $0.field(\.title)
        $0.field(\.level)
        $0.field(\.note)
    }
}

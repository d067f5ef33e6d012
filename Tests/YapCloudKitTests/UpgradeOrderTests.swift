import CloudKit
import CloudKitTesting
import Foundation
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// A property becomes a field, and the engine's thread is as early as it can be: it has counted the queue and done all
/// it can before `CloudSync` asks for the first fetch.
@Suite struct UpgradeOrderTests {
    private let cloud = TestCloud()
    private let phone: RatedDevice
    private let laptop: RatedDevice

    /// Both devices have the row in version 1, where the rating stays on the device.
    init() throws {
        (phone, laptop) = (try RatedDevice(cloud), try RatedDevice(cloud))
        try phone.open(.first)
        try phone.set(title: "eggs", 0)
        #expect(phone.syncNow()?.state == .idle)
        try laptop.open(.first)
        #expect(laptop.syncNow()?.state == .idle)
    }

    /// The phone has version 2 from here on. The laptop knows the newest version of the row, and nothing of its rating.
    private func ratePhone(_ rating: Double) throws {
        try phone.open(.second)
        try phone.set(title: "eggs", rating)
        #expect(phone.syncNow()?.state == .idle)
        #expect(laptop.syncNow()?.state == .idle)
    }

    /// Both devices have the rating, and the laptop's merge log says what it gave up.
    private func expectEverywhere(_ rating: Double, dropped: [String]) throws {
        #expect(laptop.syncNow()?.state == .idle)
        #expect(phone.syncNow()?.state == .idle)
        #expect(try [phone.rating(), laptop.rating()] == [rating, rating])
        #expect(laptop.dropped == dropped)
    }

    @Test("182. a row's value of a new field isn't sent before the zone was fetched with it")
    func anUpgradeThatIsCountedBeforeItsFetch() throws {
        try laptop.set(title: "eggs", 4)
        try ratePhone(1.5)
        try laptop.open(.second)
        try expectEverywhere(1.5, dropped: ["4.0"])
    }

    @Test("182. nor by the next run, when the one that upgraded ended at once")
    func aRunThatEndsAfterItsUpgrade() throws {
        try laptop.set(title: "eggs", 4)
        try ratePhone(1.5)
        try laptop.open(.second, runs: false)
        try laptop.open(.second)
        try expectEverywhere(1.5, dropped: ["4.0"])
    }

    @Test("182. nor by the next run, when the one that upgraded ended between two pages")
    func aRunThatEndsBetweenTwoPages() throws {
        try laptop.set(title: "eggs", 4)
        try phone.fill(rowsCount: 450)
        try ratePhone(1.5)
        try laptop.open(.second, runs: false)
        try laptop.runToTheSecondPage()
        try laptop.open(.second)
        try expectEverywhere(1.5, dropped: ["4.0"])
    }

    @Test(
        "182. nor after version 1 was back, in which another device's rating came", arguments: [false, true])
    func backToTheFirstVersionAndAgainToTheSecond(isSynced: Bool) throws {
        try laptop.set(title: "eggs", 4)
        try ratePhone(1.5)
        try laptop.open(.second, runs: isSynced)
        if isSynced { #expect(laptop.syncNow()?.state == .idle) }
        try laptop.open(.first)
        #expect(laptop.syncNow()?.state == .idle)
        try ratePhone(2.5)
        try laptop.open(.second)
        try expectEverywhere(2.5, dropped: isSynced ? ["4.0", "1.5"] : ["4.0", "4.0"])
    }

    @Test(
        "184. an edit of a value queued by the previous upgrade is kept, if the server still has that value")
    func anEditOfWhatTheUpgradeBeforeHadQueued() throws {
        try editWhatAnUpgradeQueued(4)
        try laptop.open(.second)
        try expectEverywhere(4, dropped: [])
    }

    @Test("184. it is given up for another device's later rating, and the log says so")
    func anEditOfWhatAnotherDeviceHasChanged() throws {
        try editWhatAnUpgradeQueued(4)
        try phone.set(title: "eggs", 2.5)
        #expect(phone.syncNow()?.state == .idle)
        try laptop.open(.second)
        try expectEverywhere(2.5, dropped: ["4.0"])
        #expect(laptop.rules == [.superseded, .remoteWon])
    }

    /// The laptop's row has the phone's rating, and an upgrade that ends before its fetch has queued it. Then version 1
    /// is back, doesn't fetch, and has another rating.
    private func editWhatAnUpgradeQueued(_ rating: Double) throws {
        try ratePhone(1.5)
        try laptop.open(.second)
        #expect(laptop.syncNow()?.state == .idle)
        try laptop.open(.first, runs: false)
        try laptop.open(.second, runs: false)
        try laptop.open(.first, runs: false)
        try laptop.set(title: "eggs", rating)
    }

    @Test(
        "182. nor where the row is deleted before the fetch, and made again or not", arguments: [false, true])
    func aRowThatIsDeletedBeforeTheFetch(isMadeAgain: Bool) throws {
        try laptop.set(title: "eggs", 4)
        try ratePhone(1.5)
        try laptop.open(.second, runs: false)
        try laptop.remove()
        if isMadeAgain { try laptop.set(title: "eggs", 2.5) }
        let before = cloud.requestCount(.modifyRecords)
        #expect(laptop.syncNow()?.state == .idle)
        #expect(laptop.dropped == ["4.0"])
        #expect(
            cloud.requestCount(.modifyRecords) == before + (isMadeAgain ? 2 : 1), "the deletion, the new row")
        #expect(phone.syncNow()?.state == .idle)
        #expect(try phone.rating() == (isMadeAgain ? 2.5 : nil))
    }

    @Test(
        "198. values sent by a later version without a response don't overwrite another device's later ones"
    )
    func anUnansweredEditAndADeletionByTheVersionBefore() throws {
        try laptop.set(title: "eggs", 1.5)
        try ratePhone(1.5)
        try laptop.open(.second)
        #expect(laptop.syncNow()?.state == .idle)
        cloud.loseRequests(.modifyRecords)
        try laptop.set(title: "eggs", 4)
        #expect(laptop.syncNow()?.state != .idle)
        try laptop.open(.first, runs: false)
        try laptop.remove()
        try phone.set(title: "eggs", 2.5)
        #expect(phone.syncNow()?.state == .idle)

        #expect(laptop.syncNow()?.state == .idle)
        #expect(
            laptop.dropped.count == 1, "this version can't read the value of a field that it doesn't know")
        #expect(laptop.rules.contains(.deletionDropped))
        #expect(phone.syncNow()?.state == .idle)
        #expect(try phone.rating() == 2.5)
    }

    @Test("182. an edit before that fetch is kept, and the log has the replaced value")
    func anEditBeforeTheFetch() throws {
        try ratePhone(1.5)
        try laptop.open(.second, edit: 3)
        try expectEverywhere(3, dropped: [])
        #expect(laptop.rules == [.localKept])
    }

    @Test("182. a row's value of a new field is sent after that fetch, if the server has none")
    func aValueThatTheServerLacks() throws {
        try laptop.set(title: "eggs", 4)
        try laptop.open(.second)
        #expect(laptop.syncNow()?.state == .idle)
        try phone.open(.second)
        try expectEverywhere(4, dropped: [])
    }

    @Test func theEngineFetchesWhatIsToBeFetchedAnewBeforeItSends() {
        let key = EngineBench.database
        let zoneID = EngineBench.zoneID
        var bench = EngineBench()
        var held = QueueCount(pending: 1)
        held.zonesToFetchFirst = [zoneID]
        #expect(bench.handle(.counted(key, held)) == [])
        #expect(bench.handle(.unanswered(key)) == [])
        #expect(bench.handle(.follow(key, zoneID, mayBeMissing: false)) == ["fetch Z"])
        // A page with more behind it.
        #expect(bench.handle(.pageApplied(key, zoneID, moreComing: true, held)) == ["fetch Z"])
        // Another process begins to fetch anew after the last page.
        #expect(bench.handle(.pageApplied(key, zoneID, moreComing: false, held)) == ["fetch Z"])
        let free = QueueCount(pending: 1)
        #expect(bench.handle(.pageApplied(key, zoneID, moreComing: false, free)) == ["send - 400"])
        #expect(bench.handle(.nothingToSend(key, held)) == ["fetch Z"])
    }
}

/// A device on which versions of an app live after each other on one file, each with its engine's thread ahead.
private final class RatedDevice {
    enum Version { case first, second }

    private let cloud: TestCloud
    private let container: CKContainer
    private let folder: TemporaryFolder
    private var app: (database: YapDatabase, sync: CloudSync, scheduler: ManualScheduler)?
    private var version = Version.first
    private let log = Lock<[CloudMergeLogEntry]>([])

    init(_ cloud: TestCloud) throws {
        self.cloud = cloud
        container = cloud.device(user: "ada").container
        folder = try TemporaryFolder()
    }

    deinit { try? app?.database.blocking.close() }

    /// Ends the version that runs and starts another.
    ///
    /// - Parameters:
    ///   - runs: Whether the engine's thread is ahead; if not, it does nothing before `syncNow`.
    ///   - rating: What the person sets before that.
    func open(_ version: Version, runs: Bool = true, edit rating: Double? = nil) throws {
        try app?.database.blocking.close()
        self.version = version
        let database = try YapDatabase(path: folder.file("todos.yap")) {
            switch version {
            case .first: $0.register(UnratedTodo.self, inCollection: "todos")
            case .second: $0.register(RatedTodo.self, inCollection: "todos")
            }
        }
        let model: CloudSyncModel =
            switch version {
            case .first: .model(UnratedTodo.self, collection: "todos")
            case .second: .model(RatedTodo.self, collection: "todos")
            }
        let scheduler = ManualScheduler(clock: cloud.clock)
        let sync = try CloudSync(
            database, container: container, models: [model], zone: "todos", scheduler: scheduler,
            clock: cloud.clock, random: SeededRandomSource(seed: 5),
            whenRegistered: {
                if let rating { try set(title: "eggs", rating, in: database) }
                if runs { scheduler.runUntilQuiet() }
            })
        sync.observeMergeLog { [log] entries in log.withLock { $0 += entries } }
        app = (database, sync, scheduler)
    }

    func syncNow() -> CloudSyncStatus? { app?.sync.syncNowInline() }

    /// Runs until a page of a full fetch lies here and another is to come.
    func runToTheSecondPage() throws {
        let app = try #require(app)
        app.sync.fetch()
        while try !app.database.newConnection().blocking.read({ transaction in
            let tables = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).tables
            return try tables.tokens.hasToken(DatabaseKey(nil))
        }) {
            try #require(app.scheduler.run(stepsMax: 1) == 1)
        }
        #expect(try isFetchedAnew())
    }

    private func isFetchedAnew() throws -> Bool {
        let app = try #require(app)
        return try app.database.newConnection().blocking.read { transaction in
            let tables = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).tables
            return try tables.tokens.fullFetch(app.sync.zoneID, DatabaseKey(nil)) != nil
        }
    }

    func set(title: String, _ rating: Double) throws {
        try set(title: title, rating, in: #require(app).database)
    }

    private func set(title: String, _ rating: Double, in database: YapDatabase) throws {
        try database.newConnection().blocking.readWrite { transaction in
            switch version {
            case .first:
                try transaction.setObject(
                    UnratedTodo(title: title, rating: rating), forKey: "1", inCollection: "todos")
            case .second:
                try transaction.setObject(
                    RatedTodo(title: title, rating: rating), forKey: "1", inCollection: "todos")
            }
        }
    }

    func remove() throws {
        try #require(app).database.newConnection().blocking.readWrite {
            try $0.removeObject(forKey: "1", inCollection: "todos")
        }
    }

    /// Makes rows that fill pages.
    func fill(rowsCount: Int) throws {
        try #require(app).database.newConnection().blocking.readWrite { transaction in
            for number in 0..<rowsCount {
                try transaction.setObject(
                    UnratedTodo(title: "t"), forKey: "row \(number)", inCollection: "todos")
            }
        }
        #expect(syncNow()?.state == .idle)
    }

    func rating() throws -> Double? {
        try #require(app).database.newConnection().blocking.read {
            try $0.object(RatedTodo.self, forKey: "1", inCollection: "todos")?.rating
        }
    }

    /// The ratings that another device's took the place of, as the merge log says.
    var dropped: [String] {
        log.withLock { log in
            log.filter { $0.rule == .remoteWon && $0.field == "rating" }.map { $0.dropped ?? "" }
        }
    }

    var rules: [CloudMergeLogEntry.Rule] { log.withLock { $0.map(\.rule) } }
}

/// The todo before its rating became a field.
private struct UnratedTodo: CloudModel {
    var title = ""
    var rating = 0.0

    static let recordType = "todo"
    static let fields = CloudFields<UnratedTodo> { $0.field(\.title) }
}

private struct RatedTodo: CloudModel {
    var title = ""
    var rating = 0.0

    static let recordType = "todo"
    static let fields = CloudFields<RatedTodo> {
        $0.field(\.title)
        $0.field(\.rating)
    }
}

import CloudKit
import CloudKitTesting
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// What the server said of a change that it refuses is where an app and its developer look.
@Suite struct RefusalReasonTests {
    @Test func aValueOfAnotherTypeThanTheSchemasIsRefusedWithTheFieldsName() throws {
        let cloud = TestCloud()
        let first = try Device<Ranked>(cloud)
        try first.set(Ranked(rank: 1), "1")
        #expect(first.sync.syncNowInline().state == .idle)
        let second = try Device<RankedByText>(cloud)
        try second.set(RankedByText(rank: "high"), "2")
        let reason = try second.reasonOfRefusal("2", .invalidArguments)
        #expect(
            reason.contains("STRING for field 'rank' for type 'ranked', defined to be: INT64"), "\(reason)")
    }

    @Test func aTypeThatProductionLacksIsTriedAgainAtSyncNowAndAtTheStart() throws {
        let cloud = try TestCloud().production()
        let device = try Device<Ranked>(cloud)
        try device.set(Ranked(rank: 1), "1")
        let reason = try device.reasonOfRefusal("1", .invalidArguments)
        #expect(reason == "Cannot create new type ranked in production schema")
        #expect(device.status.contains(reason) && device.status.contains("`yap schema deploy`"))
        let refused = cloud.requestCount(.modifyRecords)
        #expect(try device.reasonOfRefusal("1", .invalidArguments) == reason)
        #expect(cloud.requestCount(.modifyRecords) == refused + 1, "once for a call")
        try device.relaunch()
        device.scheduler.runUntilQuiet()
        #expect(cloud.requestCount(.modifyRecords) == refused + 2, "once for a start")
    }

    @Test func aRejectedChangeIsSentAtSyncNowOnceTheServerAcceptsIt() throws {
        let cloud = TestCloud()
        let device = try Device<Ranked>(cloud)
        try device.set(Ranked(rank: 1), "1")
        cloud.fail(.modifyRecords, with: .invalidArguments, times: 1)
        _ = try device.reasonOfRefusal("1", .invalidArguments)
        #expect(device.sync.syncNowInline().state == .idle)
        #expect(try device.quarantined().isEmpty)
        let left = try device.read { ext in
            try ext.tables.first("SELECT count(*) FROM cloudKit_refusal_cloudKit") { $0.int64(at: 0) }
        }
        #expect(left == 0, "the reason is removed with the refusal")
    }

    @Test func aFetchWithANewVersionOfTheSchemaTriesAgainWhatTheEarlierOneRefused() throws {
        let cloud = TestCloud()
        let device = try Device<Ranked>(cloud)
        try device.set(Ranked(rank: 0), "0")
        for _ in 1...2 { #expect(device.sync.syncNowInline().state == .idle) }
        cloud.fail(.modifyRecords, with: .invalidArguments, times: 1)
        try device.set(Ranked(rank: 1), "1")
        _ = try device.reasonOfRefusal("1", .invalidArguments)
        let refused = cloud.requestCount(.modifyRecords)
        device.fetch()
        #expect(cloud.requestCount(.modifyRecords) == refused, "the same schema would refuse it again")
        // The schema gets another type.
        cloud.device(user: "ada").container.privateCloudDatabase
            .add(CKModifyRecordsOperation(recordsToSave: [CKRecord(recordType: "other")]))
        device.fetch()
        #expect(cloud.requestCount(.modifyRecords) == refused + 2, "the other type's record, and this one")
        #expect(try device.quarantined().isEmpty && device.sync.currentStatus.state == .idle)
    }

    @Test(arguments: [1_200_000, 2_500_000])
    func aRecordThatIsTooLargeIsRefusedWithTheLimit(bytesCount: Int) throws {
        let device = try Device<RankedByText>(TestCloud())
        try device.set(RankedByText(rank: String(repeating: "x", count: bytesCount)), "1")
        let reason = try device.reasonOfRefusal("1", .limitExceeded)
        #expect(reason.contains("bytes; ") && reason.contains(" are allowed"), "\(reason)")
        let requests = device.cloud.requestCount(.modifyRecords)
        _ = try device.reasonOfRefusal("1", .limitExceeded)
        #expect(device.cloud.requestCount(.modifyRecords) == requests, "no schema makes it fit")
    }

    /// The command that shows a device's file has it too.
    @Test func anInspectedFileHasTheReason() throws {
        let device = try Device<Ranked>(try TestCloud().production())
        try device.set(Ranked(rank: 1), "1")
        let reason = try device.reasonOfRefusal("1", .invalidArguments)
        let inspection = try SyncInspection(path: device.path)
        let database = try #require(inspection.registrations.first?.content?.accounts.first?.databases.first)
        #expect(
            database.quarantined.map(\.problem) == [
                .refused(recordName: "1", .invalidArguments, reason: reason)
            ]
        )
    }

    /// A file that an earlier version made has no reasons, and says the code alone.
    @Test func aFileWithoutReasonsIsReadToo() throws {
        let device = try Device<Ranked>(try TestCloud().production())
        try device.set(Ranked(rank: 1), "1")
        _ = try device.reasonOfRefusal("1", .invalidArguments)
        try device.close()
        try Connection(path: device.path).execute("DROP TABLE cloudKit_refusal_cloudKit")
        let inspection = try SyncInspection(path: device.path)
        let database = try #require(inspection.registrations.first?.content?.accounts.first?.databases.first)
        #expect(database.quarantined.map(\.problem) == [.refused(recordName: "1", .invalidArguments)])
        try device.relaunch()
        #expect(try device.quarantined() == [.refused(recordName: "1", .invalidArguments)])
    }
}

private struct Ranked: Codable, Sendable, CloudModel {
    static let recordType = "ranked"
    static let fields = CloudFields<Ranked> { $0.field(\.rank) }
    var rank = 0
}

private struct RankedByText: Codable, Sendable, CloudModel {
    static let recordType = "ranked"
    static let fields = CloudFields<RankedByText> { $0.field(\.rank) }
    var rank = ""
}

/// A device with objects of one type.
private final class Device<Model: CloudModel & Codable & Sendable> {
    let cloud: TestCloud
    private let folder: TemporaryFolder
    private let container: CKContainer
    private var database: YapDatabase
    private(set) var sync: CloudSync
    private(set) var scheduler: ManualScheduler

    init(_ cloud: TestCloud) throws {
        self.cloud = cloud
        folder = try TemporaryFolder()
        container = cloud.device(user: "ada").container
        (database, sync, scheduler) = try Self.open(folder.file("ranked.yap"), container, cloud)
    }

    deinit { try? database.blocking.close() }

    var path: String { folder.file("ranked.yap") }

    private static func open(
        _ path: String, _ container: CKContainer, _ cloud: TestCloud
    ) throws -> (YapDatabase, CloudSync, ManualScheduler) {
        let database = try YapDatabase(path: path) { $0.register(Model.self, inCollection: "ranked") }
        let scheduler = ManualScheduler(clock: cloud.clock)
        let sync = try CloudSync(
            database, container: container, models: [.model(Model.self, collection: "ranked")],
            zone: "ranked", scheduler: scheduler, clock: cloud.clock, random: SeededRandomSource(seed: 5))
        return (database, sync, scheduler)
    }

    func close() throws { try database.blocking.close() }

    func relaunch() throws {
        try database.blocking.close()
        (database, sync, scheduler) = try Self.open(path, container, cloud)
    }

    func set(_ object: Model, _ key: String) throws {
        try database.newConnection().blocking.readWrite {
            try $0.setObject(object, forKey: key, inCollection: "ranked")
        }
    }

    func read<Value>(_ body: (YapDatabaseCloudKitTransaction) throws -> Value) throws -> Value {
        try database.newConnection().blocking.read {
            try body(try $0.ext("cloudKit", as: YapDatabaseCloudKit.self))
        }
    }

    func quarantined() throws -> [CloudSyncProblem] {
        try read { try $0.quarantinedChanges().map(\.reason) }
    }

    /// Fetches, as after a notification: unlike `syncNow()` that tries nothing again.
    func fetch() {
        sync.fetch()
        scheduler.runUntilQuiet()
    }

    var status: String { "\(sync.currentStatus)" }

    /// Syncs, and returns why the change of a record is refused: the status and the quarantined changes say the same.
    func reasonOfRefusal(_ recordName: String, _ code: CKError.Code) throws -> String {
        let status = sync.syncNowInline()
        guard status.state == .needsAttention,
            case .refused(recordName, code, let reason?)? = status.problems.first
        else {
            Issue.record("\(status)")
            return ""
        }
        #expect(try quarantined() == status.problems)
        return reason
    }
}

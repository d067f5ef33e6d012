import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import StoreAudit
import System
import Testing

@testable import CloudService

/// The deletion of a zone with many records, which goes on after its answer.
@Suite struct ZoneDeletionTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store.db") }

    init() throws { folder = try TemporaryFolder() }

    private func service(rowsMax: Int = 20) throws -> TestService {
        var limits = ServiceLimits()
        limits.clearing.rowsMax = rowsMax
        return TestService(store: try SQLiteCloudStore(path: path), limits: limits)
    }

    private func fill(_ cloud: TestService, _ count: Int = 60) throws {
        try cloud.modify(
            (0..<count).map { operation(.create, "r\($0)", ["title": Field(.string("old \($0)"))]) })
    }

    private func usage(_ cloud: TestService) throws -> UsageRow? {
        let key = UsageKey(scope: .privateDatabase, user: "_ada")
        var wanted = StoreLoad()
        wanted.usageOf = [key]
        return try cloud.service.store.read { try $0.load(wanted).usage[key] }
    }

    private func rows() throws -> Int64 {
        try Connection(path: path).withStatement("SELECT count(*) FROM records") {
            try $0.step() ? $0.int64(at: 0) : -1
        }
    }

    @Test func aDeletedZoneIsInvisibleBeforeItsRowsAreRemoved() throws {
        let cloud = try service()
        try cloud.zones(.create)
        try fill(cloud)
        let token = try cloud.databaseChanges().syncToken
        try cloud.zones(.delete)
        #expect(try rows() == 60, "the request removes no row")
        #expect(try usage(cloud)?.size.records == 0)
        #expect(try usage(cloud)?.size.recordBytes == 0)
        let told = try cloud.databaseChanges(token).zones.map { zone -> Bool? in
            guard case .zone(let zone) = zone else { return nil }
            return zone.deleted
        }
        #expect(told == [true])
        #expect(throws: WireError.self) { try cloud.changes() }
        let query = RecordsQueryRequest(query: RecordQuery(recordType: "todo"))
        #expect(try cloud.ask("records/query", query, as: RecordsQueryResponse.self).records.isEmpty)
        #expect(try StoreAudit.findings(path: path) == [])
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "r1", ["title": Field(.string("new"))])])
        #expect(try cloud.changes().records.count == 1)
        let zoned = RecordsQueryRequest(query: RecordQuery(recordType: "todo"), zoneID: TestService.zone)
        #expect(try cloud.ask("records/query", zoned, as: RecordsQueryResponse.self).records.count == 1)
        #expect(try usage(cloud)?.size.records == 1)
    }

    @Test func itsRowsGoInBoundedStepsThatOthersWritesComeBetweenAndARestartDoesNotEnd() throws {
        var cloud = try service()
        try cloud.zones(.create)
        try fill(cloud)
        try cloud.zones(.delete)
        try cloud.zones(.create)
        var left = try rows()
        var steps = 0
        while try cloud.service.clearedRows.removeStep() {
            try cloud.modify([operation(.forceUpdate, "r\(steps)", ["title": Field(.string("new"))])])
            steps += 1
            let now = try rows()
            #expect(left + 1 - now <= 20 && left + 1 > now, "step \(steps)")
            left = now
            #expect(try StoreAudit.findings(path: path) == [])
            #expect(try cloud.changes().records.count == steps)
            #expect(try StoreFile(path: path)?.findings() == [])
            cloud = try service()
        }
        #expect(steps > 3)
        #expect(try rows() == Int64(steps))
        #expect(try cloud.service.store.read { try !$0.hasClearedRows() })
    }

    @Test func anOperatorCanHaveThemRemovedAtOnce() throws {
        let cloud = try service()
        try cloud.zones(.create)
        try fill(cloud)
        try cloud.zones(.delete)
        try cloud.service.clearedRows.removeAll()
        #expect(try rows() == 0)
    }

    @Test func theUpkeepOfAServerRemovesThem() throws {
        let cloud = try service()
        try cloud.zones(.create)
        try fill(cloud)
        while try cloud.service.keepUp() {}
        try cloud.zones(.delete)
        #expect(cloud.service.upkeep.isWanted)
        while try cloud.service.keepUp() {}
        #expect(try rows() == 0)
    }

    @Test func subscriptionsToADeletedZoneAreRemovedAfterTheNotification() throws {
        let cloud = try service()
        try cloud.zones(.create, [TestService.zone, ZoneID(zoneName: "other")])
        func subscribe(_ id: String, _ zone: ZoneID?) throws {
            let subscription = WireSubscription(
                subscriptionID: id, subscriptionType: zone == nil ? .database : .zone, zoneID: zone)
            let request = SubscriptionsModifyRequest(
                operations: [SubscriptionOperation(operationType: .create, subscription: subscription)])
            _ = try cloud.ask("subscriptions/modify", request, as: SubscriptionsResponse.self)
        }
        try subscribe("mine", TestService.zone)
        try subscribe("others", ZoneID(zoneName: "other"))
        try subscribe("all", nil)
        try cloud.zones(.delete)
        while try cloud.service.keepUp() {}
        let database = StoredDatabaseKey.privateDatabase(of: "_ada")
        var wanted = StoreLoad()
        wanted.subscriptionsIn = [database]
        wanted.databases = [database]
        let loaded = try cloud.service.store.read { try $0.load(wanted) }
        #expect(loaded.subscriptions[database]?.map(\.key.subscriptionID) == ["all", "others"])
        #expect(loaded.databases[database]?.subscriptionCount == 2)
        #expect(try StoreAudit.findings(path: path) == [])
    }
}

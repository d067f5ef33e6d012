import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// What says that something was deleted goes by age in a running server.
@Suite struct TombstonePruningTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let day: Int64 = 86_400_000

    private func service(_ kind: StoreKind) throws -> TestService {
        var limits = ServiceLimits()
        limits.tombstoneMilliseconds = 30 * Self.day
        return TestService(store: try kind.make(in: folder), limits: limits)
    }

    private func audit(_ kind: StoreKind) throws {
        #expect(try kind.findings(in: folder) == [])
    }

    private func keepUp(_ cloud: TestService) throws {
        for _ in 1...20 { guard try cloud.service.keepUp() else { break } }
    }

    private func code(_ body: () throws -> Void) -> WireError? {
        do { try body() } catch { return error as? WireError }
        return nil
    }

    @Test(arguments: StoreKind.allCases)
    func oldTombstonesAreDiscardedAndOlderTokensExpire(_ kind: StoreKind) throws {
        let cloud = try service(kind)
        try cloud.zones(.create)
        try cloud.modify(["a", "b", "c"].map { operation(.create, $0) })
        let before = try cloud.changes().syncToken
        try cloud.modify([operation(.forceDelete, "a")])
        let between = try cloud.changes(before).syncToken
        try keepUp(cloud)
        cloud.clock.advance(bySeconds: 20 * 86_400)
        try cloud.modify([operation(.forceDelete, "b")])
        try keepUp(cloud)
        #expect(try cloud.changes(before).records.count == 2, "both are young enough")
        let pruned = Lock(PrunedCounts())
        cloud.service.setPruneListener { counts in pruned.withLock { $0 = counts } }
        cloud.clock.advance(bySeconds: 11 * 86_400)
        try keepUp(cloud)
        #expect(pruned.withLock { $0 } == PrunedCounts(tombstones: 1, zones: 0))
        let expired = code { _ = try cloud.changes(before) }
        #expect(expired?.isExpiredToken == true)
        #expect(try cloud.changes(between).records.count == 1, "who has seen it goes on")
        #expect(try cloud.changes().records.count == 1)
        try audit(kind)
        cloud.clock.advance(bySeconds: 20 * 86_400)
        try keepUp(cloud)
        #expect(code { _ = try cloud.changes(between) }?.isExpiredToken == true)
        try audit(kind)
    }

    @Test(arguments: StoreKind.allCases)
    func oldRowsOfDeletedZonesAreDiscardedAndOlderTokensExpire(_ kind: StoreKind) throws {
        let cloud = try service(kind)
        let other = ZoneID(zoneName: "other")
        try cloud.zones(.create, [TestService.zone, other])
        try cloud.modify([operation(.create, "a")])
        let before = try cloud.databaseChanges().syncToken
        try cloud.zones(.delete)
        let after = try cloud.databaseChanges(before).syncToken
        cloud.clock.advance(bySeconds: 20 * 86_400)
        try keepUp(cloud)
        #expect(try cloud.databaseChanges(before).zones.count == 1)
        cloud.clock.advance(bySeconds: 11 * 86_400)
        try keepUp(cloud)
        #expect(
            try cloud.service.store.read { try $0.zones(after: nil, zonesMax: 10) }.rows.map(\.key.zoneName)
                == ["other"])
        #expect(code { _ = try cloud.databaseChanges(before) }?.isExpiredToken == true)
        #expect(try cloud.databaseChanges(after).zones.isEmpty)
        #expect(try cloud.databaseChanges().zones.count == 1)
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "b")])
        #expect(try cloud.changes().records.count == 1)
        #expect(try cloud.databaseChanges(after).zones.count == 1)
        try audit(kind)
    }

    @Test func aZoneThatAnEarlierVersionDeletedIsOldFromTheFirstLookOn() throws {
        let cloud = try service(.memory)
        try cloud.zones(.create)
        try cloud.zones(.delete)
        let key = ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos")
        func row() throws -> ZoneRow? {
            var wanted = StoreLoad()
            wanted.zones = [key]
            return try cloud.service.store.read { try $0.load(wanted).zones[key] }
        }
        var changes = StoreChanges()
        changes.zones = [try #require(try row())]
        changes.zones[0].deletedMilliseconds = 0
        let old = changes
        try cloud.service.store.write { try $0.apply(old) }
        try keepUp(cloud)
        #expect(try row()?.deletedMilliseconds == cloud.clock.nowMilliseconds())
        cloud.clock.advance(bySeconds: 31 * 86_400)
        try keepUp(cloud)
        #expect(try row() == nil)
    }

    @Test func aStepPrunesUpToItsLimitAndTheNextContinues() throws {
        let cloud = try service(.sqlite)
        try cloud.zones(.create)
        for start in [0, 300, 600] {
            try cloud.modify((start..<(start + 300)).map { operation(.create, "r\($0)") })
            try cloud.modify((start..<(start + 300)).map { operation(.forceDelete, "r\($0)") })
        }
        cloud.clock.advance(bySeconds: 31 * 86_400)
        let steps = Lock<[Int]>([])
        cloud.service.setPruneListener { counts in steps.withLock { $0.append(counts.tombstones) } }
        #expect(try cloud.service.pruneOutdated())
        #expect(try !cloud.service.pruneOutdated())
        #expect(steps.withLock { $0 } == [500, 400])
        try audit(.sqlite)
    }
}

extension WireError {
    fileprivate var isExpiredToken: Bool { tokenRefusal == .expired }
}

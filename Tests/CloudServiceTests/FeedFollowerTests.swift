import CloudService
import CloudStore
import CloudWire
import OwnThreads
import SQLiteTestSupport
import System
import Testing

/// Clients that follow a zone's feed while it changes under them, each in its own rhythm.
@Suite(.onOwnThreads) struct FeedFollowerTests {
    /// A client that knows only what the feed has told it.
    private struct Follower {
        var records: [String: WireRecord] = [:]
        var token: String?
        /// The names that a full fetch has told so far; nil when none is under way.
        var seen: Set<String>? = []
        var refusals = 0

        /// Asks for one page; returns whether more is coming.
        mutating func follow(_ cloud: TestService, resultsLimit: Int64) throws -> Bool {
            let page: ZoneChanges
            do {
                page = try cloud.changes(token, resultsLimit: resultsLimit)
            } catch let error as WireError where error.tokenRefusal != nil {
                refusals += 1
                token = nil
                seen = []
                return true
            } catch let error as WireError where error.serverErrorCode == .zoneNotFound {
                self = Follower(refusals: refusals)
                return false
            }
            for result in page.records {
                guard let name = result.recordName else { continue }
                seen?.insert(name)
                records[name] = result.record
            }
            token = page.syncToken
            if page.moreComing != true, let seen {
                records = records.filter { seen.contains($0.key) }
                self.seen = nil
            }
            return page.moreComing == true
        }
    }

    static let seeds = Array(UInt64(1)...40)

    @Test(arguments: seeds) func whoFollowsTheFeedHoldsWhatTheZoneHolds(_ seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let stores: [any CloudStore] = [
            MemoryCloudStore(), try SQLiteCloudStore(path: folder.file("store.db")),
        ]
        let random = SeededRandomSource(seed: seed)
        let cloud = TestService(store: stores[random.next(in: 0..<2)], seed: seed)
        try cloud.zones(.create)
        var followers = [Follower(), Follower(), Follower()]
        for _ in 0..<150 {
            switch random.next(in: 0..<100) {
            case 0..<55: try change(cloud, random)
            case 55..<95:
                let index = random.next(in: 0..<followers.count)
                _ = try followers[index].follow(cloud, resultsLimit: Int64(random.next(in: 1..<6)))
            case 95..<97: try cloud.service.zoneMaintenance.pruneTombstones(zoneName: "todos", ofUser: "_ada")
            case 97: try cloud.service.zoneMaintenance.resetEpoch(zoneName: "todos", ofUser: "_ada")
            default:
                try cloud.zones(.delete)
                try cloud.zones(.create)
            }
        }
        let held = try cloud.changes(resultsLimit: 400).records.compactMap(\.record)
        for index in followers.indices {
            while try followers[index].follow(cloud, resultsLimit: 3) {}
            let known = followers[index].records.values.sorted {
                ($0.recordName ?? "") < ($1.recordName ?? "")
            }
            #expect(known == held.sorted { ($0.recordName ?? "") < ($1.recordName ?? "") }, "seed \(seed)")
        }
    }

    private func change(_ cloud: TestService, _ random: SeededRandomSource) throws {
        let names = (0..<12).map { "r\($0)" }
        var operations: [RecordOperation] = []
        var used = Set<String>()
        for _ in 0..<random.next(in: 1..<4) {
            let name = names[random.next(in: 0..<names.count)]
            guard used.insert(name).inserted else { continue }
            let fields = ["n": Field(.int64(Int64(random.next(in: 0..<1000))))]
            switch random.next(in: 0..<10) {
            case 0..<5: operations.append(operation(.forceUpdate, name, fields))
            case 5..<7: operations.append(operation(.create, name, fields))
            case 7:
                let target = names[random.next(in: 0..<names.count)]
                operations.append(operation(.forceReplace, name, ["target": reference(target, .deleteSelf)]))
            default: operations.append(operation(.forceDelete, name))
            }
        }
        try cloud.modify(operations, atomic: random.next(in: 0..<2) == 0)
    }
}

import CloudService
import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import System
import Testing

@Suite struct GroupTests {
    private func save(_ name: String, in cloud: TestService, bytes: Int = 1) throws -> WireRequest {
        let fields = ["blob": Field(.bytes([UInt8](repeating: 7, count: bytes)))]
        let message = RecordsModifyRequest(
            operations: [operation(.create, name, fields)], zoneID: TestService.zone)
        return cloud.request("records/modify", try message.json(extras: true))
    }

    private func names(
        _ answers: [(ticket: ServiceTicket, response: WireResponse)], _ cloud: TestService
    ) throws -> [String] {
        try answers.map { answer in
            guard answer.response.status == 200 else { return "\(answer.response.status)" }
            return try cloud.read(answer.response, as: RecordsModifyResponse.self).records.feed.joined()
        }
    }

    @Test func aGroupIsAnsweredInTheOrderOfItsRequests() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        let tickets = try ["a", "b", "c"].map { cloud.service.begin(try save($0, in: cloud)) }
        let answers = cloud.service.commitGroup()
        #expect(answers.map(\.ticket) == tickets)
        #expect(try names(answers, cloud) == ["a+", "b+", "c+"])
        #expect(cloud.service.commitGroup().isEmpty)
    }

    @Test func oneMembersRefusalLeavesTheOthersAlone() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        for name in ["a", "a", "b"] { _ = cloud.service.begin(try save(name, in: cloud)) }
        #expect(try names(cloud.service.commitGroup(), cloud) == ["a+", "a-", "b+"])
        #expect(try cloud.changes().records.feed == ["a+", "b+"])
    }

    @Test func readsOfAGroupSeeItsWrites() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        let lookup = RecordsLookupRequest(records: [.init(recordName: "a")], zoneID: TestService.zone)
        _ = cloud.service.begin(cloud.request("records/lookup", try lookup.json()))
        for name in ["a", "b"] { _ = cloud.service.begin(try save(name, in: cloud)) }
        #expect(try names(cloud.service.commitGroup(), cloud) == ["a+", "a+", "b+"])
    }

    @Test func aGroupIsLimitedInRequestsBytesAndTime() throws {
        var limits = GroupLimits()
        limits.requestsMax = 3
        limits.bytesMax = 10_000
        limits.waitingRequestsMax = 5
        let cloud = TestService(groupLimits: limits)
        try cloud.zones(.create)
        for index in 0..<7 { _ = cloud.service.begin(try save("r\(index)", in: cloud)) }
        #expect(cloud.service.commitGroup().count == 3)
        #expect(try names(cloud.service.commitGroup(), cloud) == ["r3+", "r4+", "503"])
        #expect(try names(cloud.service.commitGroup(), cloud) == ["503"])
        for index in 0..<3 { _ = cloud.service.begin(try save("s\(index)", in: cloud, bytes: 6_000)) }
        #expect(cloud.service.commitGroup().count == 2)
        #expect(cloud.service.commitGroup().count == 1)
    }

    @Test func theBytesThatWaitForAGroupHaveALimit() throws {
        var limits = GroupLimits()
        limits.waitingBytesMax = 10_000
        limits.requestsMax = 2
        let cloud = TestService(groupLimits: limits)
        try cloud.zones(.create)
        for round in 0..<3 {
            for index in 0..<3 {
                _ = cloud.service.begin(try save("r\(round)\(index)", in: cloud, bytes: 6_000))
            }
            #expect(try names(cloud.service.commitGroup(), cloud) == ["r\(round)0+", "r\(round)1+"])
            #expect(try names(cloud.service.commitGroup(), cloud) == ["503"])
        }
    }

    @Test func whoComesTooLateForAGroupIsInTheNext() throws {
        let clock = ManualTimeSource()
        let store = ScriptedStore()
        let service = CloudService(
            store: store, clock: clock, random: SeededRandomSource(seed: 1), users: ["ada": TestService.ada])
        let cloud = TestService(service: service, clock: clock)
        try cloud.zones(.create)
        store.onApply = { _ in clock.advance(bySeconds: 0.03) }
        for name in ["a", "b", "c"] { _ = service.begin(try save(name, in: cloud)) }
        #expect(try names(service.commitGroup(), cloud) == ["a+", "b+"])
        #expect(try names(service.commitGroup(), cloud) == ["c+"])
    }

    @Test func afterALostTransactionNothingMoreRunsInItAndEachIsTriedAlone() throws {
        let store = ScriptedStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        var applied = 0
        store.onApply = { writer in
            applied += 1
            if applied == 2 {
                writer.isInTransaction = false
                throw CloudStoreError.diskFull(path: "store")
            }
        }
        let transactions = store.transactionsCount
        for name in ["a", "b", "c"] { _ = cloud.service.begin(try save(name, in: cloud)) }
        #expect(try names(cloud.service.commitGroup(), cloud) == ["a+", "b+", "c+"])
        #expect(applied == 5, "two in the group, then each of the three alone")
        #expect(store.transactionsCount - transactions == 4)
        #expect(try cloud.changes().records.feed == ["a+", "b+", "c+"])
    }

    @Test func whatFailsAloneTooIsRefusedAndTheOthersAreSaved() throws {
        let store = ScriptedStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        store.onApply = { writer in
            guard writer.lastNames == ["b"] else { return }
            writer.isInTransaction = false
            throw CloudStoreError.diskFull(path: "store")
        }
        for name in ["a", "b", "c"] { _ = cloud.service.begin(try save(name, in: cloud)) }
        let answers = cloud.service.commitGroup()
        #expect(try names(answers, cloud) == ["a+", "503", "c+"])
        let error = try WireError(json: answers[1].response.body)
        #expect(error.serverErrorCode == .tryAgainLater && error.retryAfterSeconds != nil)
        #expect(answers[1].response.header("Retry-After") != nil)
        #expect(try cloud.changes().records.feed == ["a+", "c+"])
    }

    /// The real thing: SQLite rolls back the neighbours' released savepoints too when the disk is full.
    @Test func onAFullDiskWhatWasAnsweredIsThereAndWhatWasRefusedIsNot() throws {
        let folder = try TemporaryFolder()
        let vfs = FaultVFS()
        var options = OpenOptions()
        options.vfsName = vfs.name
        let cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db"), options: options))
        try cloud.zones(.create)
        vfs.limitGrowth(toBytes: 400_000)
        var saved: [String] = []
        var refused = 0
        for round in 0..<6 {
            for index in 0..<4 {
                _ = cloud.service.begin(try save("r\(round)-\(index)", in: cloud, bytes: 20_000))
            }
            for name in try names(cloud.service.commitGroup(), cloud) {
                if name == "503" { refused += 1 } else { saved.append(name) }
            }
        }
        #expect(saved.count > 2 && refused > 2, "\(saved.count) saved, \(refused) refused")
        vfs.disarm()
        let reopened = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
        #expect(try reopened.changes().records.feed == saved)
        #expect(try cloud.changes().records.feed == saved, "the service goes on when the disk does")
        #expect(try cloud.modify([operation(.create, "after")]).summaries == ["saved"])
    }
}

import CloudService
import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

/// What crosses the wire, byte by byte.
@Suite struct ProtocolTests {
    /// A story with every kind of answer: its requests, to be sent one after the other.
    private static func story(_ cloud: TestService, extras: Bool) throws -> [WireRequest] {
        let zone = ZoneOperation(operationType: .create, zone: WireZone(zoneID: TestService.zone))
        func request(_ endpoint: String, _ message: some JSONMessage, database: String = "private") throws
            -> WireRequest
        {
            cloud.request(endpoint, try message.json(extras: extras), database: database, extras: extras)
        }
        func modify(_ operations: [RecordOperation], zone: ZoneID? = TestService.zone) throws -> WireRequest {
            try request("records/modify", RecordsModifyRequest(operations: operations, zoneID: zone))
        }
        let changes = ChangesZoneRequest(zones: [
            .init(zoneID: TestService.zone), .init(zoneID: TestService.zone, syncToken: "bad"),
            .init(zoneID: ZoneID(zoneName: "none")),
        ])
        return [
            try request("zones/modify", ZonesModifyRequest(operations: [zone])),
            try modify([
                operation(.create, nil, ["title": Field(.string("x")), "done": Field(.int64(1))]),
                operation(.create, "a", ["b": reference("c", .deleteSelf)]), operation(.create, "c"),
            ]),
            try modify([operation(.create, "a")]),
            try modify([operation(.update, "a", tag: "1.1"), operation(.create, "z")]),
            try modify([operation(.create, "d")], zone: nil), try modify([operation(.forceDelete, "c")]),
            try request("records/lookup", RecordsLookupRequest(records: [.init(recordName: "a")])),
            try request("changes/zone", changes), try request("changes/database", ChangesDatabaseRequest()),
            try request("changes/database", ChangesDatabaseRequest(syncToken: "bad")),
            try request("zones/list", ZonesListRequest()),
            try request("users/caller", ZonesListRequest(), database: "public"),
            try request("records/query", ZonesListRequest()),
        ]
    }

    private func answers(_ store: any CloudStore, extras: Bool = true, seed: UInt64 = 1) throws -> [String] {
        let cloud = TestService(store: store, seed: seed)
        return try Self.story(cloud, extras: extras).map { request in
            let response = cloud.service.respond(to: request)
            return "\(response.status) \(response.headers) " + String(decoding: response.body, as: UTF8.self)
        }
    }

    @Test func theSameSeedClockAndRequestsGiveTheSameBytesOnEveryStore() throws {
        let first = try answers(MemoryCloudStore())
        #expect(try answers(MemoryCloudStore()) == first)
        let folder = try TemporaryFolder()
        #expect(try answers(SQLiteCloudStore(path: folder.file("store.db"))) == first)
        #expect(try answers(MemoryCloudStore(), seed: 2) != first)
    }

    @Test func extraKeysAreSentOnlyOnRequest() throws {
        let ours = ["ckErrorCode", "serverRecord", "tokenRefusal", WireHeader.protocolVersion]
        let plain = try answers(MemoryCloudStore(), extras: false).joined(separator: "\n")
        for key in ours { #expect(!plain.contains(key), "\(key)") }
        let extended = try answers(MemoryCloudStore(), extras: true).joined(separator: "\n")
        for key in ours { #expect(extended.contains(key), "\(key)") }
    }

    @Test func onlyOurOwnClientsGetATombstonesType() throws {
        for (extras, type) in [(true, "todo" as String?), (false, nil)] {
            let cloud = TestService()
            try cloud.zones(.create)
            try cloud.modify([operation(.create, "a")])
            let token = try cloud.changes().syncToken
            try cloud.modify([operation(.forceDelete, "a")])
            let answer = try cloud.ask(
                "changes/zone",
                ChangesZoneRequest(zones: [.init(zoneID: TestService.zone, syncToken: token)]),
                as: ChangesZoneResponse.self, extras: extras)
            guard case .changes(let changes)? = answer.zones.first,
                case .tombstone(let tombstone)? = changes.records.first
            else {
                Issue.record("\(answer)")
                return
            }
            #expect(tombstone.recordType == type && tombstone.recordName == "a")
        }
    }

    @Test func aServiceRestartedOnItsFileContinues() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let before = TestService(store: try SQLiteCloudStore(path: path), seed: 1)
        try before.zones(.create)
        let saved = try #require(try before.modify([operation(.create, "a")])[0].record)
        let token = try before.changes().syncToken
        let after = TestService(store: try SQLiteCloudStore(path: path), seed: 2)
        #expect(try after.lookup(["a"]) == [.record(saved)])
        #expect(
            try after.modify([operation(.update, "a", tag: saved.recordChangeTag)]).summaries == ["saved"])
        #expect(try after.changes(token).records.feed == ["a+"])
    }
}

import CloudService
import CloudStore
import CloudWire
import System
import Testing

@Suite struct ZonesTests {
    let cloud = TestService()

    private func list(_ syncToken: String? = nil) throws -> ZonesResponse {
        try cloud.ask("zones/list", ZonesListRequest(syncToken: syncToken), as: ZonesListResponse.self)
    }

    private func names(_ results: [ZoneResult]) -> [String] {
        results.map { result in
            switch result {
            case .zone(let zone): zone.zoneID.zoneName + (zone.deleted == true ? "-" : "")
            case .error(let error): error.serverErrorCode.rawValue
            }
        }
    }

    @Test func theDefaultZoneIsAlwaysThere() throws {
        #expect(names(try list().zones) == ["_defaultZone"])
        let lookup = try cloud.ask(
            "zones/lookup", ZonesLookupRequest(zones: [ZoneID()]), as: ZonesLookupResponse.self)
        #expect(names(lookup.zones) == ["_defaultZone"])
        let inPublic = try cloud.ask(
            "zones/lookup", ZonesLookupRequest(zones: [ZoneID()]), as: ZonesLookupResponse.self,
            database: "public")
        #expect(names(inPublic.zones) == ["_defaultZone"])
        #expect(names(try cloud.zones(.create, [ZoneID()])) == ["_defaultZone"])
        #expect(names(try cloud.zones(.delete, [ZoneID()])) == ["BAD_REQUEST"])
        #expect(try cloud.modify([operation(.create, "a")], zone: nil).summaries == ["saved"])
    }

    @Test func creatingAZoneTwiceAnswersTheSameAndKeepsItsRecords() throws {
        let first = try cloud.zones(.create)
        try cloud.modify([operation(.create, "a")])
        let token = try cloud.changes().syncToken
        #expect(try cloud.zones(.create) == first)
        #expect(try cloud.changes(token).records == [])
        #expect(try cloud.lookup(["a"]).summaries == ["saved"])
        guard case .zone(let zone) = first[0] else { return }
        #expect(zone.zoneID.ownerRecordName == "_ada" && zone.zoneID.zoneType == "REGULAR_CUSTOM_ZONE")
        #expect(zone.atomic == true)
    }

    @Test func aDeletedZoneTakesItsRecordsAlong() throws {
        try cloud.zones(.create, [TestService.zone, ZoneID(zoneName: "other")])
        try cloud.modify([
            operation(.create, "a"), operation(.create, "b", ["a": reference("a", .deleteSelf)]),
        ])
        try cloud.modify([operation(.create, "a")], zone: ZoneID(zoneName: "other"))
        #expect(names(try cloud.zones(.delete)) == ["todos-"])
        #expect(try cloud.lookup(["a"]).summaries == ["ZONE_NOT_FOUND"])
        #expect(try cloud.modify([operation(.forceUpdate, "a")]).summaries == ["ZONE_NOT_FOUND"])
        #expect(names(try cloud.zones(.delete)) == ["ZONE_NOT_FOUND"])
        #expect(names(try list().zones) == ["_defaultZone", "other"])
        try cloud.zones(.create)
        #expect(try cloud.lookup(["a", "b"]).summaries == ["NOT_FOUND", "NOT_FOUND"])
        #expect(try cloud.lookup(["a"], zone: ZoneID(zoneName: "other")).summaries == ["saved"])
    }

    @Test func operationsOnZonesSucceedEachForItself() throws {
        let long = String(repeating: "z", count: 256)
        let zones = ["good", "", long, "_own", "new\nline", "also good"].map { ZoneID(zoneName: $0) }
        #expect(
            names(try cloud.zones(.create, zones))
                == ["good", "BAD_REQUEST", "BAD_REQUEST", "BAD_REQUEST", "BAD_REQUEST", "also good"])
        #expect(names(try list().zones) == ["_defaultZone", "good", "also good"])
    }

    @Test func longListsPage() throws {
        var limits = ServiceLimits()
        limits.itemsMax = 2
        let cloud = TestService(limits: limits)
        try cloud.zones(.create, (1...5).map { ZoneID(zoneName: "zone\($0)") })
        var found: [String] = []
        var token: String?
        while true {
            let page = try cloud.ask(
                "zones/list", ZonesListRequest(syncToken: token), as: ZonesListResponse.self)
            found += names(page.zones)
            token = page.syncToken
            guard page.moreComing == true else { break }
        }
        #expect(found == ["_defaultZone", "zone1", "zone2", "zone3", "zone4", "zone5"])
    }
}

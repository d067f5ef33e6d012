import CloudStore
import CloudWire
import System
import Testing

@testable import CloudService

/// What counts towards a quota beside fields and files, and how many there may be.
@Suite struct RowQuotaTests {
    /// Bytes have no index entries, which would count too.
    private func bytes(_ count: Int) -> [String: Field] {
        ["data": Field(.bytes([UInt8](repeating: 1, count: count)))]
    }

    private func modify(
        _ service: TestService, _ operations: [RecordOperation], database: String = "private",
        user: String = "ada"
    ) throws -> [String] {
        try service.modify(
            operations, zone: database == "public" ? nil : TestService.zone, atomic: false,
            database: database,
            token: user
        ).summaries
    }

    @Test func emptyRecordsTombstonesAndZonesCountTowardsTheQuota() throws {
        var limits = ServiceLimits()
        limits.assets.rowBytes = 100
        limits.assets.privateBytesMax = 680
        limits.tombstoneMilliseconds = 1_000
        let service = TestService(limits: limits)
        try service.zones(.create)
        let names = ["a", "b", "c", "d", "e", "f"]
        // Four with their names and few bytes, and the zone.
        #expect(
            try modify(service, names.map { operation(.create, $0) })
                == ["saved", "saved", "saved", "saved", "QUOTA_EXCEEDED", "QUOTA_EXCEEDED"])
        #expect(try modify(service, [operation(.forceDelete, "a", type: nil)]) == ["deleted"])
        #expect(
            try modify(service, [operation(.create, "e")]) == ["QUOTA_EXCEEDED"],
            "a tombstone takes its place")
        service.clock.advance(bySeconds: 120)
        while try service.service.pruneOutdated() {}
        #expect(try modify(service, [operation(.create, "e")]) == ["saved"])
        #expect(try modify(service, [operation(.create, "f")]) == ["QUOTA_EXCEEDED"])
        try service.zones(.delete)
        try service.zones(.create)
        #expect(try modify(service, [operation(.create, "f")]) == ["saved"])
    }

    @Test func aUserHasOnlySoManyZonesDeletedOnesAmongThem() throws {
        var limits = ServiceLimits()
        limits.assets.privateZonesMax = 2
        limits.tombstoneMilliseconds = 1_000
        let service = TestService(limits: limits)
        func create(_ names: [String]) throws -> [String?] {
            try service.zones(.create, names.map { ZoneID(zoneName: $0) }).map { result in
                guard case .error(let error) = result else { return nil }
                #expect(error.reason?.contains("up to 2 zones") == true)
                return error.serverErrorCode.rawValue
            }
        }
        #expect(try create(["a", "b", "c"]) == [nil, nil, "QUOTA_EXCEEDED"])
        try service.zones(.delete, [ZoneID(zoneName: "a")])
        #expect(try create(["c"]) == ["QUOTA_EXCEEDED"])
        #expect(try create(["a"]) == [nil], "one that is made again is no other")
        try service.zones(.delete, [ZoneID(zoneName: "a")])
        service.clock.advance(bySeconds: 120)
        while try service.service.pruneOutdated() {}
        #expect(try create(["c", "a"]) == [nil, "QUOTA_EXCEEDED"])
    }

    @Test func zonesBeyondTheQuotasBytesAreRefused() throws {
        var limits = ServiceLimits()
        limits.assets.rowBytes = 100
        limits.assets.privateBytesMax = 250
        let service = TestService(limits: limits)
        func create(_ names: [String]) throws -> [String?] {
            try service.zones(.create, names.map { ZoneID(zoneName: $0) }).map { result in
                guard case .error(let error) = result else { return nil }
                #expect(error.zoneID != nil)
                return error.serverErrorCode.rawValue
            }
        }
        #expect(try create(["a", "b", "c"]) == [nil, nil, "QUOTA_EXCEEDED"])
        #expect(try create(["a"]) == [nil], "one that is there costs nothing")
        try service.zones(.delete, [ZoneID(zoneName: "a")])
        #expect(try create(["c", "a"]) == ["QUOTA_EXCEEDED", nil], "a deleted one counts, and comes again")
    }

    @Test func aUserHasOnlySoManyRecordsDeletedOnesAmongThem() throws {
        var limits = ServiceLimits()
        limits.assets.privateRecordsMax = 2
        let service = TestService(limits: limits)
        try service.zones(.create)
        #expect(
            try modify(service, ["a", "b", "c"].map { operation(.create, $0) })
                == ["saved", "saved", "QUOTA_EXCEEDED"])
        #expect(try modify(service, [operation(.forceUpdate, "a")]) == ["saved"])
        #expect(try modify(service, [operation(.forceDelete, "a", type: nil)]) == ["deleted"])
        #expect(try modify(service, [operation(.create, "c")]) == ["QUOTA_EXCEEDED"])
    }

    @Test func oneUserCannotFillThePublicDatabaseAlone() throws {
        var limits = ServiceLimits()
        limits.assets.rowBytes = 0
        limits.assets.publicBytesOfUserMax = 500
        let service = TestService(limits: limits)
        #expect(try modify(service, [operation(.create, "a", bytes(400))], database: "public") == ["saved"])
        #expect(
            try modify(service, [operation(.create, "b", bytes(200))], database: "public") == [
                "QUOTA_EXCEEDED"
            ])
        #expect(
            try modify(service, [operation(.create, "c", bytes(400))], database: "public", user: "bob")
                == ["saved"], "another user has a share of their own")
        #expect(
            try modify(service, [operation(.forceDelete, "a", type: nil)], database: "public") == ["deleted"])
        #expect(try modify(service, [operation(.create, "b", bytes(200))], database: "public") == ["saved"])
    }
}

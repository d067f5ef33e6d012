import CloudService
import CloudStore
import CloudWire
import System
import Testing

@Suite struct ChangesTests {
    let cloud: TestService

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
    }

    private func refusal(_ token: String?, zone: ZoneID = TestService.zone, user: String = "ada") throws
        -> WireError
    {
        try #require(throws: WireError.self) { try cloud.changes(token, zone: zone, user: user) }
    }

    private func allPages(from token: String? = nil, resultsLimit: Int64) throws -> (
        feed: [String], token: String?
    ) {
        var feed: [String] = []
        var token = token
        while true {
            let page = try cloud.changes(token, resultsLimit: resultsLimit)
            feed += page.records.feed
            token = page.syncToken
            guard page.moreComing == true else { return (feed, token) }
        }
    }

    @Test func aZonesFeedListsEachChangedRecordOnceInTheOrderOfTheLastChange() throws {
        try cloud.modify([operation(.create, "a"), operation(.create, "b"), operation(.create, "c")])
        let first = try cloud.changes()
        #expect(first.records.feed == ["a+", "b+", "c+"] && first.moreComing == false)
        try cloud.modify([
            operation(.forceUpdate, "a"), operation(.forceDelete, "b"), operation(.create, "d"),
        ])
        try cloud.modify([operation(.forceUpdate, "a")])
        let second = try cloud.changes(first.syncToken)
        #expect(second.records.feed == ["b-", "d+", "a+"])
        let third = try cloud.changes(second.syncToken)
        #expect(third.records == [] && third.syncToken == second.syncToken)
    }

    @Test func aFetchWithoutATokenReportsNoDeletedRecord() throws {
        try cloud.modify((1...5).map { operation(.create, "r\($0)") })
        try cloud.modify([operation(.forceDelete, "r2"), operation(.forceDelete, "r4")])
        #expect(try cloud.changes().records.feed == ["r1+", "r3+", "r5+"])
        #expect(try allPages(resultsLimit: 1).feed == ["r1+", "r3+", "r5+"])
    }

    @Test func deletionsBetweenTwoPagesAreReported() throws {
        try cloud.modify((1...4).map { operation(.create, "r\($0)") })
        try cloud.modify([operation(.forceDelete, "r3")])
        let first = try cloud.changes(resultsLimit: 2)
        #expect(first.records.feed == ["r1+", "r2+"] && first.moreComing == true)
        try cloud.modify([operation(.forceDelete, "r1"), operation(.forceDelete, "r4")])
        #expect(try allPages(from: first.syncToken, resultsLimit: 1).feed == ["r1-", "r4-"])
    }

    @Test func pagesOfAnySizeTellTheSame() throws {
        try cloud.modify((1...7).map { operation(.create, "r\($0)") })
        let whole = try cloud.changes().records.feed
        for resultsLimit in Int64(1)...8 { #expect(try allPages(resultsLimit: resultsLimit).feed == whole) }
    }

    @Test func aTokenBelowTheTombstoneFloorIsExpired() throws {
        try cloud.modify([operation(.create, "a"), operation(.create, "b")])
        let old = try cloud.changes().syncToken
        try cloud.modify([operation(.forceDelete, "a")])
        let new = try cloud.changes(old).syncToken
        try cloud.service.zoneMaintenance.pruneTombstones(zoneName: "todos", ofUser: "_ada")
        let error = try refusal(old)
        #expect(
            error.serverErrorCode == .badRequest && error.ckErrorCode == 21 && error.tokenRefusal == .expired)
        #expect(error.reason == "client knowledge differs from server knowledge")
        #expect(error.zoneID?.zoneName == "todos")
        #expect(try cloud.changes(new).records == [])
        #expect(try cloud.changes().records.feed == ["b+"])
    }

    @Test func aFirstFetchThatIsUnderWayOutlivesThePruningOfWhatItSkips() throws {
        try cloud.modify((1...4).map { operation(.create, "r\($0)") })
        try cloud.modify([operation(.forceDelete, "r4")])
        let first = try cloud.changes(resultsLimit: 1)
        try cloud.service.zoneMaintenance.pruneTombstones(zoneName: "todos", ofUser: "_ada")
        #expect(try allPages(from: first.syncToken, resultsLimit: 1).feed == ["r2+", "r3+"])
        try cloud.modify([operation(.forceDelete, "r1")])
        try cloud.service.zoneMaintenance.pruneTombstones(zoneName: "todos", ofUser: "_ada")
        #expect(try refusal(first.syncToken).tokenRefusal == .expired)
    }

    @Test func aTokenOfAnotherEpochIsResetAndTheTagsStay() throws {
        let saved = try #require(try cloud.modify([operation(.create, "a")])[0].record)
        let zoneToken = try cloud.changes().syncToken
        let databaseToken = try cloud.databaseChanges().syncToken
        try cloud.service.zoneMaintenance.resetEpoch(zoneName: "todos", ofUser: "_ada")
        let error = try refusal(zoneToken)
        #expect(
            error.serverErrorCode == .badRequest && error.ckErrorCode == 21 && error.tokenRefusal == .reset)
        #expect(try cloud.changes().records == [.record(saved)])
        #expect(try cloud.databaseChanges(databaseToken).zones.count == 1)
        let next = try #require(
            try cloud.modify([operation(.update, "a", tag: saved.recordChangeTag)])[0].record)
        #expect(next.recordChangeTag != saved.recordChangeTag)
    }

    @Test func aZoneMadeAgainHasAnotherEpoch() throws {
        try cloud.modify([operation(.create, "a")])
        let token = try cloud.changes().syncToken
        try cloud.zones(.delete)
        #expect(try refusal(token).serverErrorCode == .zoneNotFound)
        try cloud.zones(.create)
        #expect(try refusal(token).tokenRefusal == .reset)
        #expect(try cloud.changes().records == [])
    }

    @Test func aTokenThatIsNotOfThisFeedIsReset() throws {
        try cloud.zones(.create, [ZoneID(zoneName: "other")])
        try cloud.zones(.create, token: "bob")
        let token = try #require(try cloud.changes().syncToken)
        var copied = try ChangeToken(text: token)
        copied.subject = .zone(ownerRecordName: "_ada", zoneName: "other")
        var shared = try ChangeToken(text: token)
        shared.scope = .shared
        var future = try ChangeToken(text: token)
        future.counter += 1
        let foreign = [
            "", "AQAAAAAAAwmVf//////////Kd+LphRdKGbpJMSeRX5Td", String(token.dropLast(4)), token + "A", "🎉",
            String(repeating: "A", count: 100_000), try #require(try cloud.databaseChanges().syncToken),
            try #require(try cloud.changes(zone: ZoneID(zoneName: "other")).syncToken),
            try #require(try cloud.changes(user: "bob").syncToken), copied.text, shared.text, future.text,
        ]
        for text in foreign {
            let error = try refusal(text)
            #expect(
                error.serverErrorCode == .badRequest && error.tokenRefusal == .reset, "\(text.prefix(80))")
        }
        #expect(throws: WireError.self) { try cloud.databaseChanges(token) }
    }

    @Test func theDatabasesFeedListsChangedZones() throws {
        try cloud.zones(.create, [ZoneID(zoneName: "other")])
        let first = try cloud.databaseChanges()
        #expect(names(first) == ["todos+", "other+"] && first.moreComing == false)
        try cloud.modify([operation(.create, "a")])
        let second = try cloud.databaseChanges(first.syncToken)
        #expect(names(second) == ["todos+"])
        try cloud.zones(.delete)
        let third = try cloud.databaseChanges(second.syncToken)
        #expect(names(third) == ["todos-"])
        #expect(names(try cloud.databaseChanges(third.syncToken)) == [])
        #expect(names(try cloud.databaseChanges()) == ["other+"])
        let page = try cloud.databaseChanges(first.syncToken, resultsLimit: 1)
        #expect(names(page) == ["todos-"] && page.moreComing == false)
    }

    @Test func theDatabasesFeedPages() throws {
        try cloud.zones(.create, (1...5).map { ZoneID(zoneName: "zone\($0)") })
        let first = try cloud.databaseChanges(resultsLimit: 4)
        #expect(names(first) == ["todos+", "zone1+", "zone2+", "zone3+"] && first.moreComing == true)
        let second = try cloud.databaseChanges(first.syncToken, resultsLimit: 4)
        #expect(names(second) == ["zone4+", "zone5+"] && second.moreComing == false)
    }

    @Test func zonesChangedInOneBatchAreListedOnPagesOfAnySize() throws {
        let zones = (1...5).map { ZoneID(zoneName: "zone\($0)") }
        try cloud.zones(.create, zones)
        let known = try cloud.databaseChanges().syncToken
        try cloud.modify(
            zones.map { zone in
                var create = operation(.create, "a")
                create.record.zoneID = zone
                return create
            })
        for resultsLimit in Int64(1)...6 {
            var told: [String] = []
            var token = known
            while true {
                let page = try cloud.databaseChanges(token, resultsLimit: resultsLimit)
                told += names(page)
                token = page.syncToken
                guard page.moreComing == true else { break }
            }
            #expect(told == ["zone1+", "zone2+", "zone3+", "zone4+", "zone5+"], "\(resultsLimit) on a page")
        }
    }

    @Test func aTokenOfADatabaseThatHadNothingYetStaysGood() throws {
        let fresh = TestService()
        let token = try fresh.databaseChanges().syncToken
        #expect(token != nil)
        try fresh.zones(.create)
        #expect(names(try fresh.databaseChanges(token)) == ["todos+"])
        // Its client may have made the zone itself, and must hear that another has deleted it.
        try fresh.zones(.delete)
        #expect(names(try fresh.databaseChanges(token)) == ["todos-"])
    }

    @Test func aWriteThatSavedNothingIsNoNews() throws {
        try cloud.modify([operation(.create, "a")])
        let token = try cloud.databaseChanges().syncToken
        try cloud.modify([operation(.create, "a")])
        try cloud.modify([operation(.forceDelete, "never")])
        #expect(names(try cloud.databaseChanges(token)) == [])
    }

    @Test func aMissingZoneFailsAloneAmongOthers() throws {
        try cloud.modify([operation(.create, "a")])
        let answer = try cloud.ask(
            "changes/zone",
            ChangesZoneRequest(zones: [
                .init(zoneID: ZoneID(zoneName: "none")), .init(zoneID: TestService.zone),
            ]),
            as: ChangesZoneResponse.self)
        guard case .error(let error) = answer.zones[0], case .changes(let changes) = answer.zones[1] else {
            Issue.record("\(answer)")
            return
        }
        #expect(error.serverErrorCode == .zoneNotFound && error.zoneID?.zoneName == "none")
        #expect(changes.records.feed == ["a+"])
    }

    private func names(_ answer: ChangesDatabaseResponse) -> [String] {
        answer.zones.compactMap { result in
            guard case .zone(let zone) = result else { return nil }
            return zone.zoneID.zoneName + (zone.deleted == true ? "-" : "+")
        }
    }
}

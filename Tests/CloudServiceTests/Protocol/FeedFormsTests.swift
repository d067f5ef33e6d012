import CloudService
import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

/// The ways in which a client can ask what changed.
@Suite struct FeedFormsTests {
    let cloud: TestService

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
    }

    private func step(
        _ token: String?, reverse: Bool = true, limit: Int64 = 2, types: [String]? = nil,
        in cloud: TestService? = nil
    ) throws -> ZoneChanges {
        let options = ChangesZoneOptions(
            resultsLimit: limit, desiredRecordTypes: types, reverse: reverse ? true : nil)
        let answer = try (cloud ?? self.cloud).ask(
            "changes/zone",
            ChangesZoneRequest(zones: [
                .init(zoneID: TestService.zone, syncToken: token, options: options)
            ]), as: ChangesZoneResponse.self)
        switch try #require(answer.zones.first) {
        case .changes(let changes): return changes
        case .error(let error): throw error
        }
    }

    @Test func aFeedCanBeginWithItsNewestChange() throws {
        let folder = try TemporaryFolder()
        for store in [MemoryCloudStore(), try SQLiteCloudStore(path: folder.file("store.db"))]
            as [any CloudStore]
        {
            let cloud = TestService(store: store)
            try cloud.zones(.create)
            try cloud.modify(["a", "b", "c", "d", "e"].map { operation(.create, $0) })
            let first = try step(nil, in: cloud)
            #expect(first.records.feed == ["e+", "d+"] && first.moreComing == true)
            // What changes meanwhile comes when the walk is done.
            try cloud.modify([operation(.forceUpdate, "c"), operation(.create, "f")])
            // The token knows that the walk goes down, whatever the request says.
            let second = try step(first.syncToken, reverse: false, in: cloud)
            #expect(second.records.feed == ["b+", "a+"])
            let last = second.moreComing == true ? try step(second.syncToken, in: cloud) : second
            #expect(last.moreComing == false)
            let after = try step(last.syncToken, reverse: false, limit: 10, in: cloud)
            #expect(after.records.feed == ["c+", "f+"] && after.moreComing == false)
        }
    }

    @Test func aFeedFromItsNewestChangeListsOnlyNewChanges() throws {
        try cloud.modify(["a", "b", "c"].map { operation(.create, $0) })
        let known = try cloud.changes().syncToken
        #expect(try step(known).records == [])
        try cloud.modify([
            operation(.forceDelete, "a"), operation(.forceUpdate, "b"), operation(.create, "d"),
        ])
        let first = try step(known)
        #expect(first.records.feed == ["d+", "b+"])
        let second = try step(first.syncToken)
        #expect(second.records.feed == ["a-"] && second.moreComing == false)
        #expect(try step(second.syncToken).records == [])
        // A first fetch tells of no deletion.
        #expect(try step(nil, limit: 10).records.feed == ["d+", "b+", "c+"])
    }

    @Test func aFeedOfSomeTypesSkipsTheOthers() throws {
        try cloud.modify([
            operation(.create, "a"), operation(.create, "b", type: "list"), operation(.create, "c"),
        ])
        let first = try step(nil, reverse: false, types: ["list"])
        #expect(first.records.feed == ["b+"] && first.moreComing == true)
        #expect(try step(first.syncToken, reverse: false, types: ["list"]).records == [])
    }

    @Test func theOlderFeedsTellTheSame() throws {
        try cloud.modify(["a", "b", "c"].map { operation(.create, $0, ["n": Field(.int64(1))]) })
        func records(_ token: String?, _ options: ChangesZoneOptions) throws -> RecordsChangesResponse {
            try cloud.ask(
                "records/changes",
                RecordsChangesRequest(.init(zoneID: TestService.zone, syncToken: token, options: options)),
                as: RecordsChangesResponse.self)
        }
        let first = try records(nil, ChangesZoneOptions(resultsLimit: 2))
        #expect(first.records.feed == ["a+", "b+"] && first.moreComing == true && first.reverse == nil)
        let second = try records(first.syncToken, ChangesZoneOptions())
        #expect(second.records.feed == ["c+"] && second.moreComing == false)
        let reversed = try records(nil, ChangesZoneOptions(reverse: true))
        #expect(reversed.records.feed == ["c+", "b+", "a+"] && reversed.reverse == true)
        #expect(second.syncToken == (try cloud.changes(first.syncToken)).syncToken)
        let zones = try cloud.ask(
            "zones/changes", ZonesChangesRequest(ChangesDatabaseRequest()), as: ZonesChangesResponse.self
        ).changes
        let database = try cloud.databaseChanges()
        #expect(zones.zones == database.zones && zones.syncToken == database.syncToken)
        #expect(zones.moreComing == false && zones.zones.count == 1)
        let again = try cloud.ask(
            "zones/changes",
            ZonesChangesRequest(ChangesDatabaseRequest(syncToken: zones.syncToken, resultsLimit: 1)),
            as: ZonesChangesResponse.self)
        #expect(again.changes.zones == [])
    }

    @Test func theOlderFeedsFailAsAWhole() throws {
        let none = try cloud.refusal("records/changes", #"{"zoneID":{"zoneName":"none"}}"#)
        #expect(none.serverErrorCode == .zoneNotFound)
        let usual = try cloud.refusal("records/changes", #"{"zoneID":{"zoneName":"_defaultZone"}}"#)
        #expect(usual.serverErrorCode == .badRequest)
        let token = try cloud.refusal("zones/changes", #"{"metaSyncToken":"AQAA"}"#)
        #expect(token.reason == "client knowledge differs from server knowledge")
    }

    @Test func aRequestedZoneTokenIsReturned() throws {
        func ask(_ endpoint: String, _ body: String) throws -> RecordsResponse {
            var request = cloud.request(endpoint, Array(body.utf8), extras: false)
            request.query += [("getCurrentSyncToken", "True"), ("remapEnums", "true"), ("dsid", "1")]
            return try cloud.read(cloud.service.respond(to: request), as: RecordsResponse.self)
        }
        let zone = #""zoneID":{"zoneName":"todos"}"#
        let created = #"{"operationType":"create","record":{"recordName":"a","recordType":"todo"}}"#
        let written = try ask("records/modify", #"{"operations":[\#(created)],\#(zone)}"#)
        let token = try #require(written.syncToken)
        #expect(try cloud.changes(token).records == [])
        let found = try ask("records/lookup", #"{"records":[{"recordName":"a"}],\#(zone)}"#)
        #expect(found.syncToken == token)
        try cloud.modify([operation(.create, "b")])
        #expect(try cloud.changes(token).records.feed == ["b+"])
        // The default zone has no feed.
        #expect(try ask("records/lookup", #"{"records":[{"recordName":"a"}]}"#).syncToken == nil)
        let plain = try cloud.ask(
            "records/lookup",
            RecordsLookupRequest(records: [.init(recordName: "a")], zoneID: TestService.zone),
            as: RecordsResponse.self)
        #expect(plain.syncToken == nil)
    }

    @Test func numbersAreTextForTheOperationsAndZonesThatAskForIt() throws {
        let body = #"""
            {"operations":[
            {"operationType":"create","numbersAsStrings":true,
            "record":{"recordName":"a","recordType":"todo","fields":{"n":{"value":1}}}},
            {"operationType":"create","record":{"recordName":"b","recordType":"todo","fields":{"n":{"value":2}}}}],
            "zoneID":{"zoneName":"todos"}}
            """#
        let saved = cloud.service.respond(to: cloud.request("records/modify", Array(body.utf8)))
        let text = String(decoding: saved.body, as: UTF8.self)
        #expect(text.contains(#""value":"1""#) && text.contains(#""value":2"#), "\(text)")
        try cloud.zones(.create, [ZoneID(zoneName: "other")])
        try cloud.modify([operation(.create, "c", ["n": Field(.int64(3))])], zone: ZoneID(zoneName: "other"))
        for spelling in ["numberAsStrings", "numbersAsStrings"] {
            let zones = """
                {"zones":[{"zoneID":{"zoneName":"todos"},"\(spelling)":true},{"zoneID":{"zoneName":"other"}}]}
                """
            let answer = cloud.service.respond(to: cloud.request("changes/zone", Array(zones.utf8)))
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(
                text.contains(#""value":"1""#) && text.contains(#""value":"2""#)
                    && text.contains(#""value":3"#))
        }
    }
}

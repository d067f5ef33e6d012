import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// What `records/query` answers, besides finding the right records.
@Suite struct QueryEndpointTests {
    let cloud = TestService()

    private func save(
        _ names: [String], type: String = "todo", zone: ZoneID? = nil, database: String = "private",
        token: String = "ada", _ fields: (Int) -> [String: Field] = { ["rank": Field(.int64(Int64($0)))] }
    ) throws {
        let operations = names.enumerated().map { operation(.create, $1, type: type, fields($0)) }
        let results = try cloud.modify(operations, zone: zone, database: database, token: token)
        #expect(results.allSatisfy { $0.record != nil }, "\(results)")
    }

    private func page(
        _ query: RecordQuery, zone: ZoneID? = nil, limit: Int64? = nil, marker: String? = nil,
        database: String = "private", token: String? = "ada"
    ) throws -> RecordsQueryResponse {
        try cloud.ask(
            "records/query",
            RecordsQueryRequest(query: query, zoneID: zone, resultsLimit: limit, continuationMarker: marker),
            as: RecordsQueryResponse.self, database: database, token: token)
    }

    private func byRank(_ type: String = "todo") -> RecordQuery {
        RecordQuery(recordType: type, sortBy: [RecordSort(fieldName: "rank")])
    }

    private func refusal(_ body: String, database: String = "private", token: String? = "ada") throws
        -> String
    {
        let error = try cloud.refusal("records/query", body, database: database, token: token)
        return "\(error.serverErrorCode.rawValue) \(error.reason ?? "")"
    }

    @Test func aFieldThatWasJustMadeCanBeAskedForAtOnce() throws {
        try save(["a", "b", "c"])
        #expect(try page(byRank()).records.map(\.recordName) == ["a", "b", "c"])
        try save(["d"]) { _ in ["late": Field(.string("x"))] }
        let late = RecordQuery(recordType: "todo", sortBy: [RecordSort(fieldName: "late", ascending: false)])
        #expect(try page(late).records.map(\.recordName) == ["d", "c", "b", "a"])
    }

    @Test func pagesEndWithAMarkerAndTheLastHasNone() throws {
        try save((0..<10).map { "r\($0)" })
        var names: [String?] = []
        var marker: String?
        for _ in 0..<4 {
            let next = try page(byRank(), limit: 3, marker: marker)
            names += next.records.map(\.recordName)
            marker = next.continuationMarker
        }
        #expect(names == (0..<10).map { "r\($0)" } && marker == nil)
        #expect(try page(byRank(), limit: 10).continuationMarker == nil)
    }

    @Test func aMarkerThatIsDamagedOrOfAnotherQueryIsRefused() throws {
        try save((0..<10).map { "r\($0)" })
        let marker = try #require(try page(byRank(), limit: 3).continuationMarker)
        var other = byRank()
        other.sortBy = [RecordSort(fieldName: "rank", ascending: false)]
        try cloud.zones(.create)
        let asks: [() throws -> RecordsQueryResponse] = [
            { try page(other, marker: marker) },
            { try page(byRank(), zone: TestService.zone, marker: marker) },
            { try page(byRank(), marker: String(marker.dropFirst(4))) }, { try page(byRank(), marker: "x") },
            { try page(byRank(), marker: marker, token: "bob") },
            { try page(RecordQuery(recordType: "todo"), marker: marker) },
        ]
        for ask in asks {
            let error = #expect(throws: WireError.self) { try ask() }
            #expect(
                error?.serverErrorCode == .badRequest && error?.reason?.contains("continuationMarker") == true
            )
        }
    }

    @Test func anotherUsersRecordsAreNeitherFoundNorCounted() throws {
        try save(["mine"])
        try save((0..<300).map { "r\($0)" }.prefix(200).map(\.self), token: "bob")
        let all = RecordQuery(recordType: "todo")
        #expect(try page(all).records.map(\.recordName) == ["mine"])
        #expect(try page(byRank(), limit: 1).continuationMarker == nil)
        let zone = ZoneID(zoneName: "_defaultZone", ownerRecordName: "_bob")
        #expect(throws: WireError.self) { try page(all, zone: zone) }
    }

    @Test func zoneWideLooksIntoAllZonesAndOtherwiseTheDefaultZoneIsMeant() throws {
        try cloud.zones(.create)
        try save(["a", "b"])
        try save(["c", "a"], zone: TestService.zone)
        func names(_ keys: String) throws -> [String] {
            let body = #"{"query":{"recordType":"todo","sortBy":[{"fieldName":"rank"}]}\#(keys)}"#
            let response = cloud.service.respond(to: cloud.request("records/query", Array(body.utf8)))
            return try cloud.read(response, as: RecordsQueryResponse.self).records
                .map { "\($0.record?.zoneID?.zoneName ?? "")/\($0.recordName ?? "")" }
        }
        #expect(try names("") == ["_defaultZone/a", "_defaultZone/b"])
        let all = ["_defaultZone/a", "todos/c", "_defaultZone/b", "todos/a"]
        #expect(try names(#","zoneWide":true"#) == all)
        #expect(try names(#","zoneWide":true,"zoneID":{"zoneName":"todos"}"#) == ["todos/c", "todos/a"])
    }

    @Test func aFilterMayComeAloneAndKeysAndNumbersAsTheClientWantsThem() throws {
        try save(["a", "b"]) { ["rank": Field(.int64(Int64($0))), "text": Field(.string("x"))] }
        let filter = #"{"comparator":"EQUALS","fieldName":"rank","fieldValue":{"value":1}}"#
        let body =
            #"{"query":{"recordType":"todo","filterBy":\#(filter)},"desiredKeys":["rank"],"numbersAsStrings":true}"#
        let response = cloud.service.respond(to: cloud.request("records/query", Array(body.utf8)))
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(
            response.status == 200 && text.contains(#""recordName":"b""#)
                && !text.contains(#""recordName":"a""#))
        #expect(text.contains(#""value":"1""#) && !text.contains("text"), "\(text)")
    }

    @Test func aNumberInQuotesWithoutATypeIsWhatTheFieldIs() throws {
        try save(["a", "b"]) {
            [
                "rank": Field(.int64(Int64($0))), "at": Field(.timestamp(milliseconds: Int64($0))),
                "part": Field(.double(Double($0) / 2)),
            ]
        }
        func names(_ field: String, _ value: String, comparator: String = "EQUALS") throws -> [String?] {
            let filter = #"{"comparator":"\#(comparator)","fieldName":"\#(field)","fieldValue":\#(value)}"#
            let body = #"{"query":{"recordType":"todo","filterBy":[\#(filter)]}}"#
            let response = cloud.service.respond(to: cloud.request("records/query", Array(body.utf8)))
            return try cloud.read(response, as: RecordsQueryResponse.self).records.map(\.recordName)
        }
        for (field, value) in [("rank", "1"), ("at", "1"), ("part", "0.5")] {
            #expect(try names(field, #"{"value":"\#(value)"}"#) == ["b"])
            #expect(try names(field, #"{"value":["\#(value)"]}"#, comparator: "IN") == ["b"])
        }
        for value in [#"{"value":"one"}"#, #"{"value":"1","type":"STRING"}"#, #"{"value":""}"#] {
            #expect(throws: WireError.self) { try names("rank", value) }
        }
    }

    @Test func aQueryThatNoIndexServesIsRefusedInApplesWords() throws {
        try save(["a"]) { _ in ["rank": Field(.int64(1)), "raw": Field(.bytes([1]))] }
        #expect(
            try refusal(#"{"query":{"recordType":"nothing"}}"#).contains("Did not find record type: nothing"))
        let bytes = #"{"comparator":"EQUALS","fieldName":"raw","fieldValue":{"value":"AQ=="}}"#
        #expect(
            try refusal(#"{"query":{"recordType":"todo","filterBy":[\#(bytes)]}}"#)
                == "BAD_REQUEST BadRequestException: Field 'raw' is not marked queryable")
        #expect(
            try refusal(#"{"query":{"recordType":"todo","sortBy":[{"systemFieldName":"createdTimestamp"}]}}"#)
                == "BAD_REQUEST BadRequestException: Field 'createdTimestamp' is not marked sortable")
        #expect(try refusal(#"{"query":{"recordType":"Users"}}"#).contains("Can't query system types"))
        #expect(try refusal(#"{"zoneWide":true}"#).contains("query"))
        #expect(try refusal(#"{"query":{"recordType":"todo"},"resultsLimit":0}"#).contains("resultsLimit"))
        #expect(
            try refusal(#"{"query":{"recordType":"todo"},"zoneID":{"zoneName":"gone"}}"#).hasPrefix(
                "ZONE_NOT_FOUND"))
        #expect(
            try refusal(#"{"query":{"recordType":"todo"}}"#, database: "shared").hasPrefix("ZONE_NOT_FOUND"))
    }

    @Test func publicRecordsAreFoundByCallersWithReadPermission() throws {
        var schema = RandomQueryTests.schema
        schema.recordTypes["todo"]?.grants = [
            SystemRole.signedIn: .create, SystemRole.creator: [.read, .write],
        ]
        let store = MemoryCloudStore()
        let own = TestService(store: store)
        var changes = StoreChanges()
        changes.schema = schema.row(version: 1)
        try store.write { try $0.apply(changes) }
        for (name, user) in [("a", "ada"), ("b", "bob"), ("c", "ada")] {
            let saved = try own.modify(
                [operation(.create, name, ["number": Field(.int64(1))])], zone: nil, database: "public",
                token: user)
            #expect(saved.summaries == ["saved"])
        }
        func names(_ token: String?) throws -> [String?] {
            let query = RecordQuery(recordType: "todo", sortBy: [RecordSort(fieldName: "number")])
            return try own.ask(
                "records/query", RecordsQueryRequest(query: query), as: RecordsQueryResponse.self,
                database: "public",
                token: token
            ).records.map(\.recordName)
        }
        #expect(try names("ada") == ["a", "c"])
        #expect(try names("bob") == ["b"])
        let error = #expect(throws: WireError.self) { try names(nil) }
        #expect(error?.serverErrorCode == .accessDenied)
    }

    @Test func anyoneFindsPublicRecordsThatTheWorldMayRead() throws {
        try save(["a", "b"], database: "public")
        #expect(try page(byRank(), database: "public", token: nil).records.map(\.recordName) == ["a", "b"])
        #expect(try page(byRank(), database: "public", token: "bob").records.count == 2)
    }

    @Test func severalQueriesAreAnsweredTogether() throws {
        try save(["a", "b"])
        let request = RecordsQueryBatchRequest(
            batch: [
                RecordsQueryRequest(query: byRank()), RecordsQueryRequest(query: byRank(), resultsLimit: 1),
            ])
        let body = try request.json(extras: true)
        let path = cloud.request("internal/records/query/batch", body)
        let answer = try cloud.read(cloud.service.respond(to: path), as: RecordsQueryBatchResponse.self)
        #expect(answer.batch.map(\.records.count) == [2, 1] && answer.batch[1].continuationMarker != nil)
    }
}

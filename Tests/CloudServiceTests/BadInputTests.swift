import CloudService
import CloudStore
import CloudWire
import Testing

/// What a broken or hostile client sends. Each gets Apple's code, nothing is lost, and the service goes on.
@Suite struct BadInputTests {
    let cloud: TestService

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "a", ["title": Field(.string("x"))])])
    }

    private func expectUnharmed() throws {
        let changes = try cloud.changes()
        #expect(changes.records.feed == ["a+"])
        #expect(changes.records[0].record?.fields == ["title": Field(.string("x"))])
    }

    static let endpoints = [
        "records/modify", "records/lookup", "records/query", "changes/database", "changes/zone", "zones/list",
        "zones/lookup", "zones/modify",
    ]

    static let notJSON = [
        "", " ", "{", "}", "[]", "null", "1", "\"x\"", "{\"a\":}", "{\"a\":1,}", "{'a':1}", "{\"a\":1}}",
        "nul",
        "{\"zoneID\":{\"zoneName\":\"\\ud800\"}}", "{\"a\":1,\"a\":2}", "\u{FEFF}{}", "{\"a\":01}",
        "{\"operations\":", String(repeating: "[", count: 100_000),
        String(repeating: "{\"a\":", count: 100_000),
    ]

    @Test(arguments: endpoints) func whatIsNotTheExpectedJSONIsABadRequest(_ endpoint: String) throws {
        for body in Self.notJSON where !body.isEmpty {
            let error = try cloud.refusal(endpoint, body)
            #expect(error.serverErrorCode == .badRequest, "\(body.prefix(60)): \(error)")
        }
        for bytes in [[0xFF, 0xFE], Array("{\"a\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8), [0]]
            as [[UInt8]]
        {
            #expect(cloud.service.respond(to: cloud.request(endpoint, bytes)).status == 400)
        }
        try expectUnharmed()
    }

    @Test func wrongTypesAndUnknownOperationsAreABadRequest() throws {
        let record = #"{"recordName":"x","recordType":"t""#
        let bodies = [
            #"{}"#, #"{"operations":{}}"#, #"{"operations":[1]}"#, #"{"operations":[{}]}"#,
            #"{"operations":[{"operationType":"create"}]}"#, #"{"operations":[{"record":\#(record)}}]}"#,
            #"{"operations":[{"operationType":"upsert","record":\#(record)}}]}"#,
            #"{"operations":[{"operationType":7,"record":\#(record)}}]}"#,
            #"{"operations":[{"operationType":"create","record":\#(record),"fields":[]}}]}"#,
            #"{"operations":[{"operationType":"create","record":\#(record),"fields":{"f":1}}}]}"#,
            #"{"operations":[{"operationType":"create","record":{"recordName":7,"recordType":"t"}}]}"#,
            #"{"operations":[],"zoneID":"todos"}"#, #"{"operations":[],"atomic":"yes"}"#,
        ]
        let fields = [
            #"{"value":1,"type":"MONEY"}"#, #"{"value":"x","type":"INT64"}"#,
            #"{"value":"?","type":"BYTES"}"#, #"{"value":1e99,"type":"INT64"}"#,
        ]
        .map { #"{"operations":[{"operationType":"create","record":\#(record),"fields":{"f":\#($0)}}}]}"# }
        for body in bodies + fields {
            #expect(try cloud.refusal("records/modify", body).serverErrorCode == .badRequest, "\(body)")
        }
        #expect(
            try cloud.refusal("changes/zone", #"{"zones":[{"syncToken":"x"}]}"#).serverErrorCode
                == .badRequest)
        #expect(try cloud.refusal("changes/database", #"{"resultsLimit":0}"#).serverErrorCode == .badRequest)
        #expect(try cloud.refusal("changes/database", #"{"syncToken":7}"#).serverErrorCode == .badRequest)
        #expect(
            try cloud.refusal(
                "zones/modify",
                #"{"operations":[{"operationType":"rename","zone":{"zoneID":{"zoneName":"x"}}}]}"#
            ).serverErrorCode == .badRequest)
        try expectUnharmed()
    }

    @Test func namesThatCantBeNamesAreRefusedEach() throws {
        let long = String(repeating: "n", count: 256)
        for name in ["", long, "a\u{0}b", "a\nb", "\u{7F}", "\u{E9}", "e\u{301}", "\u{212A}"] {
            let results = try cloud.modify(
                [
                    operation(.create, name), operation(.create, "typed", type: name),
                    operation(.create, "field", [name: Field(.int64(1))]),
                    operation(.create, "child", parent: name),
                ], atomic: false)
            #expect(results.summaries == Array(repeating: "BAD_REQUEST", count: 4), "\(name.prefix(9))")
        }
        let longest = String(repeating: "n", count: 255)
        #expect(try cloud.modify([operation(.create, longest)], zone: nil).summaries == ["saved"])
        try expectUnharmed()
    }

    @Test func whatIsTooLargeNamesItsLimit() throws {
        let blob = Field(.bytes([UInt8](repeating: 1, count: 1_100_000)))
        let record = try #require(try cloud.modify([operation(.create, "big", ["blob": blob])])[0].error)
        #expect(record.ckErrorCode == 27 && record.recordName == "big")
        #expect(record.reason?.contains("1048576") == true)
        let body = String(repeating: " ", count: (2 << 20) + 1)
        let request = try cloud.refusal("records/modify", body)
        #expect(request.ckErrorCode == 27 && request.reason?.contains("2097152") == true)
        try expectUnharmed()
    }

    /// What a request says once, its answer would say for each of the items.
    @Test func aNameThatNoZoneHasIsNotRepeated() throws {
        let long = String(repeating: "z", count: 500_000)
        for zoneID in [ZoneID(zoneName: long), ZoneID(zoneName: "todos", ownerRecordName: long)] {
            let operations = (0..<200).map { operation(.create, "r\($0)") }
            let message = RecordsModifyRequest(operations: operations, zoneID: zoneID)
            let request = cloud.request("records/modify", try message.json())
            let response = cloud.service.respond(to: request)
            #expect(response.status == 200 && response.body.count < 100_000, "\(response.body.count)")
            let results = try RecordsModifyResponse(json: response.body).records
            #expect(results.summaries == Array(repeating: "ZONE_NOT_FOUND", count: 200))
            let create = ZoneOperation(operationType: .create, zone: WireZone(zoneID: zoneID))
            let others = [
                ("changes/zone", try ChangesZoneRequest(zones: [.init(zoneID: zoneID)]).json()),
                ("zones/modify", try ZonesModifyRequest(operations: [create]).json()),
            ]
            for (endpoint, body) in others {
                let answer = cloud.service.respond(to: cloud.request(endpoint, body))
                #expect(answer.body.count < 5_000, "\(endpoint): \(answer.body.count)")
            }
        }
        try expectUnharmed()
    }

    @Test func anErrorRepeatsABitOfTheRequestOnly() throws {
        let long = String(repeating: "x", count: 500_000)
        let bodies = [
            ("records/query", #"{"query":{"recordType":"\#(long)"}}"#),
            ("records/query", #"{"query":{"recordType":"todo"},"zoneID":{"zoneName":"\#(long)"}}"#),
            (long, "{}"),
        ]
        for (endpoint, body) in bodies {
            let response = cloud.service.respond(to: cloud.request(endpoint, Array(body.utf8)))
            #expect(response.status == 404 && response.body.count < 5_000, "\(response.body.count)")
        }
    }

    @Test func recordsThatAreTooLargeTogetherAreAskedForInParts() throws {
        var limits = ServiceLimits()
        limits.answerBytesMax = 2_900
        let cloud = TestService(limits: limits)
        try cloud.zones(.create)
        let names = ["a", "b", "c", "d"]
        let blob = ["blob": Field(.string(String(repeating: "b", count: 1_000)))]
        try cloud.modify(names.map { operation(.create, $0, blob) })
        let lookup = try #require(throws: WireError.self) { try cloud.lookup(names) }
        #expect(lookup.ckErrorCode == 27)
        let modify = try #require(throws: WireError.self) {
            try cloud.modify(names.map { operation(.forceUpdate, $0) })
        }
        #expect(modify.ckErrorCode == 27)
        #expect(try cloud.lookup(["a", "b"]).summaries == ["saved", "saved"])
        #expect(try cloud.changes().records.feed == ["a+"], "three don't fit, and the page is made again")
    }

    @Test func aListOfDesiredNamesHasALimit() throws {
        func list(_ count: Int) -> String {
            "[" + Array(repeating: #""n""#, count: count).joined(separator: ",") + "]"
        }
        let zone = #""zoneID":{"zoneName":"todos"}"#
        let requests: [(endpoint: String, body: (String) -> String)] = [
            ("records/lookup", { #"{"records":[{"recordName":"a"}],"desiredKeys":\#($0),\#(zone)}"# }),
            ("records/lookup", { #"{"records":[{"recordName":"a","desiredKeys":\#($0)}],\#(zone)}"# }),
            ("records/modify", { #"{"operations":[],"desiredKeys":\#($0),\#(zone)}"# }),
            ("changes/zone", { #"{"zones":[{\#(zone)}],"desiredKeys":\#($0)}"# }),
            ("changes/zone", { #"{"zones":[{\#(zone),"desiredKeys":\#($0)}]}"# }),
            ("changes/zone", { #"{"zones":[{\#(zone),"desiredRecordTypes":\#($0)}]}"# }),
        ]
        for (endpoint, body) in requests {
            let allowed = cloud.request(endpoint, Array(body(list(1_000)).utf8))
            #expect(cloud.service.respond(to: allowed).status == 200, "\(endpoint)")
            #expect(try cloud.refusal(endpoint, body(list(1_001))).serverErrorCode == .badRequest)
        }
    }

    @Test func moreThanTheAllowedItemsIsRefusedInApplesWords() throws {
        func modify(_ count: Int, extras: Bool) throws -> WireError? {
            let operations = (0..<count).map { operation(.forceDelete, "none\($0)") }
            let body = try RecordsModifyRequest(operations: operations, zoneID: TestService.zone).json()
            let response = cloud.service.respond(to: cloud.request("records/modify", body, extras: extras))
            return response.status == 200 ? nil : try WireError(json: response.body)
        }
        #expect(try modify(200, extras: false) == nil)
        #expect(try modify(400, extras: true) == nil)
        #expect(try modify(201, extras: false)?.serverErrorCode == .badRequest)
        let error = try modify(401, extras: true)
        #expect(error?.ckErrorCode == 27)
        #expect(
            error?.reason?.contains(
                "Your request contains 401 items which is more than the maximum number of items in a single "
                    + "request (400)") == true)
    }

    @Test func unknownPathsContainersAndMethodsAreRefused() throws {
        let good = cloud.request("records/lookup", Array("{}".utf8)).path
        for (path, status) in [
            ("", 404), ("/", 404), ("/database/1/x", 404), (good + "/", 404),
            (good.replacing("lookup", with: "merge"), 404),
            (good.replacing("/1/", with: "/2/"), 404), (good.replacing("private", with: "secret"), 404),
            (good.replacing("com.example", with: "com.other"), 404),
            (good.replacing("development", with: "test"), 404),
            (good.replacing("development", with: "production"), 404),
            ("/database/1/../../../../etc/passwd", 404),
        ] {
            var request = cloud.request("records/lookup", [])
            request.path = path
            #expect(cloud.service.respond(to: request).status == status, "\(path)")
        }
        for method in ["GET", "PUT", "DELETE", "", "post"] {
            var request = cloud.request("records/modify", [])
            request.method = method
            #expect(cloud.service.respond(to: request).status == 400, "\(method)")
        }
        var list = cloud.request("zones/list", [])
        list.method = "GET"
        #expect(cloud.service.respond(to: list).status == 200)
    }

    @Test func aRecordThatIsDamagedOnDiskIsAnInternalErrorAndTheOthersAreServed() throws {
        let store = MemoryCloudStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "a"), operation(.create, "b")])
        let zone = ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos")
        let stamp = StoreStamp(timestampMilliseconds: 0, userRecordName: "_ada", deviceID: "1")
        var changes = StoreChanges()
        changes.records = [
            StoredRecord(
                key: RecordKey(zone: zone, recordName: "a"), recordType: "todo", tagEpoch: 1, counter: 9,
                created: stamp, modified: stamp, fields: [0xFF, 0x00, 0xFF])
        ]
        try store.write { try $0.apply(changes) }
        let error = try cloud.lookup(["a"])[0].error
        #expect(error?.serverErrorCode == .internalError && error?.ckErrorCode == 1)
        #expect(throws: WireError.self) { try cloud.modify([operation(.forceUpdate, "a")]) }
        #expect(try cloud.lookup(["b"]).summaries == ["saved"])
        #expect(try cloud.modify([operation(.forceUpdate, "b")]).summaries == ["saved"])
    }

    @Test func whatIsNotServedYetSaysSo() throws {
        let asset = try cloud.modify([
            operation(.create, "x", ["file": Field(.asset(Asset(fileChecksum: "c")))])
        ])
        #expect(asset.summaries == ["BAD_REQUEST"] && asset[0].error?.reason?.contains("'file'") == true)
    }

    /// It could be as long as the request, with six bytes of JSON for a control character.
    @Test func aNameThatNothingCanHaveIsNotRepeated() throws {
        let names = [String(repeating: "x", count: 256), String(repeating: "\u{1}", count: 255)]
        for name in names {
            let saved = try cloud.modify([operation(.create, name), operation(.create, "b")], atomic: false)
            #expect(saved.summaries == ["BAD_REQUEST", "saved"])
            #expect(saved[0].error?.recordName == nil)
            try cloud.modify([operation(.forceDelete, "b")])
            let found = try cloud.lookup([name, "a"])
            #expect(found.summaries == ["NOT_FOUND", "saved"])
            #expect(found[0].error?.recordName == nil)
            let zone = ZoneID(zoneName: name)
            #expect(try cloud.modify([operation(.create, "c")], zone: zone)[0].error?.zoneID == nil)
            let subscriptions = try cloud.subscriptions(.delete, [WireSubscription(subscriptionID: name)])
            #expect(subscriptions.map(\.error?.serverErrorCode) == [.notFound])
            #expect(subscriptions[0].error?.subscriptionID == nil)
        }
        #expect(try cloud.lookup(["b c"])[0].error?.recordName == "b c")
    }
}

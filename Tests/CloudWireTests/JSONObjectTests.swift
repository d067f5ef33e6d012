import Testing

@testable import CloudWire

/// Objects whose members are named once, for reading and for writing.
@Suite struct JSONObjectTests {
    @Test func aNullOfAnOptionalMemberIsKeptAndWrittenAgain() throws {
        let json =
            #"{"account":"a","password":"b","container":"c","environment":"development","apiToken":null}"#
        let request = try SignInRequest(json: Array(json.utf8))
        #expect(request.apiToken == nil && request.unknown == ["apiToken": .null])
        #expect(String(decoding: try request.json(), as: UTF8.self) == json)
    }

    @Test(arguments: [
        (#"{"container":"c"}"#, "the key 'account' is missing"),
        (#"{"container":"c","account":"a"}"#, "the key 'password' is missing"),
        (#"{"password":"b","account":"a"}"#, "the key 'container' is missing"),
        (#"{"account":null}"#, "account: expected a text"),
    ])
    func theFirstMissingRequiredMemberIsNamed(json: String, reason: String) {
        let error = #expect(throws: JSONError.self) { try SignInRequest(json: Array(json.utf8)) }
        #expect(error?.reason == reason)
    }

    @Test func aMemberThatMayBeMissingButNotNullReportsANull() throws {
        let missing = try RecordsResponse(json: Array("{}".utf8))
        #expect(missing.isWithoutRecords && missing.records.isEmpty)
        let error = #expect(throws: JSONError.self) {
            try RecordsResponse(json: Array(#"{"records":null}"#.utf8))
        }
        #expect(error?.reason == "records: expected an array")
    }

    @Test func theFirstCauseOfANotificationCounts() throws {
        let json = #"{"ck":{"fet":{"sid":"s"},"qry":{}}}"#
        let part = try PushPayload(json: Array(json.utf8)).ck
        #expect(part.cause?.kind == .zone && part.cause?.subscriptionID == "s")
        #expect(part.unknown == ["qry": .object([:])])
    }

    @Test func aValueOfAnotherKindIsKeptWhereOneKindCounts() throws {
        let json = #"{"aps":{"sound":{"name":"bell"}},"ck":{}}"#
        let alert = try PushPayload(json: Array(json.utf8)).aps
        #expect(alert?.sound == nil && alert?.unknown["sound"] == .object(["name": .string("bell")]))
    }

    @Test func anEventOfAnotherNameIsNoSignIn() {
        let error = #expect(throws: JSONError.self) {
            try SignInEvent(json: Array(#"{"event":"sign-out"}"#.utf8))
        }
        #expect(error?.reason == "the key 'event' is missing")
    }
}

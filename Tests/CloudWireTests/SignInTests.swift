import CloudWire
import Testing

@Suite struct SignInTests {
    @Test func aSignInIsReadAsItWasWritten() throws {
        let request = SignInRequest(
            account: "ada", password: "\"\\\u{1}é", container: "iCloud.com.example",
            environment: "production",
            apiToken: "t")
        #expect(try SignInRequest(json: request.json()) == request)
        let response = SignInResponse(
            webAuthToken: "w/+=", userRecordName: "_1", expiresAtMilliseconds: 1_700_000_000_000)
        #expect(try SignInResponse(json: response.json()) == response)
    }

    @Test func theEnvironmentMayBeLeftOutButNotThePassword() throws {
        let short = Array(#"{"account":"ada","password":"p","container":"c"}"#.utf8)
        #expect(try SignInRequest(json: short).environment == "development")
        #expect(throws: JSONError.self) {
            try SignInRequest(json: Array(#"{"account":"ada","container":"c"}"#.utf8))
        }
    }

    @Test func sessionsAndSignInsAreReadAsTheyWereWritten() throws {
        let answer = OwnSessionsResponse(
            sessions: [
                OwnSession(
                    session: "0a", environment: "production", createdAtMilliseconds: 1,
                    expiresAtMilliseconds: 2, address: "192.0.2.1", client: "phone", isCurrent: true),
                OwnSession(
                    session: "0b", environment: "development", createdAtMilliseconds: 3,
                    expiresAtMilliseconds: 4),
            ], webAuthToken: "next")
        #expect(try OwnSessionsResponse(json: answer.json()) == answer)
        let event = SignInEvent(
            userRecordName: "_a", address: "192.0.2.1", client: nil, atMilliseconds: 5, lastAtMilliseconds: 4)
        #expect(try SignInEvent(json: event.json()) == event)
        #expect(throws: JSONError.self) { try SignInEvent(json: Array(#"{"event":"other"}"#.utf8)) }
    }
}

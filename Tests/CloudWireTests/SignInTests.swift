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
}

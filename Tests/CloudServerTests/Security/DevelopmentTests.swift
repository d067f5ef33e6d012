import CloudStore
import CloudWire
import Foundation
import HTTPServer
import System
import Testing

@testable import CloudServer

/// Development where it is for developers only, and tokens that name the other environment.
@Suite struct DevelopmentTests {
    private static func isRefused(_ response: RawResponse, _ words: String) throws -> Bool {
        let error = try WireError(json: response.body)
        return response.status == 403 && error.serverErrorCode == .accessDenied
            && error.reason?.contains(words) == true
    }

    private static func signIn(
        _ guarded: GuardedServer, _ environment: String, apiToken: String? = nil
    ) throws -> RawResponse {
        let request = SignInRequest(
            account: "ada", password: "ada's password", container: RawDevice.container,
            environment: environment, apiToken: apiToken ?? guarded.openToken)
        return try RawConnection(port: guarded.server.port).exchange(
            "POST", Route.signInPath, body: try request.json())
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("localhost", true), ("::1", true), ("0.0.0.0", false), ("::", false),
        ("192.0.2.1", false),
    ]) func developmentIsForEveryoneOnlyWhereTheServerListensOnLoopbackAlone(_ host: String, _ isOpen: Bool) {
        var options = CloudServerOptions()
        options.http.host = host
        #expect(options.isDevelopmentForEveryone == isOpen)
        for (choice, said) in [(DevelopmentAccess.everyone, true), (.developers, false)] {
            options.development = choice
            #expect(options.isDevelopmentForEveryone == said)
        }
        options.development = .auto
        options.publicURL = "https://cloud.example.com"
        #expect(!options.isDevelopmentForEveryone, "others come through a proxy")
        options.publicURL = nil
        options.trustsForwardedFor = true
        #expect(!options.isDevelopmentForEveryone)
    }

    @Test func whoIsADeveloperNoLongerIsRefusedEverywhereInDevelopmentAndServedInProduction() async throws {
        try await withGuardedServer(configure: {
            $0.development = .developers
            // Longer than a refusal takes on a busy machine: a hold that ends first is answered with an empty 200.
            $0.courierHoldMilliseconds = 1_000
        }) { guarded in
            let credential = Credential(webAuthToken: guarded.session, apiToken: guarded.openToken)
            let device = try RawDevice(port: guarded.server.port, token: credential)
            let connection = try RawConnection(port: guarded.server.port)
            let create = TokensCreateRequest(apnsEnvironment: .development)
            func newPushToken() throws -> RawResponse {
                try device.post("tokens/create", module: "device", create)
            }
            func list(_ environment: String, _ session: String?) throws -> RawResponse {
                try connection.exchange(
                    "POST",
                    guarded.target(
                        "private/zones/list", apiToken: guarded.openToken, session: session,
                        environment: environment))
            }
            let apnsToken = try TokensResponse(json: newPushToken().body).apnsToken
            func poll() throws -> RawResponse {
                try connection.exchange(
                    "GET", "/device/1/\(RawDevice.container)/development/courier?token=\(apnsToken)")
            }
            #expect(try poll().status == 200)

            try guarded.control.accounts.setDeveloper(false, ofAccount: "ada")
            let answers = [
                try list("development", guarded.session), try newPushToken(), try poll(),
                try Self.signIn(guarded, "development"),
            ]
            for (index, answer) in answers.enumerated() {
                #expect(try Self.isRefused(answer, "developers only"), "\(index): \(answer.text)")
            }
            #expect(try list("development", nil).status == 421)
            let session = try SignInResponse(json: Self.signIn(guarded, "production").body).webAuthToken
            #expect(try list("production", session).status == 200)

            try guarded.control.accounts.setDeveloper(true, ofAccount: "ada")
            #expect(try list("development", guarded.session).status == 200, "the sign-in is still there")
            #expect(try poll().status == 200)
            #expect(try Self.signIn(guarded, "development").status == 200)
        }
    }

    @Test func theSignInPageSaysThatDevelopmentIsForDevelopersOnlyBehindTheRightPassword() async throws {
        try await withGuardedServer(configure: { $0.development = .developers }) { guarded in
            try guarded.control.accounts.setDeveloper(false, ofAccount: "ada")
            let ticket = try #require(
                try guarded.control.signInTickets.make(
                    apiToken: guarded.boundToken, container: RawDevice.container, environment: "development",
                    origin: GuardedServer.origin))
            let code = try guarded.control.signInTickets.formCode(ticket: ticket, nonce: "n")
            func send(password: String) throws -> RawResponse {
                let password = PercentEncoding.encoded(password)
                return try RawConnection(port: guarded.server.port).exchange(
                    "POST", Route.signInFormPath, headers: [("Cookie", "\(SignInHandler.cookieName)=n")],
                    body: Array(
                        "ticket=\(ticket)&code=\(code)&account=ada&password=\(password)&action=sign-in".utf8))
            }
            let answer = try send(password: "ada's password")
            #expect(answer.status == 403 && answer.text.contains("developers only"), "\(answer.text)")
            #expect(!answer.text.contains("data-token"))
            #expect(try !send(password: "another").text.contains("developers"), "nobody else is told")
        }
    }

    @Test func aTokenOfAnotherEnvironmentIsRefusedWithTheEnvironmentThatItIsFor() async throws {
        try await withGuardedServer { guarded in
            let released = try guarded.control.tokens.make(
                container: RawDevice.container, name: "released", environments: .production)
            let connection = try RawConnection(port: guarded.server.port)
            func ask(_ environment: String, _ session: String) throws -> RawResponse {
                try connection.exchange(
                    "POST",
                    guarded.target(
                        "private/zones/list", apiToken: released, session: session, environment: environment))
            }
            for answer in [
                try ask("development", guarded.session),
                try Self.signIn(guarded, "development", apiToken: released),
            ] {
                let error = try WireError(json: answer.body)
                #expect(answer.status == 401 && error.serverErrorCode == .authenticationFailed)
                #expect(error.reason?.contains("for production only") == true, "\(answer.text)")
                #expect(error.redirectURL == nil)
            }
            let session = try SignInResponse(
                json: Self.signIn(guarded, "production", apiToken: released).body
            ).webAuthToken
            #expect(try ask("production", session).status == 200)
        }
    }
}

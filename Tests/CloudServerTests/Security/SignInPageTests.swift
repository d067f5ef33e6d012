import CloudStore
import CloudWire
import Crypto
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

/// The page to which AUTHENTICATION_REQUIRED leads, asked as a browser asks.
@Suite struct SignInPageTests {
    /// What a browser holds of an opened page.
    private struct Page {
        let connection: RawConnection
        let answer: RawResponse
        let ticket: String
        let code: String
        let cookie: String

        func send(
            _ fields: [(String, String)], cookie: String? = nil, code: String? = nil,
            headers: [(name: String, value: String)] = []
        ) throws -> RawResponse {
            let all = [("ticket", ticket), ("code", code ?? self.code)] + fields
            let body = all.map { "\($0)=\(PercentEncoding.encoded($1))" }.joined(separator: "&")
            let cookie = cookie ?? self.cookie
            return try connection.exchange(
                "POST", Route.signInFormPath, headers: headers + (cookie.isEmpty ? [] : [("Cookie", cookie)]),
                body: Array(body.utf8))
        }
    }

    /// Asks for something that needs a user, and opens the page to which the answer leads.
    private static func open(_ guarded: GuardedServer, apiToken: String, origin: String?) throws -> Page {
        let connection = try RawConnection(port: guarded.server.port)
        let response = try connection.exchange(
            "POST", guarded.target("private/zones/list", apiToken: apiToken),
            headers: origin.map { [("Origin", $0)] } ?? [])
        let error = try WireError(json: response.body)
        #expect(response.status == 421 && error.serverErrorCode == .authenticationRequired)
        let url = try #require(error.redirectURL.flatMap { URL(string: $0) })
        let target = "\(url.path)?\(url.query ?? "")"
        let answer = try connection.exchange("GET", target)
        let cookie = answer.header("Set-Cookie") ?? ""
        return Page(
            connection: connection, answer: answer, ticket: try field("ticket", answer),
            code: try field("code", answer), cookie: String(cookie.prefix { $0 != ";" }))
    }

    private static func field(_ name: String, _ answer: RawResponse) throws -> String {
        let mark = "name=\"\(name)\" value=\""
        let rest = try #require(
            answer.text.range(of: mark).map { answer.text[$0.upperBound...] }, "\(answer.text)")
        return String(rest.prefix { $0 != "\"" })
    }

    private static func attribute(_ name: String, _ answer: RawResponse) -> String? {
        answer.text.range(of: "data-\(name)=\"").map { range in
            String(answer.text[range.upperBound...].prefix { $0 != "\"" })
        }
    }

    private static let right = [("account", "ada"), ("password", "ada's password"), ("action", "sign-in")]

    @Test func thePagePostsTheTokenToThePageThatAskedAndToNoOther() async throws {
        try await withGuardedServer { guarded in
            let token = guarded.boundToken
            let page = try Self.open(guarded, apiToken: token, origin: GuardedServer.origin)
            let answer = try page.send(Self.right)
            #expect(answer.status == 200)
            #expect(Self.attribute("origins", answer) == GuardedServer.origin)
            let session = try #require(Self.attribute("token", answer))
            let asked = try page.connection.exchange(
                "POST", guarded.target("private/zones/list", apiToken: token, session: session))
            #expect(asked.status == 200, "\(asked.text)")
            let next = try #require(asked.header(WireHeader.newWebAuthToken))
            let again = try page.connection.exchange(
                "POST", guarded.target("private/zones/list", apiToken: token, session: next))
            #expect(again.status == 200)
        }
    }

    @Test func withoutAnOpeningPageTheTokenIsPostedToTheAppsOriginsOnly() async throws {
        try await withGuardedServer { guarded in
            let page = try Self.open(guarded, apiToken: guarded.boundToken, origin: nil)
            let answer = try page.send(Self.right)
            #expect(Self.attribute("origins", answer) == "http://localhost:3000 \(GuardedServer.origin)")
        }
    }

    @Test func anAppWithoutAnOriginAndACallbackCannotSignIn() async throws {
        try await withGuardedServer { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            for origin in [nil, "https://evil.example"] {
                let ticket = try Self.ticket(guarded, apiToken: guarded.openToken, origin: origin)
                let shown = try connection.exchange("GET", "\(Route.signInPath)?ticket=\(ticket)")
                #expect(shown.status == 400 && !shown.text.contains("<form"))
                #expect(shown.text.contains("names no page") && shown.text.contains("--origin"))
                let code = try guarded.control.signInTickets.formCode(ticket: ticket, nonce: "n")
                let body =
                    "ticket=\(ticket)&code=\(code)&account=ada&password=ada%27s+password&action=sign-in"
                let sent = try connection.exchange(
                    "POST", Route.signInFormPath, headers: [("Cookie", "\(SignInHandler.cookieName)=n")],
                    body: Array(body.utf8))
                #expect(sent.status == 400 && Self.attribute("token", sent) == nil)
            }
            let token = try guarded.control.tokens.make(
                container: RawDevice.container, name: "led", callback: "https://led.example/in")
            let page = try Self.open(guarded, apiToken: token, origin: "https://led.example")
            #expect(try page.send(Self.right).status == 303)
        }
    }

    private static func ticket(
        _ guarded: GuardedServer, apiToken: String, origin: String? = nil
    ) throws -> String {
        try #require(
            try guarded.control.signInTickets.make(
                apiToken: apiToken, container: RawDevice.container, environment: "development",
                origin: origin))
    }

    @Test func aForgedTicketTakesNoPlaceInTheQueue() async throws {
        try await withGuardedServer(configure: { $0.signInsWaitingMax = 0 }) { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            let ticket = try Self.ticket(guarded, apiToken: guarded.boundToken)
            for ticket in ["x", "", ticket + "0", String(ticket.dropLast())] {
                let shown = try connection.exchange("GET", "\(Route.signInPath)?ticket=\(ticket)")
                #expect(shown.status == 400)
                let sent = try connection.exchange(
                    "POST", Route.signInFormPath, body: Array("ticket=\(ticket)&account=ada".utf8))
                #expect(sent.status == 400)
            }
            let shown = try connection.exchange("GET", "\(Route.signInPath)?ticket=\(ticket)")
            #expect(shown.status == 503, "the queue has no place")
        }
    }

    @Test func aRegisteredCallbackGetsTheTokenPercentEncodedOnce() async throws {
        try await withGuardedServer { guarded in
            let token = try guarded.control.tokens.make(
                container: RawDevice.container, name: "led", origins: ["https://led.example"],
                callback: "https://led.example/in?x=1")
            let page = try Self.open(guarded, apiToken: token, origin: "https://led.example")
            #expect(
                page.answer.header("Content-Security-Policy")?.contains(
                    "form-action 'self' https://led.example;")
                    == true)
            let answer = try page.send(Self.right)
            #expect(answer.status == 303 && answer.body.isEmpty)
            let location = try #require(answer.header("Location"))
            #expect(location.hasPrefix("https://led.example/in?x=1&ckWebAuthToken="))
            let session = String(location.dropFirst("https://led.example/in?x=1&ckWebAuthToken=".count))
            #expect(
                session.utf8.allSatisfy {
                    ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x2D
                })
            let cancelled = try page.send([("action", "cancel")])
            #expect(
                cancelled.header("Location")
                    == "https://led.example/in?x=1&errorMessage=The%20user%20cancelled")
        }
        #expect(PercentEncoding.encoded("a+/=%2B é") == "a%2B%2F%3D%252B%20%C3%A9")
    }

    @Test func thePageRunsNoScriptButItsOwnAndIsShownInNoFrame() async throws {
        try await withGuardedServer { guarded in
            let page = try Self.open(guarded, apiToken: guarded.boundToken, origin: GuardedServer.origin)
            for (answer, runsScript) in [(page.answer, false), (try page.send(Self.right), true)] {
                let policy = try #require(answer.header("Content-Security-Policy"))
                #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
                #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
                #expect(!policy.contains("unsafe") && !policy.contains("*") && !policy.contains("http"))
                #expect(policy.contains("script-src 'sha256-") == runsScript)
                #expect(answer.text.contains("<script") == runsScript)
                #expect(!answer.text.contains("src=") && !answer.text.contains("<link"))
                #expect(answer.header("X-Frame-Options") == "DENY")
                #expect(answer.header("Cache-Control") == "no-store")
                #expect(answer.header("Access-Control-Allow-Origin") == nil)
                // What the policy allows is what stands in the page.
                for name in ["style", "script"] where runsScript || name == "style" {
                    let start = try #require(answer.text.range(of: "<\(name)>")).upperBound
                    let end = try #require(answer.text.range(of: "</\(name)>")).lowerBound
                    let hash = SignedRequest.base64(try SHA256.hash(String(answer.text[start..<end])))
                    #expect(policy.contains("\(name)-src 'sha256-\(hash)'"))
                }
            }
            let cookie = try #require(page.answer.header("Set-Cookie"))
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
        }
    }

    @Test func aFormThatAnotherPageSendsIsRefused() async throws {
        try await withGuardedServer { guarded in
            let page = try Self.open(guarded, apiToken: guarded.boundToken, origin: GuardedServer.origin)
            let own = "http://127.0.0.1:\(guarded.server.port)"
            #expect(try page.send(Self.right, cookie: "").status == 400)
            #expect(try page.send(Self.right, cookie: "yap-sign-in=0123").status == 400)
            #expect(try page.send(Self.right, code: String(repeating: "0", count: 64)).status == 400)
            for header in [
                ("Origin", "https://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site"),
                ("Sec-Fetch-Site", "same-site"),
            ] {
                #expect(try page.send(Self.right, headers: [header]).status == 400)
            }
            let other = try Self.open(guarded, apiToken: guarded.boundToken, origin: GuardedServer.origin)
            #expect(try page.send(Self.right, code: other.code).status == 400)
            #expect(
                try page.send(Self.right, headers: [("Origin", own), ("Sec-Fetch-Site", "same-origin")])
                    .status
                    == 200)
        }
    }

    @Test func aWrongPasswordIsShownInThePageAndAttemptsAreLimitedThereToo() async throws {
        try await withGuardedServer { guarded in
            let page = try Self.open(guarded, apiToken: guarded.boundToken, origin: GuardedServer.origin)
            let wrong = [("account", "ada\"><script>"), ("password", "x"), ("action", "sign-in")]
            let answer = try page.send(wrong)
            #expect(answer.status == 403 && answer.text.contains("role=\"alert\""))
            #expect(answer.text.contains("value=\"ada&quot;&gt;&lt;script&gt;\""))
            #expect(!answer.text.contains("data-token"))
            for _ in 0..<AttemptLimiter.accountTriesFree {
                _ = try page.send([("account", "ada"), ("password", "x"), ("action", "sign-in")])
            }
            let limited = try page.send(Self.right)
            #expect(limited.status == 429 && limited.header("Retry-After") != nil)
        }
    }

    @Test func aCancellationIsReportedToTheApp() async throws {
        try await withGuardedServer { guarded in
            let page = try Self.open(guarded, apiToken: guarded.boundToken, origin: GuardedServer.origin)
            let answer = try page.send([("action", "cancel")])
            #expect(answer.status == 200 && Self.attribute("error", answer) == "The user cancelled")
            #expect(Self.attribute("token", answer) == nil)
        }
    }

    @Test func whoStaysSignedInStaysForTwoWeeks() async throws {
        try await withGuardedServer { guarded in
            for (fields, life) in [([], 1_800_000), ([("stay", "yes")], 14 * 86_400_000)]
                as [([(String, String)], Int64)]
            {
                let page = try Self.open(guarded, apiToken: guarded.boundToken, origin: GuardedServer.origin)
                let session = try #require(Self.attribute("token", try page.send(Self.right + fields)))
                #expect(try guarded.control.sessions.find(token: session)?.lifeMilliseconds == life)
            }
        }
    }

    @Test func whoSignsOutIsAskedToSignInAgain() async throws {
        try await withGuardedServer { guarded in
            let page = try Self.open(guarded, apiToken: guarded.boundToken, origin: GuardedServer.origin)
            let session = try #require(Self.attribute("token", try page.send(Self.right)))
            let out = try page.connection.exchange("POST", "\(Route.signOutPath)?ckWebAuthToken=\(session)")
            #expect(out.status == 200)
            let asked = try page.connection.exchange(
                "POST", guarded.target("private/zones/list", apiToken: guarded.boundToken, session: session))
            #expect(asked.status == 421)
            #expect(try WireError(json: asked.body).redirectURL != nil)
        }
    }

    @Test func whoSignsOutGetsNoPushesOnThatDevice() async throws {
        try await withGuardedServer { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            let path = try DataFolder(path: guarded.folder.path).storePath(
                container: RawDevice.container, environment: "development")
            let ada = try #require(try guarded.control.accounts.find(named: "ada"))
            let user = try guarded.control.accounts.userRecordName(of: ada, container: RawDevice.container)
            func devices() throws -> [String] {
                var wanted = StoreLoad()
                wanted.devicesOf = [user]
                let loaded = try StoreFile(path: path)?.read { try $0.load(wanted).devices[user] }
                return (loaded ?? []).map(\.key.device).sorted()
            }
            for name in ["phone", "tab", "tablet"] {
                let target =
                    "/device/1/\(RawDevice.container)/development/tokens/create"
                    + "?ckAPIToken=\(guarded.openToken)&ckWebAuthToken=\(guarded.session)"
                let body = try TokensCreateRequest(apnsEnvironment: .development, clientID: name).json()
                #expect(try connection.exchange("POST", target, body: body).status == 200)
            }
            #expect(try devices() == ["phone", "tab", "tablet"])
            let other = try guarded.control.sessions.make(
                of: ada, container: RawDevice.container, environment: "development"
            ).token
            func signOut(_ items: String) throws -> Int {
                try connection.exchange("POST", "\(Route.signOutPath)?\(items)").status
            }
            #expect(try signOut("ckWebAuthToken=unknown&clientId=tab") == 200)
            #expect(try devices().count == 3)
            #expect(try signOut("ckWebAuthToken=\(guarded.session)&clientId=tab") == 200)
            #expect(try devices() == ["phone", "tablet"])
            #expect(try guarded.control.sessions.find(token: guarded.session) == nil)
            // Which device it is isn't said: those that are still signed in come back by themselves.
            #expect(try signOut("ckWebAuthToken=\(other)") == 200)
            #expect(try devices() == [])
        }
    }

    @Test(arguments: [
        "", "a=%", "a=%4", "a=%zz", "a=%FF", "a=b&a=c", String(repeating: "a&", count: 40),
    ])
    func whatIsNoFormHasNoValue(text: String) {
        #expect(FormFields(Array(text.utf8))?.value("a") == nil || text == "")
    }

    @Test func aFormIsReadAsBrowsersWriteIt() throws {
        let fields = try #require(FormFields(Array("a=b+c%2Bd&e=&f&g=%C3%A9=".utf8)))
        #expect(fields.value("a") == "b c+d" && fields.value("e") == "" && fields.value("f") == "")
        #expect(fields.value("g") == "é=" && fields.value("h") == nil)
    }
}

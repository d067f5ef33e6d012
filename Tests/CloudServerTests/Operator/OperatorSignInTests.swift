import CloudStore
import CloudWire
import Crypto
import Testing

@testable import CloudServer

@Suite struct OperatorSignInTests {
    @Test func aLinkSignsAnAdministratorInOnceToChooseAPassword() async throws {
        try await withGuardedServer { guarded in
            let link = try #require(try guarded.server.makeFirstDashboardLink())
            #expect(link.hasPrefix("\(guarded.server.url)/dashboard/link#"))
            let secret = String(link.drop { $0 != "#" }.dropFirst())
            var client = try OperatorClient(guarded)
            let signedIn = try client.post("session", #"{"link":"\#(secret)"}"#)
            #expect(signedIn.status == 200)
            try client.take(signedIn)
            #expect(signedIn.header("Set-Cookie")?.contains("; HttpOnly; SameSite=Strict") == true)
            #expect(try client.get("session").text.contains(#""hasPassword":false"#))
            // The link is used up, and the administrator's first password needs no former one.
            #expect(try OperatorClient(guarded).post("session", #"{"link":"\#(secret)"}"#).status == 401)
            let former = client
            let changed = try client.post("session/password", #"{"password":"a long sentence"}"#)
            try client.take(changed)
            #expect(try former.get("session").status == 421, "another password ends the sessions of before")
            #expect(try client.get("session").text.contains(#""hasPassword":true"#))
            #expect(try guarded.server.makeFirstDashboardLink() == nil, "nobody needs a link any more")
            let again = try OperatorClient(guarded).post(
                "session", #"{"name":"ADMIN","password":"a long sentence"}"#)
            #expect(again.status == 200)
        }
    }

    @Test func anotherPasswordNeedsTheFormerOneAndIsNotTooShort() async throws {
        try await withGuardedServer { guarded in
            try guarded.control.administrators.add("maria", role: .look)
            try OperatorClient.setPassword(of: "maria", guarded.control)
            var client = try OperatorClient(guarded)
            try client.take(
                client.post("session", #"{"name":"maria","password":"\#(OperatorClient.password)"}"#))
            #expect(try client.post("session/password", #"{"password":"another sentence"}"#).status == 401)
            let wrong = #"{"password":"another sentence","current":"wrong"}"#
            #expect(try client.post("session/password", wrong).status == 401)
            let short = #"{"password":"short","current":"\#(OperatorClient.password)"}"#
            #expect(try client.post("session/password", short).status == 400)
            let right = #"{"password":"another sentence","current":"\#(OperatorClient.password)"}"#
            #expect(try client.post("session/password", right).status == 200)
        }
    }

    @Test func wrongPasswordsOfAnAdministratorMakeTheNextTryWaitAlsoTheRightOne() async throws {
        try await withGuardedServer { guarded in
            try guarded.control.administrators.add("maria", role: .look)
            try OperatorClient.setPassword(of: "maria", guarded.control)
            let client = try OperatorClient(guarded)
            let wrong = try (0..<AttemptLimiter.accountTriesFree).map { _ in
                try client.post("session", #"{"name":"maria","password":"wrong"}"#).status
            }
            #expect(wrong == [401, 401, 401, 401, 401])
            let right = try client.post(
                "session", #"{"name":"maria","password":"\#(OperatorClient.password)"}"#)
            #expect(right.status == 429 && right.header("Retry-After") != nil)
            let lines = try guarded.control.auditLog.lines(linesMax: 10)
            #expect(lines.count == 5 && lines.allSatisfy { $0.action == .signInRefused })
        }
    }

    @Test func unknownNamesAreNotInTheAuditLog() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded)
            #expect(try client.post("session", #"{"name":"my secret","password":"x"}"#).status == 401)
            let lines = try guarded.control.auditLog.lines(linesMax: 10)
            #expect(lines.map(\.administrator) == [""])
        }
    }

    @Test func ofRefusedSignInsAFewLinesAnHourAreWritten() {
        var lines = HourlyLimit()
        let taken = (0..<1_000).count { lines.takes(atMilliseconds: Int64($0)) }
        #expect(taken == HourlyLimit.perHour)
        let isTakenLater = lines.takes(atMilliseconds: 3_600_000)
        #expect(isTakenLater)
    }

    @Test func beyondLoopbackNothingIsServedBeforeAnAdministratorHasAPassword() async throws {
        try await withGuardedServer(configure: { $0.publicURL = "https://cloud.example.com" }) { guarded in
            var client = try OperatorClient(guarded, role: .administer)
            let file = try Self.file()
            #expect(try guarded.server.makeFirstDashboardLink() == nil)
            #expect(try client.page("/dashboard").status == 404)
            #expect(try client.page(file).status == 404)
            #expect(try client.get("session").status == 404)
            #expect(try client.get("nothing", headers: [("Origin", "http://evil.example.com")]).status == 404)
            #expect(try client.post("session", #"{"link":"x"}"#).status == 404)
            try OperatorClient.setPassword(of: "administer", guarded.control)
            #expect(try client.page("/dashboard").status == 200)
            #expect(try client.page(file).status == 200)
            #expect(try client.get("session").status == 421)
            client = try OperatorClient(guarded)
            #expect(try client.get("session").status == 421)
        }
    }

    @Test func aDashboardThatIsOffIsServedNowhere() async throws {
        try await withGuardedServer(configure: { $0.dashboard = .off }) { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            #expect(try client.page(Self.file()).status == 404)
            #expect(guarded.server.dashboardURL == nil)
            #expect(try guarded.server.makeFirstDashboardLink() == nil)
            #expect(try client.page("/dashboard").status == 404)
            #expect(try client.get("session").status == 404)
        }
    }

    /// The address of a file of the page.
    private static func file() throws -> String {
        try String(
            #require(DashboardFiles().page.firstMatch(of: #/\/dashboard\/files\/[0-9a-f]+\/js\/main\.js/#))
                .output)
    }

    @Test func guessesFromElsewhereDontKeepAnAdministratorOutWhereTheyHaveSignedInBefore() async throws {
        try await withGuardedServer(configure: { $0.trustsForwardedFor = true }) { guarded in
            try guarded.control.administrators.add("maria", role: .look)
            try OperatorClient.setPassword(of: "maria", guarded.control)
            let client = try OperatorClient(guarded)
            func signIn(_ password: String, from address: String) throws -> Int {
                try client.post(
                    "session", #"{"name":"maria","password":"\#(password)"}"#,
                    headers: [("Content-Type", "application/json"), ("X-Forwarded-For", address)]
                ).status
            }
            #expect(try signIn(OperatorClient.password, from: "192.0.2.1") == 200)
            for _ in 0..<AttemptLimiter.accountTriesFree { _ = try signIn("wrong", from: "192.0.2.2") }
            #expect(try signIn(OperatorClient.password, from: "192.0.2.2") == 429)
            #expect(try signIn(OperatorClient.password, from: "192.0.2.1") == 200)
        }
    }

    @Test func aPasswordReplacedDuringItsCheckDoesNotSignIn() async throws {
        try await withGuardedServer { guarded in
            let administrators = guarded.control.administrators
            let sessions = guarded.control.administratorSessions
            try administrators.add("maria", role: .look)
            try OperatorClient.setPassword(of: "maria", guarded.control)
            let before = try #require(try administrators.administrator(named: "maria"))
            let session = try sessions.make(for: before, address: "::1", client: nil).session
            try OperatorClient.setPassword(of: "maria", guarded.control)
            #expect(throws: ControlError.noSuchAdministrator(name: "maria")) {
                try sessions.make(for: before, address: "::1", client: nil)
            }
            let hash = try PasswordHash(
                hashing: "a thief's sentence", cost: .init(costLog2: 4, blockSize: 8, parallelism: 1))
            #expect(try !administrators.setPassword(hash, by: session), "the session has ended")
        }
    }

    @Test func underTLSTheCookieIsTheHostsAloneAndSecure() {
        let secure = OperatorCookie(isSecure: true, host: "cloud.example.com").header("token")
        #expect(
            secure.value
                == "__Host-yap-operator=token; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure")
        #expect(OperatorCookie(isSecure: false, host: "127.0.0.1:8080").name == "yap-operator-8080")
    }

    @Test func anAdministratorSeesTheOwnSessionsAndOneWithTheRoleAdministerAll() async throws {
        try await withGuardedServer { guarded in
            let look = try OperatorClient(guarded, role: .look)
            let administer = try OperatorClient(guarded, role: .administer)
            #expect(try look.get("sessions").text.ranges(of: #""session":"#).count == 1)
            #expect(try administer.get("sessions").text.ranges(of: #""session":"#).count == 2)
            let sessions = guarded.control.administratorSessions
            let ids = try sessions.list().reduce(into: [:]) { $0[$1.administrator.name] = $1.id }
            let others = try #require(ids["administer"])
            #expect(try look.post("sessions/end", #"{"session":"\#(others)"}"#).status == 404)
            let looks = try #require(ids["look"])
            #expect(try administer.post("sessions/end", #"{"session":"\#(looks)"}"#).status == 200)
            #expect(try look.get("session").status == 421)
        }
    }
}

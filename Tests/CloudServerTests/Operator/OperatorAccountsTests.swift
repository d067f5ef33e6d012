import CloudService
import CloudStore
import CloudWire
import Crypto
import Testing

@testable import CloudServer

@Suite struct OperatorAccountsTests {
    private static func member(_ name: String, of response: RawResponse) throws -> JSONValue? {
        guard case .object(let members) = try JSONValue(json: response.body) else {
            throw Failure("no object: \(response.text)")
        }
        return members[name]
    }

    private static func signIn(_ guarded: GuardedServer, _ name: String, _ password: String) throws -> Int {
        let connection = try RawConnection(port: guarded.server.port)
        let request = SignInRequest(
            account: name, password: password, container: RawDevice.container, environment: "production",
            apiToken: guarded.openToken)
        return try connection.exchange("POST", "/yap/1/sign-in", body: request.json()).status
    }

    @Test func anAccountIsMadeWithAPasswordThatIsShownOnce() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let made = try client.post(
                "accounts/add", #"{"name":"bob@example.com","givenName":"Bob","email":"bob@example.com"}"#)
            #expect(made.status == 200, "\(made.text)")
            guard case .string(let password)? = try Self.member("password", of: made) else {
                throw Failure("no password")
            }
            #expect(try Self.signIn(guarded, "bob@example.com", password) == 200)
            let shown = try client.get("accounts/bob@example.com").text
            #expect(shown.contains(#""givenName":"Bob""#) && !shown.contains(password))
            #expect(shown.contains(#""sessionsCount":1"#) && shown.contains(#""environment":"production""#))
            #expect(try client.post("accounts/add", #"{"name":"BOB@example.com"}"#).status == 409)
            let lines = try guarded.control.auditLog.lines(linesMax: 3)
            #expect(lines.map(\.outcome) == [.refused, .done] && lines[1].action == .accountMade)
            #expect(!"\(lines)".contains(password))
        }
    }

    @Test(arguments: [
        #"{"name":"a b"}"#, #"{"name":"../x"}"#, #"{"name":""}"#, #"{"name":"x","password":"short"}"#,
        #"{"name":"x","email":"nobody"}"#, #"{"name":"x","givenName":"a\u0001"}"#, "{}",
        #"{"name":"x","isDeveloper":"yes"}"#,
    ])
    func whatCannotBeAnAccountIsNone(_ body: String) async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            #expect(try client.post("accounts/add", body).status == 400)
            #expect(try guarded.control.accounts.list().map(\.name) == ["ada"])
        }
    }

    @Test func accountsAreListedAPageAtATime() async throws {
        try await withGuardedServer { guarded in
            for number in 0..<60 {
                _ = try guarded.control.accounts.add(name: "bob\(number)", passwordHash: "x")
            }
            let client = try OperatorClient(guarded, role: .look)
            let first = try client.get("accounts?named=BOB").text
            #expect(first.ranges(of: #""sessionsCount""#).count == 50 && first.contains(#""after":"bob53""#))
            let second = try client.get("accounts?named=bob&after=bob53").text
            #expect(second.ranges(of: #""sessionsCount""#).count == 10 && second.contains(#""after":null"#))
            #expect(try client.get("accounts/nobody").status == 404)
        }
    }

    @Test func aChangeIsMadeAsAWholeOrNotAtAll() async throws {
        try await withGuardedServer { guarded in
            _ = try guarded.control.accounts.add(name: "bob", email: "bob@example.com", passwordHash: "x")
            let client = try OperatorClient(guarded, role: .administer)
            let refused = try client.post(
                "accounts/change", #"{"name":"ada","isDeveloper":false,"email":"bob@example.com"}"#)
            #expect(refused.status == 409)
            #expect(try guarded.control.accounts.find(named: "ada")?.isDeveloper == true)
            let changed = try client.post(
                "accounts/change", #"{"name":"ada","isDeveloper":false,"givenName":"Ada","email":""}"#)
            #expect(changed.status == 200 && changed.text.contains(#""isDeveloper":false"#))
            let account = try #require(try guarded.control.accounts.find(named: "ada"))
            #expect(account.givenName == "Ada" && account.email == nil && !account.isDeveloper)
            #expect(try client.post("accounts/change", #"{"name":"nobody"}"#).status == 404)
        }
    }

    @Test func aDisabledAccountIsRefusedAsAWrongPasswordIsAndComesBackWithItsPassword() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            #expect(try Self.signIn(guarded, "ada", "ada's password") == 200)
            let disabled = try client.post("accounts/disable", #"{"name":"ada"}"#)
            #expect(disabled.status == 200 && disabled.text.contains(#""isDisabled":true"#))
            #expect(try guarded.control.sessions.list(account: "ada").isEmpty)
            #expect(try Self.signIn(guarded, "ada", "ada's password") == 401)
            let device = try RawConnection(port: guarded.server.port)
            let target = guarded.target(
                "private/zones/list", apiToken: guarded.openToken, session: guarded.session)
            let refused = try device.exchange("POST", target)
            #expect(refused.status == 401, "\(refused.text)")
            // A new password doesn't let it in either.
            let password = #"{"name":"ada","password":"another password"}"#
            #expect(try client.post("accounts/password", password).status == 200)
            #expect(try Self.signIn(guarded, "ada", "another password") == 401)
            #expect(try client.post("accounts/enable", #"{"name":"ada"}"#).status == 200)
            #expect(try Self.signIn(guarded, "ada", "another password") == 200)
            let lines = try guarded.control.auditLog.lines(linesMax: 10)
            #expect(lines.map(\.action) == [.accountEnabled, .accountPassword, .accountDisabled])
            #expect(lines.allSatisfy { $0.outcome == .done && $0.names == ["ada"] })
        }
    }

    @Test func aPasswordAndAnEndOfSessionsForgetTheDevices() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let ada = try client.ada
            let device = try RawConnection(port: guarded.server.port)
            func makeToken() throws {
                let path = "/device/1/\(RawDevice.container)/development/tokens/create"
                let query =
                    "?ckAPIToken=\(guarded.openToken)&ckWebAuthToken=\(guarded.session)&clientId=phone"
                let made = try device.exchange(
                    "POST", path + query, body: Array(#"{"apnsEnvironment":"development"}"#.utf8))
                #expect(made.status == 200, "\(made.text)")
            }
            let path = "\(RawDevice.container)/development/devices?user=\(ada)"
            try makeToken()
            let listed = try client.get(path).text
            #expect(listed.contains(#""pushesWaiting":0"#) && listed.ranges(of: #""device""#).count == 1)
            let ended = try client.post("accounts/sessions/end", #"{"name":"ada"}"#)
            #expect(ended.text.contains(#""endedCount":1"#), "\(ended.text)")
            #expect(try client.get(path).text.contains(#""devices":[]"#))
            let none = #"{"name":"ada","session":"none"}"#
            #expect(try client.post("accounts/sessions/end", none).status == 404)
            #expect(try client.get("\(RawDevice.container)/development/devices").status == 400)
        }
    }

    @Test func aSessionOfAnotherAccountIsNotEnded() async throws {
        try await withGuardedServer { guarded in
            let bob = try guarded.control.accounts.add(name: "bob", passwordHash: "x")
            let session = try guarded.control.sessions.make(
                of: bob, container: RawDevice.container, environment: "production"
            ).session
            let client = try OperatorClient(guarded, role: .administer)
            let body = #"{"name":"ada","session":"\#(session.id)"}"#
            #expect(try client.post("accounts/sessions/end", body).status == 404)
            #expect(try guarded.control.sessions.list(account: "bob").count == 1)
            let own = #"{"name":"bob","session":"\#(session.id)"}"#
            #expect(try client.post("accounts/sessions/end", own).status == 200)
            #expect(try guarded.control.sessions.list(account: "bob").isEmpty)
        }
    }

    @Test func anAccountIsErasedInEachContainerAndOthersStay() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let ada = try client.ada
            let other = "_" + String(repeating: "0", count: 32)
            let zone = #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"own"}}}]}"#
            func save(_ names: [String], zone: String) -> String {
                let operations = names.map {
                    #"{"operationType":"forceUpdate","record":{"recordName":"\#($0)","recordType":"Note"}}"#
                }
                return
                    #"{"operations":[\#(operations.joined(separator: ","))],"zoneID":{"zoneName":"\#(zone)"}}"#
            }
            #expect(try client.post(client.data("private", "zones/modify", user: ada), zone).status == 200)
            // More than one step deletes.
            for part in 0..<3 {
                let names = (0..<100).map { "note\(part)-\($0)" }
                let path = client.data("private", "records/modify", user: ada)
                #expect(try client.post(path, save(names, zone: "_defaultZone")).status == 200)
            }
            let path = client.data("private", "records/modify", user: ada)
            #expect(try client.post(path, save(["a", "b"], zone: "own")).status == 200)
            let others = client.data("private", "records/modify", user: other)
            #expect(try client.post(others, save(["c"], zone: "_defaultZone")).status == 200)
            let deleted = try client.post("accounts/delete", #"{"name":"ada","erase":true}"#)
            #expect(deleted.text.contains(#""erasedCount":302"#), "\(deleted.text)")
            #expect(try guarded.control.accounts.find(named: "ada") == nil)
            let counts = "\(RawDevice.container)/development/counts?user="
            #expect(try client.get(counts + ada).text.contains(#""zones":[]"#))
            #expect(try client.get(counts + other).text.contains(#""count":1"#))
            let zones = try client.post(client.data("private", "zones/list", user: ada)).text
            #expect(!zones.contains(#""zoneName":"own""#))
            #expect(try client.post("accounts/delete", #"{"name":"ada","erase":true}"#).status == 404)
            let lines = try guarded.control.auditLog.lines(linesMax: 20)
                .filter { $0.action == .accountDeleted }
            #expect(lines.map(\.outcome) == [.refused, .done] && lines[1].note == "erased 302 records")
        }
    }

    @Test func anAccountThatIsDeletedWithoutErasingLeavesItsData() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let ada = try client.ada
            let save =
                #"{"operations":[{"operationType":"create","record":{"recordName":"a","recordType":"N"}}]}"#
            _ = try client.post(client.data("private", "records/modify", user: ada), save)
            let deleted = try client.post("accounts/delete", #"{"name":"ada","erase":false}"#)
            #expect(deleted.text == #"{"erasedCount":0}"#)
            #expect(try guarded.control.accounts.list().isEmpty)
            let counts = try client.get("\(RawDevice.container)/development/counts?user=\(ada)").text
            #expect(counts.contains(#""recordType":"N""#) && counts.contains(#""isCapped":false"#))
        }
    }
}

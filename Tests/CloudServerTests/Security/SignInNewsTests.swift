import CloudService
import CloudStore
import CloudWire
import Crypto
import HTTPServer
import SQLiteTestSupport
import System
import Testing
import Waiting

@testable import CloudServer

/// What an account's owner and the operator learn of sign-ins.
@Suite struct SignInNewsTests {
    /// A served folder whose clock stands, with the account ada and a page's app.
    private final class Served: Sendable {
        static let container = RawDevice.container
        let folder: TemporaryFolder
        let dataFolder: DataFolder
        let control: ControlStore
        let clock = ManualTimeSource(milliseconds: 1_800_000_000_000)
        let log = KeptLog()
        let server: CloudServer
        let apiToken: String

        init() throws {
            folder = try TemporaryFolder()
            dataFolder = DataFolder(path: folder.path)
            _ = try dataFolder.make()
            control = try ControlStore(path: dataFolder.controlPath, clock: clock)
            apiToken = try control.tokens.make(
                container: Self.container, name: "page", origins: ["https://app.example.com"])
            let cheap = PasswordHash.Cost(costLog2: 4, blockSize: 8, parallelism: 1)
            let hash = try PasswordHash(hashing: "ada's password", cost: cheap)
            try control.accounts.add(name: "ada", passwordHash: hash.text)
            var options = CloudServerOptions()
            options.log = log
            options.trustsForwardedFor = true
            server = try CloudServer(
                dataFolder: dataFolder, control: control,
                accounts: ControlAccounts(control, isDevelopmentForEveryone: true),
                signIn: SignInCheck(control, isDevelopmentForEveryone: true), options: options)
            try server.start()
        }

        func signIn(from address: String, client: String = "phone/1") throws -> String {
            let request = SignInRequest(
                account: "ada", password: "ada's password", container: Self.container, apiToken: apiToken)
            let response = try RawConnection(port: server.port).exchange(
                "POST", Route.signInPath,
                headers: [("X-Forwarded-For", address), ("User-Agent", client)], body: try request.json())
            guard response.status == 200 else { throw Failure("\(response.status) \(response.text)") }
            return try SignInResponse(json: response.body).webAuthToken
        }

        /// Signs in on the page.
        func signInOnThePage(from address: String) throws -> RawResponse {
            let ticket = try #require(
                try control.signInTickets.make(
                    apiToken: apiToken, container: Self.container, environment: "development",
                    origin: "https://app.example.com"))
            let code = try control.signInTickets.formCode(ticket: ticket, nonce: "n")
            let body = "ticket=\(ticket)&code=\(code)&account=ada&password=ada%27s+password&action=sign-in"
            return try RawConnection(port: server.port).exchange(
                "POST", Route.signInFormPath,
                headers: [
                    ("Cookie", "\(SignInHandler.cookieName)=n"), ("X-Forwarded-For", address),
                    ("User-Agent", "Browser/2 <b>"),
                ], body: Array(body.utf8))
        }

        func events() throws -> [[String: Any]] {
            try log.lines().filter { $0["event"] as? String == "sign-in from a new address" }
        }
    }

    private func withServed(_ body: @escaping @Sendable (Served) throws -> Void) async throws {
        try await onThread {
            let served = try Served()
            defer { served.server.stop() }
            try body(served)
        }
    }

    @Test func onlyASignInFromANewAddressIsLoggedAndSentToWebhooks() async throws {
        try await withServed { served in
            let receiver = try WebhookReceiver()
            defer { receiver.stop() }
            let path = try served.dataFolder.storePath(
                container: Served.container, environment: "development", makesFolders: true)
            let store = try SQLiteCloudStore(path: path)
            var changes = StoreChanges()
            for (name, type) in [("all", nil), ("todos", "Todo")] as [(String, String?)] {
                changes.notifications.webhooks.append(
                    WebhookRow(
                        name: name, url: "http://127.0.0.1:\(receiver.port)/\(name)", secret: [1],
                        recordType: type, madeMilliseconds: 0))
            }
            let made = changes
            try store.write { try $0.apply(made) }
            store.close()
            _ = try served.signIn(from: "192.0.2.1")
            _ = try served.signIn(from: "192.0.2.1", client: "another")
            served.clock.advance(bySeconds: 60)
            _ = try served.signIn(from: "198.51.100.7", client: "laptop/3")
            let requests = try receiver.received(2)
            #expect(requests.allSatisfy { $0.head.path == "/all" })
            let told = try requests.map { try SignInEvent(json: $0.body) }
            let new = try #require(told.first { $0.address == "198.51.100.7" })
            #expect(new.client == "laptop/3" && new.userRecordName.hasPrefix("_"))
            #expect(new.lastAtMilliseconds == new.atMilliseconds - 60_000)
            let line = try served.log.line { $0["address"] as? String == "198.51.100.7" }
            #expect(line["account"] as? String == "ada" && line["lastAddress"] as? String == "192.0.2.1")
            #expect(try served.events().count == 2)
            // What is known outlives the server.
            let again = try SignInCheck(
                ControlStore(path: served.dataFolder.controlPath), isDevelopmentForEveryone: true)
            let request = SignInRequest(
                account: "ADA", password: "ada's password", container: Served.container,
                apiToken: served.apiToken)
            guard case .signedIn(_, _, _, let news) = again.signIn(request, peer: "192.0.2.1") else {
                throw Failure("not signed in")
            }
            #expect(news.history.isKnownPlace && news.history.last?.address == "198.51.100.7")
        }
    }

    @Test func theOwnSessionsAreListedWithTimeAddressAndClient() async throws {
        try await withServed { served in
            let phone = try served.signIn(from: "192.0.2.1", client: "phone/1")
            served.clock.advance(bySeconds: 60)
            _ = try served.signIn(from: "2001:db8::1", client: "laptop/3")
            try served.control.containers.add("iCloud.other")
            let ada = try #require(try served.control.accounts.find(named: "ada"))
            _ = try served.control.sessions.make(
                of: ada, container: "iCloud.other", environment: "development")
            let connection = try RawConnection(port: served.server.port)
            func ask(_ token: String) throws -> RawResponse {
                try connection.exchange("GET", "\(Route.sessionsPath)?ckWebAuthToken=\(token)")
            }
            let answer = try OwnSessionsResponse(json: ask(phone).body)
            #expect(answer.sessions.map(\.address) == ["192.0.2.1", "2001:db8::1"], "of this container")
            #expect(answer.sessions.map(\.client) == ["phone/1", "laptop/3"])
            #expect(answer.sessions.map(\.isCurrent) == [true, false] && answer.webAuthToken == nil)
            #expect(
                answer.sessions[1].createdAtMilliseconds == answer.sessions[0].createdAtMilliseconds + 60_000)
            #expect(!(try ask(phone).text.contains(phone)))
            #expect(try ask("unknown").status == 401)
            #expect(try connection.exchange("POST", Route.sessionsPath).status == 400)
        }
    }

    @Test func thePageSaysWhenAndFromWhereTheAccountWasLastSignedInTo() async throws {
        try await withServed { served in
            let first = try served.signInOnThePage(from: "192.0.2.1")
            #expect(first.status == 200 && !first.text.contains("last sign-in"), "\(first.text)")
            #expect(!first.text.contains("data-stays"))
            served.clock.advance(bySeconds: 3_600)
            let known = try served.signInOnThePage(from: "192.0.2.1")
            #expect(
                known.text.contains(
                    "The last sign-in was on 2027-01-15 08:00 UTC from 192.0.2.1 with Browser/2 &lt;b&gt;."))
            #expect(!known.text.contains("data-stays"))
            let unusual = try served.signInOnThePage(from: "198.51.100.7")
            #expect(unusual.text.contains("2027-01-15 09:00"))
            #expect(unusual.text.contains("data-stays"), "the window waits for a person")
        }
    }

    /// Who copied a session's token may have those of its devices, which are good without a sign-in.
    @Test func aTokenThatIsReplayedEndsThePushesOfTheAccountsDevices() async throws {
        try await withServed { served in
            let ada = try #require(try served.control.accounts.find(named: "ada"))
            let made = try served.control.sessions.make(
                of: ada, container: Served.container, environment: "development",
                lifeMilliseconds: SignInPage.longLifeMilliseconds)
            let connection = try RawConnection(port: served.server.port)
            func create(_ token: String) throws -> RawResponse {
                try connection.exchange(
                    "POST",
                    "/device/1/\(Served.container)/development/tokens/create?ckAPIToken=\(served.apiToken)"
                        + "&ckWebAuthToken=\(token)",
                    headers: [("Origin", "https://app.example.com")],
                    body: try TokensCreateRequest(apnsEnvironment: .development, clientID: "tab").json())
            }
            let path = try served.dataFolder.storePath(
                container: Served.container, environment: "development")
            func devices() throws -> Int {
                var wanted = StoreLoad()
                wanted.devicesOf = [made.session.userRecordName]
                let loaded = try StoreFile(path: path)?.read { try $0.load(wanted).devices }
                return loaded?.values.first?.count ?? 0
            }
            let answer = try create(made.token)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try create(try #require(answer.header(WireHeader.newWebAuthToken))).status == 200)
            #expect(try devices() == 1)
            served.clock.advance(bySeconds: 600)
            #expect(try create(made.token).status == 421)
            try Polling.waitUntil { try devices() == 0 }
        }
    }
}

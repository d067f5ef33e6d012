import CloudService
import CloudStore
import CloudWire
import Crypto
import HTTPServer
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

/// A data folder that is served in this process, with an account, and a token of an app that names its origins.
final class GuardedServer: Sendable {
    static let origin = "https://app.example.com"

    let folder: TemporaryFolder
    let control: ControlStore
    let server: CloudServer
    /// Any page's, and those of one origin only.
    let openToken: String
    let boundToken: String
    let session: String

    init(configure: (inout CloudServerOptions) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        let dataFolder = DataFolder(path: folder.path)
        _ = try dataFolder.make()
        control = try ControlStore(path: dataFolder.controlPath)
        openToken = try control.tokens.make(container: RawDevice.container, name: "open")
        boundToken = try control.tokens.make(
            container: RawDevice.container, name: "bound", origins: [Self.origin, "http://localhost:3000"])
        let hash = try PasswordHash(
            hashing: "ada's password", cost: .init(costLog2: 4, blockSize: 8, parallelism: 1))
        let ada = try control.accounts.add(name: "ada", passwordHash: hash.text, isDeveloper: true)
        session = try control.sessions.make(
            of: ada, container: RawDevice.container, environment: "development"
        ).token
        var options = CloudServerOptions()
        configure(&options)
        server = try CloudServer(
            dataFolder: dataFolder, control: control,
            accounts: ControlAccounts(control, isDevelopmentForEveryone: options.isDevelopmentForEveryone),
            signIn: SignInCheck(control, isDevelopmentForEveryone: options.isDevelopmentForEveryone),
            options: options)
        try server.start()
    }

    func target(
        _ path: String, apiToken: String?, session: String? = nil, environment: String = "development"
    ) -> String {
        let items = [("ckAPIToken", apiToken), ("ckWebAuthToken", session)].compactMap { name, value in
            value.map { "\(name)=\($0)" }
        }
        return "/database/1/\(RawDevice.container)/\(environment)/\(path)?\(items.joined(separator: "&"))"
    }
}

func withGuardedServer(
    configure: @escaping @Sendable (inout CloudServerOptions) -> Void = { _ in },
    _ body: @escaping @Sendable (GuardedServer) throws -> Void
) async throws {
    try await onThread {
        let server = try GuardedServer(configure: configure)
        defer { server.server.stop() }
        try body(server)
    }
}

@Suite struct OriginTests {
    private static let exposed =
        "X-Apple-Request-UUID, X-Responding-Instance, Via, X-Apple-CloudKit-Web-Auth-Token, Retry-After, "
        + "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Yap-Protocol"

    private static func mayRead(_ response: RawResponse, _ origin: String) -> Bool {
        response.header("Access-Control-Allow-Origin") == origin
            && response.header("Access-Control-Allow-Credentials") == "true"
            && response.header("Access-Control-Expose-Headers") == exposed
            && response.header("Vary") == "Origin"
    }

    @Test func aPageOfAnotherOriginIsRefusedAndMayNotReadWhy() async throws {
        try await withGuardedServer { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            let target = guarded.target(
                "public/users/caller", apiToken: guarded.boundToken, session: guarded.session)
            for origin in [GuardedServer.origin, "http://localhost:3000"] {
                let response = try connection.exchange("POST", target, headers: [("Origin", origin)])
                #expect(response.status == 200 && Self.mayRead(response, origin))
            }
            // Not a page's: a device's, or a program's.
            #expect(try connection.exchange("POST", target).status == 200)
            for origin in [
                "https://evil.example.com", "http://app.example.com", "https://app.example.com:8443",
                "https://app.example.com.evil.com", "null", "https://APP.example.com", "",
            ] {
                let response = try connection.exchange("POST", target, headers: [("Origin", origin)])
                #expect(response.status == 401, "\(origin)")
                #expect(try WireError(json: response.body).serverErrorCode == .authenticationFailed)
                #expect(response.header("Access-Control-Allow-Origin") == nil)
                #expect(response.header("Vary") == "Origin")
            }
        }
    }

    @Test func anAppWithoutOriginsIsForPagesOfAny() async throws {
        try await withGuardedServer { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            let target = guarded.target(
                "public/users/caller", apiToken: guarded.openToken, session: guarded.session)
            for origin in ["https://anything.example", "null"] {
                let response = try connection.exchange("POST", target, headers: [("Origin", origin)])
                #expect(response.status == 200 && Self.mayRead(response, origin))
            }
        }
    }

    @Test func aBrowserGetsAResponseForAnyResult() async throws {
        try await withGuardedServer { guarded in
            let origin = (name: "Origin", value: GuardedServer.origin)
            let cases: [(String, String, [UInt8], Int)] = [
                ("public/records/lookup", guarded.boundToken, Array(#"{"records":[]}"#.utf8), 200),
                ("private/zones/list", guarded.boundToken, [], 421),
                ("public/users/caller", "unknown", [], 401),
                ("public/records/lookup", guarded.boundToken, Array("{".utf8), 400),
                ("public/no/endpoint", guarded.boundToken, [], 404),
                ("public/records/modify", guarded.boundToken, [UInt8](repeating: 0x20, count: 3 << 20), 400),
            ]
            for (path, token, body, status) in cases {
                let connection = try RawConnection(port: guarded.server.port)
                let response = try connection.exchange(
                    "POST", guarded.target(path, apiToken: token), headers: [origin], body: body)
                #expect(response.status == status, "\(path): \(response.text)")
                #expect(Self.mayRead(response, GuardedServer.origin), "\(path): \(response.headers)")
                #expect(response.text.hasPrefix("{"))
            }
        }
    }

    @Test func aPreflightIsAnsweredAsTheAppSays() async throws {
        try await withGuardedServer { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            func preflight(_ token: String?, origin: String) throws -> RawResponse {
                try connection.exchange(
                    "OPTIONS", guarded.target("private/records/modify", apiToken: token),
                    headers: [
                        ("Origin", origin), ("Access-Control-Request-Method", "POST"),
                        ("Access-Control-Request-Headers", "x-yap-operation"),
                    ])
            }
            let allowed = try preflight(guarded.boundToken, origin: GuardedServer.origin)
            #expect(allowed.status == 204 && Self.mayRead(allowed, GuardedServer.origin))
            #expect(allowed.header("Access-Control-Allow-Methods") == "GET, POST, OPTIONS")
            #expect(allowed.header("Access-Control-Allow-Headers") == "x-yap-operation")
            let refused = try preflight(guarded.boundToken, origin: "https://evil.example.com")
            #expect(refused.status == 401 && refused.header("Access-Control-Allow-Origin") == nil)
            // What is wrong with the request is said when it comes.
            for token in [nil, "unknown", guarded.openToken] {
                #expect(try preflight(token, origin: "https://evil.example.com").status == 204)
            }
        }
    }

    @Test func preflightsCountAsUnauthenticatedRequests() async throws {
        try await withGuardedServer(configure: {
            $0.clock = ManualTimeSource(milliseconds: 1_800_000_000_000)
            $0.rates.address = .init(perSecond: 1, burst: 3)
        }) { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            let statuses = try (0..<5).map { _ in
                try connection.exchange(
                    "OPTIONS", guarded.target("private/records/modify", apiToken: guarded.boundToken),
                    headers: [("Origin", GuardedServer.origin), ("Access-Control-Request-Method", "POST")]
                ).status
            }
            #expect(statuses == [204, 204, 204, 429, 429])
        }
    }

    @Test func preflightsThatNoServiceCountsAreCountedByNetwork() async throws {
        let targets = [
            "/database/1/\(RawDevice.container)/development/private/records/modify",
            "/database/1/iCloud.nobody/development/private/records/modify?ckAPIToken=guessed",
            "/device/1/\(RawDevice.container)/development/courier",
            "/asset/1/\(RawDevice.container)/development/upload",
            "/asset/1/\(RawDevice.container)/development/file/a/b",
        ]
        try await withGuardedServer(configure: {
            $0.clock = ManualTimeSource(milliseconds: 1_800_000_000_000)
            $0.rates.address = .init(perSecond: 1, burst: targets.count)
            $0.trustsForwardedFor = true
        }) { guarded in
            let connection = try RawConnection(port: guarded.server.port)
            func ask(_ target: String, from address: String) throws -> RawResponse {
                try connection.exchange(
                    "OPTIONS", target,
                    headers: [
                        ("Origin", GuardedServer.origin), ("Access-Control-Request-Method", "POST"),
                        ("X-Forwarded-For", address),
                    ])
            }
            for (index, target) in targets.enumerated() {
                #expect(try ask(target, from: "2001:db8::\(index)").status == 204)
            }
            for target in targets {
                let refused = try ask(target, from: "2001:db8::99")
                #expect(refused.status == 429 && refused.header("Retry-After") != nil)
                #expect(refused.header("Access-Control-Allow-Origin") != nil)
            }
            #expect(try ask(targets[0], from: "192.0.2.1").status == 204)
        }
    }

    @Test func whatIsAskedOfNoServiceCountsToItsAddress() async throws {
        for (method, path) in [
            ("GET", "/yap/1/sign-in?ticket=x"), ("GET", "/nowhere"), ("POST", "/yap/1/sign-in"),
            ("OPTIONS", "/database/1/iCloud.com.example.todo/development/private/records/modify"),
            ("POST", "/database/1/iCloud.nobody/development/public/records/query"),
            ("GET", "/device/1/iCloud.nobody/development/courier?token=x"),
            ("GET", "/asset/1/iCloud.nobody/development/file/sum/name?t=x"),
            ("POST", "/asset/1/iCloud.nobody/development/upload?t=x"),
        ] {
            try await withGuardedServer(configure: {
                $0.clock = ManualTimeSource(milliseconds: 1_800_000_000_000)
                $0.rates.address = .init(perSecond: 1, burst: 3)
                $0.trustsForwardedFor = true
            }) { guarded in
                let connection = try RawConnection(port: guarded.server.port)
                func ask(from address: String) throws -> Int {
                    let headers = [(name: "X-Forwarded-For", value: address)]
                    return try connection.exchange(method, path, headers: headers).status
                }
                for _ in 0..<3 { #expect(try ask(from: "192.0.2.1") != 429) }
                #expect(try ask(from: "192.0.2.1") == 429, "\(method) \(path)")
                #expect(try ask(from: "192.0.2.2") != 429)
                #expect(try connection.exchange("GET", "/health").status == 200)
            }
        }
    }

    @Test func aProxysConnectionsAreNotOneAddresss() async throws {
        for (isTrusted, status) in [(false, 503), (true, 200)] {
            try await withGuardedServer(configure: {
                $0.http.connectionsOfAddressMax = 1
                $0.http.countsLoopbackConnections = true
                $0.trustsForwardedFor = isTrusted
            }) { guarded in
                let first = try RawConnection(port: guarded.server.port)
                #expect(try first.exchange("GET", "/yap/1/health").status == 200)
                let second = try RawConnection(port: guarded.server.port)
                if isTrusted { try second.sendRequest("GET", "/yap/1/health") }
                #expect(try second.receive().status == status)
            }
        }
    }

    @Test func aProgramSignsWithItsKeyUntilItIsRevoked() async throws {
        try await withGuardedServer { guarded in
            let key = try P256PrivateKey()
            let made = try guarded.control.serverKeys.add(
                container: RawDevice.container, environment: "development", name: "jobs",
                publicKey: key.publicKey.der)
            let connection = try RawConnection(port: guarded.server.port)
            func ask(_ environment: String = "development", proxied: Bool = false) throws -> RawResponse {
                // Escapes in another form than a client of ours would choose: what was sent is what counts.
                let path =
                    "/database/1/\(RawDevice.container)/\(environment)/public/users/%63aller?clientId=a%2bb"
                let date = logTime(milliseconds: SystemTimeSource().nowMilliseconds())
                let message = "\(date):\(SignedRequest.emptyBodyHash):\(path)"
                let signature = try key.signature(of: Array(message.utf8))
                return try connection.exchange(
                    "GET", (proxied ? "http://127.0.0.1:\(guarded.server.port)" : "") + path,
                    headers: [
                        (WireHeader.keyID, made.id), (WireHeader.signedDate, date),
                        (WireHeader.signature, SignedRequest.base64(signature)),
                    ])
            }
            for proxied in [false, true] {
                let response = try ask(proxied: proxied)
                #expect(response.status == 200, "\(response.text)")
                #expect(response.text.contains(made.userRecordName))
            }
            #expect(try ask("production").status == 401)
            #expect(
                try guarded.control.serverKeys.revoke(
                    container: RawDevice.container, environment: "development", name: "jobs"))
            #expect(try ask().status == 401)
        }
    }
}

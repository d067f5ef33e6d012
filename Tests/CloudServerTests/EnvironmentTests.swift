import CloudServer
import CloudStore
import CloudWire
import Crypto
import Foundation
import SQLiteTestSupport
import Seams
import Testing

/// A server over a data folder, in this process.
@Suite struct EnvironmentTests {
    private static let containers = (0..<5).map { "iCloud.container\($0)" }

    @Test func moreContainersThanMayBeOpenAreServedOneAfterTheOther() async throws {
        try await onThread {
            let folder = try ControlledFolder(containers: Self.containers, environmentsOpenMax: 2)
            let server = try folder.start()
            defer { server.stop() }
            let connection = try RawConnection(port: server.port)
            for round in 0..<3 {
                for container in Self.containers {
                    let response = try folder.save("r\(round)", container, connection)
                    #expect(response.status == 200, "\(response.text)")
                }
            }
            for container in Self.containers {
                let path = try folder.dataFolder.storePath(container: container, environment: "development")
                #expect(FileManager.default.fileExists(atPath: path))
                let lookup = try folder.lookup(["r0", "r1", "r2"], container, connection)
                #expect(!lookup.text.contains("serverErrorCode"))
            }
            let metrics = try connection.exchange("GET", "/yap/1/metrics").text
            #expect(metrics.contains("yap_environments_open 2\n"))
            #expect(metrics.contains("yap_requests_total{operation=\"records/modify\",status=\"200\"} 15\n"))
        }
    }

    /// Opening and closing under load: whoever isn't served is told to come back, and nothing acknowledged is lost.
    @Test func environmentsThatAreOpenedAndClosedUnderLoadLoseNothing() async throws {
        try await onThread {
            let folder = try ControlledFolder(containers: Self.containers, environmentsOpenMax: 2)
            let server = try folder.start()
            defer { server.stop() }
            let port = server.port
            try onThreads(10) { index in
                let connection = try RawConnection(port: port)
                let container = Self.containers[index % Self.containers.count]
                for number in 0..<12 {
                    var response = try folder.save("c\(index)-\(number)", container, connection)
                    while response.status == 503 {
                        response = try folder.save("c\(index)-\(number)", container, connection)
                    }
                    guard response.status == 200, !response.text.contains("serverErrorCode") else {
                        throw Failure("\(response.status) \(response.text)")
                    }
                }
                let names = (0..<12).map { "c\(index)-\($0)" }
                var lookup = try folder.lookup(names, container, connection)
                while lookup.status == 503 { lookup = try folder.lookup(names, container, connection) }
                guard !lookup.text.contains("serverErrorCode") else { throw Failure(lookup.text) }
            }
        }
    }

    @Test func whoAsksForContainersThatAreNotThereClosesNone() async throws {
        try await onThread {
            let folder = try ControlledFolder(containers: Self.containers, environmentsOpenMax: 1)
            let server = try folder.start()
            defer { server.stop() }
            let connection = try RawConnection(port: server.port)
            #expect(try folder.save("a", Self.containers[0], connection).status == 200)
            for number in 0..<3 {
                let stranger = try connection.exchange(
                    "GET", "/database/1/iCloud.nobody\(number)/development/public/users/caller")
                #expect(stranger.status == 404)
                let metrics = try connection.exchange("GET", "/yap/1/metrics").text
                #expect(metrics.contains("yap_environments_open 1\n"))
            }
        }
    }

    @Test func aPasswordSignsInOverHTTPAndAWrongOneDoesNot() async throws {
        try await onThread {
            let folder = try ControlledFolder(containers: Self.containers, environmentsOpenMax: 2)
            let server = try folder.start()
            defer { server.stop() }
            let connection = try RawConnection(port: server.port)
            func signIn(_ password: String) throws -> RawResponse {
                let request = SignInRequest(
                    account: "ada", password: password, container: Self.containers[0],
                    apiToken: folder.apiTokens[Self.containers[0]])
                return try connection.exchange("POST", "/yap/1/sign-in", body: try request.json())
            }
            let good = try signIn("right password")
            #expect(good.status == 200)
            #expect(good.header("Cache-Control") == "no-store")
            let answer = try SignInResponse(json: good.body)
            let credential = Credential(
                webAuthToken: answer.webAuthToken, apiToken: folder.apiTokens[Self.containers[0]])
            let caller = try connection.exchange(
                "GET", "/database/1/\(Self.containers[0])/development/public/users/caller?\(credential.query)"
            )
            #expect(try UsersCallerResponse(json: caller.body).userRecordName == answer.userRecordName)
            let elsewhere = try connection.exchange(
                "GET", "/database/1/\(Self.containers[1])/development/public/users/caller?\(credential.query)"
            )
            #expect(elsewhere.status == 401)
            let bad = try signIn("wrong password")
            #expect(bad.status == 401)
            #expect(try WireError(json: bad.body).serverErrorCode == .authenticationFailed)
            var statuses: Set<Int> = []
            for _ in 0..<12 { statuses.insert(try signIn("wrong").status) }
            #expect(statuses.isSubset(of: [401, 429]) && statuses.contains(429))
            let rubbish = try connection.exchange("POST", "/yap/1/sign-in", body: Array("{".utf8))
            #expect(rubbish.status == 400)
            #expect(!"\(try folder.log.lines())".contains("password"))
        }
    }

    @Test func aSignInThatTheServerCouldNotCheckIsToldToTheOperatorOnly() async throws {
        try await onThread {
            let folder = try ControlledFolder(containers: Self.containers, environmentsOpenMax: 2)
            let server = try folder.start(signIn: BrokenChecker())
            defer { server.stop() }
            let request = SignInRequest(account: "ada", password: "p", container: "c")
            let response = try RawConnection(port: server.port).exchange(
                "POST", "/yap/1/sign-in",
                headers: [("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "2.2.2.2, 3.3.3.3")],
                body: try request.json())
            #expect(response.status == 500)
            #expect(!response.text.contains("disk"))
            let line = try folder.log.line { $0["event"] as? String == "sign-in failed" }
            #expect(line["id"] as? String == response.header("X-Apple-Request-UUID"))
            // What the nearest proxy wrote, since the server was told to trust it.
            #expect(line["error"] as? String == "no disk for 3.3.3.3")
        }
    }

    @Test func aFileThatCannotBeOpenedIsToldToTheOperatorOnly() async throws {
        try await onThread {
            let folder = try ControlledFolder(containers: Self.containers, environmentsOpenMax: 2)
            let path = try folder.dataFolder.storePath(
                container: Self.containers[0], environment: "development", makesFolders: true)
            try String(repeating: "not a database ", count: 300).write(
                toFile: path, atomically: true, encoding: .utf8)
            let server = try folder.start()
            defer { server.stop() }
            let connection = try RawConnection(port: server.port)
            let refused = try folder.save("a", Self.containers[0], connection)
            #expect(refused.status == 500)
            #expect(!refused.text.contains(folder.dataFolder.path))
            #expect(try folder.save("a", Self.containers[1], connection).status == 200)
            let line = try folder.log.line { $0["event"] as? String == "environment can't be opened" }
            #expect(line["container"] as? String == Self.containers[0])
        }
    }
}

/// A data folder with containers and an account that signs in to each.
private final class ControlledFolder: Sendable {
    private let folder: TemporaryFolder
    private let control: ControlStore
    private let environmentsOpenMax: Int
    let apiTokens: [String: String]
    let credentials: [String: Credential]
    let log = KeptLog()

    var dataFolder: DataFolder { DataFolder(path: folder.path) }

    init(containers: [String], environmentsOpenMax: Int) throws {
        folder = try TemporaryFolder()
        self.environmentsOpenMax = environmentsOpenMax
        let dataFolder = DataFolder(path: folder.path)
        _ = try dataFolder.make()
        let control = try ControlStore(path: dataFolder.controlPath)
        self.control = control
        let account = try control.addAccount(
            name: "ada", passwordHash: try PasswordHash(hashing: "right password").text)
        var apiTokens: [String: String] = [:]
        var credentials: [String: Credential] = [:]
        for container in containers {
            _ = try control.addContainer(container)
            let apiToken = try control.makeToken(container: container, name: "tests")
            let session = try control.makeSession(
                of: account, container: container, environment: "development")
            apiTokens[container] = apiToken
            credentials[container] = Credential(webAuthToken: session.token, apiToken: apiToken)
        }
        self.apiTokens = apiTokens
        self.credentials = credentials
    }

    func start(signIn: (any SignInChecker)? = nil) throws -> CloudServer {
        var options = CloudServerOptions()
        options.environmentsOpenMax = environmentsOpenMax
        options.servesMetrics = true
        options.trustsForwardedFor = signIn != nil
        options.log = log
        let server = CloudServer(
            dataFolder: dataFolder, control: control, accounts: ControlAccounts(control),
            signIn: try signIn ?? SignInCheck(control), options: options)
        try server.start()
        return server
    }

    func save(_ name: String, _ container: String, _ connection: RawConnection) throws -> RawResponse {
        let request = RecordsModifyRequest(operations: [
            RecordOperation(operationType: .create, record: RawDevice.record(name, 1))
        ])
        return try connection.exchange(
            "POST", target("private/records/modify", container), body: try request.json())
    }

    func lookup(_ names: [String], _ container: String, _ connection: RawConnection) throws -> RawResponse {
        let request = RecordsLookupRequest(records: names.map { .init(recordName: $0) })
        return try connection.exchange(
            "POST", target("private/records/lookup", container), body: try request.json())
    }

    private func target(_ path: String, _ container: String) -> String {
        "/database/1/\(container)/development/\(path)?\(credentials[container]?.query ?? "")"
    }
}

/// A check of passwords that can't read its file.
private struct BrokenChecker: SignInChecker {
    func signIn(_ request: SignInRequest, peer: String) -> SignInAnswer {
        .failed(reason: "no disk for \(peer)")
    }
}

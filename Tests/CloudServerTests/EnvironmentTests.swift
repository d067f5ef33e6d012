import CloudService
import CloudStore
import CloudWire
import Crypto
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

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
            let foundCount = Lock(0)
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
                let records = try RecordsResponse(json: lookup.body).records
                foundCount.withLock { $0 += records.count }
            }
            #expect(foundCount.withLock { $0 } == 120)
        }
    }

    @Test func requestsForMissingContainersCloseNoEnvironment() async throws {
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

    @Test func bodiesThatWaitForAnEnvironmentAreBoundedTogether() async throws {
        try await onThread {
            let (begun, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let table = try EnvironmentTable(
                openMax: 64,
                opener: { _ in
                    begun.signal()
                    release.wait()
                    return nil
                }, courier: Courier(pollsMax: 1, holdMilliseconds: 1, clock: SystemMonotonicSource()),
                webhooks: WebhookSender(clock: SystemTimeSource())
            ).started()
            let codes = Lock<[ServerErrorCode]>([])
            let answered = DispatchSemaphore(value: 0)
            func use(_ name: String, bodyBytes: Int) {
                let container = CloudService.Container(identifier: name)
                table.use(container, from: "192.0.2.1", bodyBytes: bodyBytes) { result in
                    guard case .failure(let error) = result else { return }
                    codes.withLock { $0.append(error.serverErrorCode) }
                    answered.signal()
                }
            }
            let half = EnvironmentTable.waitingBytesMax / 2
            use("held", bodyBytes: half)
            begun.wait()
            use("held", bodyBytes: half)
            #expect(codes.withLock { $0 }.isEmpty)
            for name in ["held", "other"] { use(name, bodyBytes: 1) }
            #expect(codes.withLock { $0 } == [.tryAgainLater, .tryAgainLater])
            release.signal()
            for _ in 0..<4 { answered.wait() }
            #expect(codes.withLock { $0 }.suffix(2) == [.notFound, .notFound])
            // What was answered takes no room any more.
            use("other", bodyBytes: 2 * half)
            release.signal()
            answered.wait()
            #expect(codes.withLock { $0 }.last == .notFound)
            table.stop()
        }
    }

    /// The thread that opens is kept busy: names of containers that aren't there are answered all the same, take no
    /// place in its queue, and addresses take turns in it.
    @Test func namesThatAreNotThereTakeNoPlaceAmongWhatIsToBeOpened() async throws {
        try await onThread {
            let (begun, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let opened = Lock<[String]>([])
            let clock = SystemMonotonicSource()
            let table = try EnvironmentTable(
                openMax: 64, finder: { !$0.identifier.hasPrefix("nobody") },
                opener: { container in
                    if container.identifier == "held" {
                        begun.signal()
                        release.wait()
                    }
                    opened.withLock { $0.append(container.identifier) }
                    return nil
                }, courier: Courier(pollsMax: 1, holdMilliseconds: 1, clock: clock),
                webhooks: WebhookSender(clock: SystemTimeSource())
            ).started()
            let answers = Lock<[String: Int]>([:])
            let answered = DispatchSemaphore(value: 0)
            func waitForAnswer() throws {
                guard answered.wait(timeout: .now() + 60) == .success else {
                    release.signal()
                    throw Failure("no answer in a minute: \(answers.withLock { $0 })")
                }
            }
            func use(_ name: String, from peer: String) {
                let container = CloudService.Container(identifier: name)
                table.use(container, from: peer) { result in
                    guard case .failure(let error) = result else { return }
                    answers.withLock { $0[error.serverErrorCode.rawValue, default: 0] += 1 }
                    answered.signal()
                }
            }
            use("held", from: "192.0.2.1")
            begun.wait()
            for number in 0..<200 {
                use("nobody\(number)", from: "2001:db8::\(number)")
                try waitForAnswer()
            }
            #expect(answers.withLock { $0 } == ["NOT_FOUND": 200])
            // One address's flood of names that are there is told to wait, and another's turn comes next.
            for number in 0..<1_000 { use("flood\(number)", from: "192.0.2.1") }
            use("flood0", from: "192.0.2.2")
            use("other", from: "192.0.2.2")
            use("nobody", from: "192.0.2.2")
            while answers.withLock({ $0["TRY_AGAIN_LATER"] ?? 0 }) < 1_000 - 114 { try waitForAnswer() }
            while answers.withLock({ $0["NOT_FOUND"] ?? 0 }) < 201 { try waitForAnswer() }
            release.signal()
            table.stop()
            let order = opened.withLock { $0 }
            #expect(order.prefix(5).contains("other"), "\(order.prefix(9))")
            #expect(order.count == 1 + 114 + 1, "\(order.count)")
            #expect(Set(order).count == order.count, "each once")
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

    @Test func aSignInThatCouldNotBeCheckedIsReportedToTheOperatorOnly() async throws {
        try await onThread {
            let folder = try ControlledFolder(containers: Self.containers, environmentsOpenMax: 2)
            let server = try folder.start(signIn: BrokenChecker())
            defer { server.stop() }
            let request = SignInRequest(account: "ada", password: "p", container: "c")
            let response = try RawConnection(port: server.port).exchange(
                "POST", "/yap/1/sign-in",
                headers: [("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "2.2.2.2, 3.3.3.3")],
                body: try request.json())
            #expect(response.status == 503)
            #expect(try WireError(json: response.body).serverErrorCode == .tryAgainLater)
            #expect(!response.text.contains("disk"))
            let line = try folder.log.line { $0["event"] as? String == "sign-in failed" }
            #expect(line["id"] as? String == response.header("X-Apple-Request-UUID"))
            // What the nearest proxy wrote, since the server was told to trust it.
            #expect(line["error"] as? String == "no disk for 3.3.3.3")
        }
    }

    @Test func aPageAndASignOutGetTryAgainWhenTheServerCannotReadOrWrite() async throws {
        try await onThread {
            let folder = try ControlledFolder(containers: Self.containers, environmentsOpenMax: 2)
            let server = try folder.start(signIn: BrokenChecker())
            defer { server.stop() }
            let connection = try RawConnection(port: server.port)
            let form = Array("ticket=1&action=sign-in".utf8)
            for page in [
                try connection.exchange("GET", "\(Route.signInPath)?ticket=1"),
                try connection.exchange("POST", Route.signInFormPath, body: form),
            ] {
                #expect(page.status == 503)
                #expect(page.header("Content-Type") == "text/html; charset=utf-8")
                #expect(page.text.contains("Try again later"))
                #expect(!page.text.contains("disk"))
            }
            let signOut = try connection.exchange(
                "POST", "\(Route.signOutPath)?\(WireHeader.webAuthTokenItem)=1")
            #expect(signOut.status == 503)
            #expect(try WireError(json: signOut.body).serverErrorCode == .tryAgainLater)
        }
    }

    @Test(arguments: [
        CloudStoreError.diskFull(path: "p"), .diskFailing(path: "p", reason: "r"), .busy(path: "p"),
    ])
    func anEnvironmentThatTheDiskCannotOpenGetsTryAgain(error: CloudStoreError) async throws {
        try await onThread {
            let container = CloudService.Container(identifier: RawDevice.container)
            let server = CloudServer(
                options: CloudServerOptions(), onlyContainer: container, signIn: nil,
                opener: { _, _ in throw error })
            try server.start()
            defer { server.stop() }
            let device = try RawDevice(port: server.port, token: "ada")
            let save = RecordOperation(operationType: .create, record: RawDevice.record("r", 1))
            let response = try device.modify([save], zone: "z")
            #expect(response.status == 503 && response.header("Retry-After") != nil)
            #expect(try WireError(json: response.body).serverErrorCode == .tryAgainLater)
        }
    }

    @Test func aFileThatCannotBeOpenedIsReportedToTheOperatorOnly() async throws {
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
        let account = try control.accounts.add(
            name: "ada", passwordHash: try PasswordHash(hashing: "right password").text)
        var apiTokens: [String: String] = [:]
        var credentials: [String: Credential] = [:]
        for container in containers {
            _ = try control.containers.add(container)
            let apiToken = try control.tokens.make(container: container, name: "tests")
            let session = try control.sessions.make(
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
            dataFolder: dataFolder, control: control,
            accounts: ControlAccounts(control, isDevelopmentForEveryone: true),
            signIn: try signIn ?? SignInCheck(control, isDevelopmentForEveryone: true), options: options)
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
    func signIn(_ request: SignInRequest, peer: String, client: String?) -> SignInAnswer {
        .failed(reason: "no disk for \(peer)")
    }

    func page(ticket: String) throws -> SignInPage? { throw CloudStoreError.diskFull(path: "disk") }

    func session(webAuthToken: String) throws -> SignInSession? {
        throw CloudStoreError.diskFull(path: "disk")
    }

    func signOut(webAuthToken: String) throws -> Bool { throw CloudStoreError.diskFull(path: "disk") }
}

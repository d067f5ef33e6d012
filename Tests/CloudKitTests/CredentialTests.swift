import CloudKit
import CloudKitAdditions
import CloudKitTesting
import CloudWire
import Foundation
import HTTPServer
import System
import Testing

@Suite struct CredentialTests {
    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func entry(_ token: String, user: String = "_ada", server: String = "http://a")
        -> CredentialsDocument.Entry
    {
        CredentialsDocument.Entry(
            server: server, container: "c", environment: "development", webAuthToken: token,
            userRecordName: user)
    }

    private func account(_ path: String, server: String = "http://a") -> FileAccount {
        FileAccount(
            file: CredentialFile(path: path), server: server, container: "c", environment: "development",
            apiToken: nil, deviceID: nil)
    }

    @Test func theCredentialFileIsForItsOwnerOnly() throws {
        let folder = try Folder()
        let file = CredentialFile(path: folder.path + "/new/yap/credentials.json")
        try file.save(entry("1"))
        #expect(try mode(file.path) == 0o600 && mode(folder.path + "/new/yap") == 0o700)
        try file.save(entry("2"))
        try file.save(entry("3", server: "http://b"))
        let tokens = try file.read().document.credentials.map(\.webAuthToken)
        #expect(tokens == ["2", "3"])
        try file.remove(server: "http://a", container: "c", environment: "development")
        #expect(try file.read().document.credentials.map(\.webAuthToken) == ["3"])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/new/yap")
        #expect(names == ["credentials.json"])
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o777]) func aCredentialThatOthersMayReadIsRefused(mode: Int)
        throws
    {
        let folder = try Folder()
        let path = folder.path + "/credentials.json"
        try CredentialFile(path: path).save(entry("1"))
        chmod(path, mode_t(mode))
        let error = #expect(throws: CKError.self) { try account(path).credential() }
        #expect(error?.code == .badContainer)
        #expect(error?.localizedDescription.contains("chmod 600 '\(path)'") == true)
        #expect(throws: CKError.self) { try CredentialFile(path: path).save(entry("2")) }
        chmod(path, 0o600)
        #expect(try account(path).credential().webAuthToken == "1")
    }

    @Test func aDamagedCredentialFileIsReportedWithItsLineAndNotChanged() throws {
        let folder = try Folder()
        let path = try folder.write("credentials.json", "{\"credentials\":\n[7]}")
        chmod(path, 0o600)
        let error = #expect(throws: CKError.self) { try account(path).credential() }
        #expect(error?.localizedDescription.hasPrefix("\(path):2: ") == true)
        #expect(throws: CKError.self) { try CredentialFile(path: path).save(entry("1")) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "{\"credentials\":\n[7]}")
    }

    @Test func aSignInIsFoundByEachNameOfThisMachine() throws {
        let folder = try Folder()
        let path = folder.path + "/credentials.json"
        let names = ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"]
        for (number, name) in names.enumerated() {
            try CredentialFile(path: path).save(entry("\(number)", server: "http://\(name):8080"))
            for other in names {
                let token = try account(path, server: "http://\(other):8080").credential().webAuthToken
                #expect(token == "\(number)", "kept for \(name), asked for \(other)")
            }
            #expect(try CredentialFile(path: path).read().document.credentials.count == 1)
        }
        for stranger in [
            "http://localhost:8081", "https://localhost:8080", "http://localhost",
            "http://localhost.example:8080",
            "http://127.0.0.10:8080", "http://example.org:8080",
        ] {
            #expect(try account(path, server: stranger).credential().webAuthToken == nil, "\(stranger)")
        }
        try account(path, server: "http://127.0.0.1:8080").signOut()
        #expect(try account(path, server: "http://localhost:8080").credential().webAuthToken == nil)
    }

    @Test func ofTwoSignInsByTwoNamesOfThisMachineEachIsFoundByItsOwn() throws {
        let folder = try Folder()
        let path = folder.path + "/credentials.json"
        // As a file has them in which one name was taken for another server.
        try CredentialFile(path: path).change { document in
            document.credentials = [
                entry("1", server: "http://localhost"), entry("2", server: "http://127.0.0.1"),
            ]
        }
        for (server, token) in [("http://localhost", "1"), ("http://127.0.0.1", "2"), ("http://[::1]", "1")] {
            #expect(try account(path, server: server).credential().webAuthToken == token)
        }
    }

    @Test func manyWritersLoseNoSignIn() async throws {
        let folder = try Folder()
        let path = folder.path + "/credentials.json"
        let done = AsyncStream<Void>.makeStream()
        for number in 0..<16 {
            // Threads of their own, because each waits for the folder's lock.
            Thread.detachNewThread {
                var entry = CredentialsDocument.Entry(
                    server: "http://\(number)", container: "c", environment: "development", webAuthToken: "t")
                entry.expiresAtMilliseconds = Int64(number)
                try? CredentialFile(path: path).save(entry)
                done.continuation.yield()
            }
        }
        var count = 0
        for await _ in done.stream {
            count += 1
            if count == 16 { break }
        }
        let servers = try CredentialFile(path: path).read().document.credentials.map(\.server)
        #expect(Set(servers) == Set((0..<16).map { "http://\($0)" }))
    }

    @Test func theDeviceHasOneNameThatIsMadeOnce() throws {
        let folder = try Folder()
        let path = folder.path + "/credentials.json"
        let first = try account(path).credential().deviceID
        #expect(UUID(uuidString: try #require(first)) != nil)
        #expect(try account(path).credential().deviceID == first)
        #expect(try mode(folder.path + "/device-id") == 0o600)
        try FileManager.default.removeItem(atPath: folder.path + "/device-id")
        #expect(try account(path).credential().deviceID != first)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["device-id"])
    }

    @Test func aSignInOfAnotherProcessTakesEffectAndIsReported() async throws {
        let folder = try Folder()
        let path = folder.path + "/credentials.json"
        let account = account(path), posts = Lock(0)
        // The notification names no container, so the test counts while nobody else changes accounts.
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: account, queue: nil
        ) { _ in posts.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(try account.credential().webAuthToken == nil)
        try CredentialFile(path: path).save(entry("1"))
        #expect(try account.credential().webAuthToken == "1" && posts.withLock { $0 } == 1)
        try CredentialFile(path: path).save(entry("2"))
        #expect(try account.credential().webAuthToken == "2" && posts.withLock { $0 } == 1)
        try CredentialFile(path: path).save(entry("3", user: "_bob"))
        #expect(try account.credential().webAuthToken == "3" && posts.withLock { $0 } == 2)
        try CredentialFile(path: path).remove(server: "http://a", container: "c", environment: "development")
        #expect(try account.credential().webAuthToken == nil && posts.withLock { $0 } == 3)
    }

    // Beside tests that keep all threads busy, whoever waits is resumed late.
    @Test func aSignInOfAnotherProcessIsReportedWithoutARequest() async throws {
        let folder = try Folder()
        // Not there yet, as before the first sign-in on a machine.
        let path = folder.path + "/config/yap/credentials.json"
        let account = FileAccount(
            file: CredentialFile(path: path), server: "http://a", container: "c", environment: "development",
            apiToken: nil, deviceID: "d", watch: .shared)
        let posts = AsyncStream<Void>.makeStream()
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: account, queue: nil
        ) { _ in posts.continuation.yield() }
        defer { NotificationCenter.default.removeObserver(observer) }
        var told = posts.stream.makeAsyncIterator()
        #expect(try account.credential().webAuthToken == nil)
        let file = CredentialFile(path: path)
        try file.save(entry("1"))
        #expect(await told.next() != nil)
        try file.save(entry("2", user: "_bob"))
        #expect(await told.next() != nil)
        try file.remove(server: "http://a", container: "c", environment: "development")
        #expect(await told.next() != nil)
        try FileManager.default.removeItem(atPath: folder.path + "/config")
        try file.save(entry("3"))
        #expect(await told.next() != nil, "the folder was made anew")
        // What was done through the account itself is told by who did it.
        try account.signOut()
        try account.signIn(webAuthToken: "4", userRecordName: "_ada", expiresAtMilliseconds: nil)
        try file.save(entry("5", user: "_bob"))
        #expect(await told.next() != nil)
        #expect(try account.credential().userRecordName == "_bob")
    }

    @Test func whoSignsInAfterAnotherProcessDidStillTakesThePlaceOfTheFormerUser() throws {
        let folder = try Folder()
        let path = folder.path + "/credentials.json"
        let account = account(path), told = Collected<Bool>()
        try CredentialFile(path: path).save(entry("1"))
        #expect(try account.credential().userRecordName == "_ada")
        account.onUserChange { told.append($0) }
        try CredentialFile(path: path).save(entry("2", user: "_bob"))
        try account.signIn(webAuthToken: "3", userRecordName: "_bob", expiresAtMilliseconds: nil)
        #expect(told.all == [true])
        try account.signIn(webAuthToken: "4", userRecordName: "_bob", expiresAtMilliseconds: nil)
        #expect(told.all == [true], "a new token of the same user is no other user")
    }

    @Test func aUserSignsInAndOut() async throws {
        let folder = try Folder()
        let server = HTTPServer(options: HTTPServerOptions(), handler: SignInHandler())
        try server.start()
        let container = CKContainer(
            identifier: "iCloud.c",
            configuration: .init(
                server: "http://127.0.0.1:\(server.port)/", apiToken: "app",
                credentialFile: folder.path + "/credentials.json", deviceID: "d"))
        let account = try container.resolved().connection.account
        let posts = Lock(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: container, queue: nil
        ) { _ in posts.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(
            await codeThrown { try await container.signIn(account: "ada", password: "wrong") }
                == .notAuthenticated)
        #expect(try account.credential().webAuthToken == nil && posts.withLock { $0 } == 0)
        let user = try await container.signIn(account: "ada", password: "right")
        #expect(user.recordName == "_ada" && posts.withLock { $0 } == 1)
        #expect(
            try account.credential()
                == CloudCredential(
                    webAuthToken: "made", apiToken: "app", deviceID: "d", userRecordName: "_ada"))
        try container.signOut()
        #expect(try account.credential().webAuthToken == nil && posts.withLock { $0 } == 2)
        server.stop(graceMilliseconds: 0)
    }

    @Test func aTokenOfTheConfigurationCannotBeSignedInOver() async throws {
        let container = CKContainer(
            identifier: "c",
            configuration: .init(server: "http://127.0.0.1:1", webAuthToken: "t", deviceID: "d"))
        #expect(await codeThrown { try await container.signIn(account: "a", password: "b") } == .badContainer)
        #expect(throws: CKError.self) { try container.signOut() }
    }
}

private final class SignInHandler: HTTPHandler {
    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 16) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        let message = try? SignInRequest(json: request.body)
        let isRight =
            request.head.path == "/yap/1/sign-in" && message?.account == "ada" && message?.password == "right"
            && message?.container == "iCloud.c" && message?.apiToken == "app"
            && message?.environment == "development"
        let response = SignInResponse(webAuthToken: "made", userRecordName: "_ada", expiresAtMilliseconds: 1)
        let refusal = WireError(.authenticationFailed, reason: "no such account and password")
        let body = isRight ? try? response.json() : try? refusal.json()
        exchange.respond(
            HTTPResponse(status: isRight ? 200 : 401, contentType: "application/json", body: body ?? []))
    }
}

import CloudKit
import CloudKitAdditions
import CloudKitTesting
import CloudWire
import Foundation
import HTTPServer
import System

/// A cloud on a port, with accounts that sign in with any password, and waits for pushes.
final class PlaceServer: Sendable {
    let cloud = TestCloud(execution: .threads)
    private let server: HTTPServer
    private let handler: Handler
    var url: String { "http://127.0.0.1:\(server.port)" }

    init(accounts: [String] = ["ada", "bob"]) throws {
        for account in accounts { _ = cloud.device(user: account) }
        handler = Handler(cloud)
        server = HTTPServer(options: HTTPServerOptions(), handler: handler)
        try server.start()
    }

    deinit { server.stop(graceMilliseconds: 0) }

    /// Whether it asks all who come to wait for an hour.
    var isBusy: Bool {
        get { handler.isBusy.withLock { $0 } }
        set { handler.isBusy.withLock { $0 = newValue } }
    }

    /// How many requests came, waits apart.
    var requestCount: Int { handler.requestCount.withLock { $0 } }
    /// How many waits are held open.
    var waitCount: Int { cloud.waitCount }

    /// Returns when another device waits: it says that it listens a moment before.
    func waitHasBegun() async {
        var iterator = handler.begun.stream.makeAsyncIterator()
        await iterator.next()
    }

    /// Returns when a device has given its wait up.
    func waitIsGivenUp() async {
        var iterator = handler.given.stream.makeAsyncIterator()
        await iterator.next()
    }

    private final class Handler: HTTPHandler {
        let isBusy = Lock(false)
        let requestCount = Lock(0)
        let begun = AsyncStream<Void>.makeStream()
        let given = AsyncStream<Void>.makeStream()
        private let cloud: TestCloud

        init(_ cloud: TestCloud) {
            self.cloud = cloud
        }

        func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            let head = request.head
            if head.path == "/yap/1/sign-in" { return signIn(request, exchange) }
            let isWait = head.path.hasSuffix("/courier")
            if !isWait { requestCount.withLock { $0 += 1 } }
            if isBusy.withLock({ $0 }) {
                return exchange.respond(
                    HTTPResponse(
                        status: 503, contentType: "application/json",
                        body: Array(#"{"serverErrorCode":"TRY_AGAIN_LATER","retryAfter":3600}"#.utf8)))
            }
            let wire = WireRequest(
                method: head.method, path: head.path, query: head.query, headers: head.headers,
                body: request.body)
            let cancel = cloud.answer(to: wire) { response in
                exchange.respond(
                    HTTPResponse(
                        status: response.status, headers: response.headers, body: .bytes(response.body)))
            }
            guard isWait else { return }
            exchange.onDisconnect {
                cancel()
                self.given.continuation.yield()
            }
            begun.continuation.yield()
        }

        private func signIn(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            let account = (try? SignInRequest(json: request.body))?.account ?? ""
            let response = SignInResponse(
                webAuthToken: cloud.token(of: account), userRecordName: "_" + account,
                expiresAtMilliseconds: .max)
            exchange.respond(
                HTTPResponse(status: 200, contentType: "application/json", body: (try? response.json()) ?? [])
            )
        }
    }
}

/// An app on a device that asks a `PlaceServer`, which makes a container whenever it needs one.
struct PlaceApp {
    static let identifier = "iCloud.yap.test"
    let folder: Folder
    let server: PlaceServer
    var credentialFile: String { folder.path + "/credentials.json" }

    init() throws {
        folder = try Folder()
        server = try PlaceServer()
    }

    func container(device: String = "phone", identifier: String = Self.identifier) -> CKContainer {
        CKContainer(
            identifier: identifier,
            configuration: .init(server: server.url, credentialFile: credentialFile, deviceID: device))
    }

    /// Another process signs somebody in, or out.
    func elsewhereSignsIn(_ user: String?) throws {
        let file = CredentialFile(path: credentialFile)
        guard let user else {
            return try file.remove(
                server: server.url, container: Self.identifier, environment: "development")
        }
        try file.save(
            CredentialsDocument.Entry(
                server: server.url, container: Self.identifier, environment: "development",
                webAuthToken: server.cloud.token(of: user), userRecordName: "_" + user))
    }
}

import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import HTTPClient
import HTTPServer
import System
import Testing

@Suite struct HTTPTransportTests {
    private func send(
        _ request: WireRequest, to url: String, seconds: Double = 3_600
    ) async -> Result<WireResponse, CKError> {
        let transport = HTTPTransport(serverURL: url, client: HTTPClients.client(authoritiesFile: nil))
        return await withCheckedContinuation { continuation in
            _ = transport.send(request, timeouts: .total(seconds)) { continuation.resume(returning: $0) }
        }
    }

    @Test func aRequestIsEncodedExactlyOnce() async throws {
        let server = try Echo()
        let request = WireRequest(
            path: "/database/1/iCloud.a b/é/public/%2F",
            query: [("token", "a+b/c=d&e%2B"), ("empty", ""), ("name&", "x y")],
            headers: [("X-One", "1"), ("X-One", "2")], body: [0, 255])
        let answer = try await send(request, to: server.url).get()
        #expect(answer.status == 200 && answer.body == [0, 255])
        let head = try #require(server.heads.all.first)
        #expect(
            head.target == "/database/1/iCloud.a%20b/%C3%A9/public/%252F"
                + "?token=a%2Bb%2Fc%3Dd%26e%252B&empty=&name%26=x%20y")
        #expect(head.path == request.path)
        #expect(head.query.map(\.name) == request.query.map(\.name))
        #expect(head.query.map(\.value) == request.query.map(\.value))
        #expect(head.headers.filter { $0.name.lowercased() == "x-one" }.map(\.value) == ["1", "2"])
    }

    @Test func aServerThatIsNotThereIsNetworkUnavailableAndASilentOneEnds() async throws {
        let server = try Echo()
        let port = server.port
        server.stop()
        #expect(
            await send(WireRequest(path: "/"), to: "http://127.0.0.1:\(port)").error?.code
                == .networkUnavailable)
        let silent = try Echo(isSilent: true)
        #expect(
            await send(WireRequest(path: "/"), to: silent.url, seconds: 0.2).error?.code == .networkFailure)
    }

    @Test func aCancelledOperationEndsItsTransfer() async throws {
        let silent = try Echo(isSilent: true)
        let transport = HTTPTransport(
            serverURL: silent.url, client: HTTPClients.client(authoritiesFile: nil))
        let container = CKContainer(
            identifier: "iCloud.test",
            connection: CloudConnection(transport: transport, execution: .threads, webAuthToken: "t"))
        let task = Task { try await container.privateCloudDatabase.allRecordZones() }
        await silent.waitForRequest()
        task.cancel()
        await #expect(throws: CKError.self) { try await task.value }
        await silent.waitForDisconnect()
    }

    @Test func manyTasksAtOnceOnThreads() async throws {
        let cloud = TestCloud()
        let behind = try CloudBehindHTTP(cloud)
        _ = cloud.device(user: "ada")
        let transport = HTTPTransport(
            serverURL: behind.url, client: HTTPClients.client(authoritiesFile: nil))
        let database = CKContainer(
            identifier: "iCloud.yap.test",
            connection: CloudConnection(
                transport: transport, execution: .threads, webAuthToken: "token-of-ada")
        ).privateCloudDatabase
        let zone = CKRecordZone(zoneName: "todos")
        try await database.save(zone)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let recordID = CKRecord.ID(recordName: "\(number)", zoneID: zone.zoneID)
                    try await database.save(CKRecord(recordType: "todo", recordID: recordID))
                }
            }
            try await group.waitForAll()
        }
        let page = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        #expect(page.modificationResultsByID.count == 50)
        withExtendedLifetime((cloud, behind)) {}
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}

/// Answers with the request's body, or says nothing.
private final class Echo: HTTPHandler {
    let heads = Collected<HTTPRequestHead>()
    private let isSilent: Bool
    private let server = Lock<HTTPServer?>(nil)
    private let parked = Lock<[HTTPExchange]>([])
    private let requested = AsyncStream<Void>.makeStream()
    private let disconnected = AsyncStream<Void>.makeStream()

    init(isSilent: Bool = false) throws {
        self.isSilent = isSilent
        let server = HTTPServer(options: HTTPServerOptions(), handler: Answers(owner: self))
        try server.start()
        self.server.withLock { $0 = server }
    }

    var port: Int { server.withLock { $0 }?.port ?? 0 }
    var url: String { "http://127.0.0.1:\(port)" }

    func stop() {
        let server = server.withLock { $0 }
        server?.stop(graceMilliseconds: 0)
    }

    func waitForRequest() async { for await _ in requested.stream { return } }
    func waitForDisconnect() async { for await _ in disconnected.stream { return } }

    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        heads.append(request.head)
        guard isSilent else { return exchange.respond(HTTPResponse(status: 200, body: .bytes(request.body))) }
        exchange.onDisconnect { [disconnected] in disconnected.continuation.yield() }
        parked.withLock { $0.append(exchange) }
        requested.continuation.yield()
    }

    /// Lets the server not keep what holds the server.
    private final class Answers: HTTPHandler {
        private let owner: Lock<Weak>
        private struct Weak { weak var echo: Echo? }

        init(owner: Echo) { self.owner = Lock(Weak(echo: owner)) }

        func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            owner.withLock { $0.echo }?.handle(request, exchange)
        }
    }
}

import CloudKit
import CloudKitTesting
import CloudService
import CloudWire
import Foundation
import HTTPServer
import System
import Testing

/// The ways in which the framework meets the cloud. What an app sees is the same in each, but where a test says
/// what Apple's protocol can't carry.
enum Cloud: CaseIterable {
    /// Direct calls.
    case inProcess
    /// A real connection to a real server.
    case http
    /// The same to a service that knows nothing of our own keys, as Apple's.
    case httpElsewhere

    var hasOurKeys: Bool { self != .httpElsewhere }

    /// A cloud that is reached in this way. It runs operations inline: over HTTP, the thread waits for the answer.
    /// Nothing that it waits for needs a thread of Swift's pool.
    func cloud(_ cloud: TestCloud = TestCloud()) throws -> TestCloud {
        guard self != .inProcess else { return cloud }
        let server = try CloudBehindHTTP(cloud, stripsOurKeys: self == .httpElsewhere)
        let transport = HTTPTransport(serverURL: server.url, client: HTTPClients.client(authoritiesFile: nil))
        cloud.carrier = { request, completion in
            let answer = Lock<Result<WireResponse, CKError>?>(nil)
            let isThere = DispatchSemaphore(value: 0)
            _ = transport.send(request, timeouts: .total(3_600)) { result in
                answer.withLock { $0 = result }
                isThere.signal()
            }
            isThere.wait()
            withExtendedLifetime(server) {}
            if let answer = answer.withLock({ $0 }) { completion(answer) }
        }
        return cloud
    }
}

/// A test's cloud on a port.
final class CloudBehindHTTP: Sendable {
    private let server: HTTPServer
    let handler: Handler
    var url: String { "http://127.0.0.1:\(server.port)" }

    init(_ cloud: TestCloud, stripsOurKeys: Bool = false) throws {
        handler = Handler(cloud, stripsOurKeys: stripsOurKeys)
        server = HTTPServer(options: HTTPServerOptions(), handler: handler)
        try server.start()
    }

    final class Handler: HTTPHandler {
        private let cloud: Lock<Weak>
        private let stripsOurKeys: Bool
        /// The heads of the requests, in the order in which they came.
        let heads = Collected<HTTPRequestHead>()

        private struct Weak {
            weak var cloud: TestCloud?
        }

        init(_ cloud: TestCloud, stripsOurKeys: Bool) {
            self.cloud = Lock(Weak(cloud: cloud))
            self.stripsOurKeys = stripsOurKeys
        }

        func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 64 << 20) }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            heads.append(request.head)
            guard let cloud = cloud.withLock({ $0.cloud }) else { return }
            var wire = WireRequest(
                method: request.head.method, path: request.head.path, query: request.head.query,
                headers: request.head.headers, body: request.body)
            if stripsOurKeys {
                let ours = [WireHeader.client, WireHeader.operation].map { $0.lowercased() }
                wire.headers.removeAll { ours.contains($0.name.lowercased()) }
            }
            // In memory, so the loop doesn't wait for a disk.
            var response = cloud.service.respond(to: wire)
            if stripsOurKeys { response.headers.removeAll { $0.name == WireHeader.protocolVersion } }
            exchange.respond(
                HTTPResponse(
                    status: response.status, headers: response.headers, body: .bytes(response.body)))
        }
    }
}

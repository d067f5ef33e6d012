import CloudKit
import CloudWire
import System

/// Takes requests and answers when the test says so.
final class SilentTransport: Transport {
    private typealias Completion = @Sendable (Result<WireResponse, CKError>) -> Void
    private let waiting = Lock<[Completion]>([])

    private let cancels = Lock(0)

    var waitCount: Int { waiting.withLock { $0.count } }
    /// Requests that were given up.
    var cancelCount: Int { cancels.withLock { $0 } }

    var database: CKDatabase { container.privateCloudDatabase }

    var container: CKContainer {
        CKContainer(
            identifier: "iCloud.test",
            connection: CloudConnection(transport: self, execution: .inline, webAuthToken: "t"))
    }

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        waiting.withLock { $0.append(completion) }
        return { self.cancels.withLock { $0 += 1 } }
    }

    func answer(_ result: Result<WireResponse, CKError>) {
        let completions = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for completion in completions { completion(result) }
    }
}

import CloudKit
import CloudWire
import Dispatch
import HTTPClient
import System
import YapCloudKit

/// Carries a request over HTTP on the caller's thread, which waits: with it a device has one thread, and does the same
/// in each run.
package final class BlockingTransport: Transport {
    private let base: HTTPTransport
    private let failpoints: Failpoints

    package init(port: Int, client: HTTPClient, failpoints: Failpoints) {
        base = HTTPTransport(serverURL: "http://127.0.0.1:\(port)", client: client)
        self.failpoints = failpoints
    }

    package var enforcesTimeouts: Bool { true }

    package func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        failpoints.reached(.request)
        let answer = Lock<Result<WireResponse, CKError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        _ = base.send(request, timeouts: timeouts) { result in
            answer.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        failpoints.begin(request.path.hasSuffix("records/modify") ? .completing : .applying)
        failpoints.reached(.reply)
        if let answer = answer.withLock({ $0 }) { completion(answer) }
        return {}
    }
}

/// Passes the sync's work on, a failpoint before each piece.
package struct FailpointScheduler: SyncScheduler {
    let base: ManualScheduler
    let failpoints: Failpoints

    package func perform(_ work: @escaping @Sendable () -> Void) {
        base.perform {
            failpoints.reached(.work)
            work()
        }
    }

    package func wake(
        _ owner: ObjectIdentifier, atMilliseconds: Int64?, _ work: @escaping @Sendable () -> Void
    ) {
        base.wake(owner, atMilliseconds: atMilliseconds, work)
    }
}

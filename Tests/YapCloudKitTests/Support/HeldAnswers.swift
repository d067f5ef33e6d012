import CloudKit
import CloudKitTesting
import CloudWire
import System

/// A network in which the answers to uploads, or to another kind of request, wait until the test lets them go. The
/// cloud does at once what it is asked.
final class HeldAnswers: Sendable {
    private let held = Lock<[@Sendable () -> Void]>([])

    init(_ cloud: TestCloud, to kind: String = "records/modify") {
        cloud.carrier = { [weak cloud, held] request, completion in
            guard let cloud else { return }
            let response = cloud.answer(to: request)
            guard request.path.hasSuffix(kind) else { return completion(.success(response)) }
            held.withLock { $0.append { completion(.success(response)) } }
        }
    }

    /// How many wait.
    var count: Int { held.withLock { $0.count } }

    /// Lets the oldest go.
    func release() {
        held.withLock { $0.isEmpty ? nil : $0.removeFirst() }?()
    }
}

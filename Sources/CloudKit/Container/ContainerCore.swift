import Foundation
internal import System

/// What a container and its databases share. A database holds this and not its container: so neither keeps
/// the other alive, and a database works when only it was kept.
final class ContainerCore: Sendable {
    private enum Origin {
        case given(ResolvedContainer)
        /// Looked up with the first operation: by the identifier, or as the program's own container.
        case configured(identifier: String?, CloudConfiguration?)
    }

    private let origin: Origin
    private let found = Lock<ResolvedContainer?>(nil)
    private let operationQueue = OperationQueue()
    private let callbackQueue = DispatchQueue(label: "CKContainer")

    /// A container whose cloud is at `place`.
    init(_ resolved: ResolvedContainer) {
        origin = .given(resolved)
    }

    /// A container whose cloud `configuration` names; with nil, the one that counts when it is first needed.
    init(configuredIdentifier identifier: String?, configuration: CloudConfiguration? = nil) {
        origin = .configured(identifier: identifier, configuration)
    }

    var identifier: String? {
        switch origin {
        case .given(let resolved): resolved.identifier
        case .configured(let identifier?, _): identifier
        case .configured(nil, let configuration):
            found.withLock { $0 }?.identifier ?? (configuration ?? .current()).defaultContainer
        }
    }

    /// Where the cloud is.
    /// - Throws: `CKError.badContainer` that says what to write, and where. What is mended then is seen by the next
    ///   operation.
    func resolved() throws(CKError) -> ResolvedContainer {
        switch origin {
        case .given(let resolved): return resolved
        case .configured(let identifier, let configuration):
            if let resolved = found.withLock({ $0 }) { return resolved }
            // Files are read without the lock; of two threads that do it at a time the first one's counts.
            let resolved = try (configuration ?? .current()).resolved(containerIdentifier: identifier)
            return found.withLock { found in
                let kept = found ?? resolved
                found = kept
                return kept
            }
        }
    }

    /// Calls `handler`, one call at a time, with what other devices change.
    /// - Returns: what ends that.
    func observeNotifications(
        _ handler: @escaping @Sendable (NotificationEvent) -> Void
    ) -> @Sendable () -> Void {
        let observation = NotificationObservation(self, handler)
        observation.begin()
        return { observation.end() }
    }

    var isInline: Bool {
        if case .given(let resolved) = origin, case .inline = resolved.connection.execution {
            true
        } else {
            false
        }
    }

    /// Runs what looks at files only and calls a completion handler: here, or on a serial queue.
    func perform(_ body: @escaping @Sendable () -> Void) {
        if isInline { body() } else { callbackQueue.async(execute: body) }
    }

    /// Runs `operation` here, or on a thread of its own as soon as it may.
    func start(_ operation: CKOperation) {
        // Apple's raises an exception; a second run would find its blocks gone.
        precondition(operation.isFirstAdded(), "an operation is added once: make another one to ask again")
        guard isInline else {
            // Nothing to wait for: a queue would only hand it on from one thread to the next.
            if operation.dependencies.isEmpty, operation.isReady { return operation.start() }
            return operationQueue.addOperation(operation)
        }
        precondition(
            operation.dependencies.allSatisfy(\.isFinished),
            "with the inline executor the operations that this one depends on have to be added before it")
        operation.start()
    }
}

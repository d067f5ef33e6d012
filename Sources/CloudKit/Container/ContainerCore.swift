import Foundation
internal import System

/// State that a container shares with its databases. A database retains the core and not the container, so
/// that there is no cycle, and a database works after its container was released.
final class ContainerCore: Sendable {
    private enum Origin {
        case given(ResolvedContainer)
        /// Resolved by the first operation: by the identifier, or as the default container of the program.
        case configured(identifier: String?, CloudConfiguration?)
    }

    private let origin: Origin
    private let found = Lock<ResolvedContainer?>(nil)
    private let operationQueue = OperationQueue()
    private let callbackQueue = DispatchQueue(label: "CKContainer")

    /// A container that is already resolved.
    init(_ resolved: ResolvedContainer) {
        origin = .given(resolved)
    }

    /// A container of this configuration; nil takes the configuration that is current at the first operation.
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

    /// Returns the container's server, account and notifications.
    /// - Throws: `CKError.badContainer` with the required configuration and its file. The next operation
    ///   reads a corrected configuration.
    func resolved() throws(CKError) -> ResolvedContainer {
        switch origin {
        case .given(let resolved): return resolved
        case .configured(let identifier, let configuration):
            if let resolved = found.withLock({ $0 }) { return resolved }
            // Files are read without the lock. If two threads do that at once, both use the first result.
            let resolved = try (configuration ?? .current()).resolved(containerIdentifier: identifier)
            return found.withLock { found in
                let kept = found ?? resolved
                found = kept
                return kept
            }
        }
    }

    /// Calls `handler` with the changes of other devices, one call at a time.
    /// - Returns: a closure that ends the observation.
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

    /// Runs `body` on this thread with the inline executor, otherwise on a serial queue. `body` reads files only and
    /// calls a completion handler.
    func perform(_ body: @escaping @Sendable () -> Void) {
        if isInline { body() } else { callbackQueue.async(execute: body) }
    }

    /// Runs `operation` on this thread, or on an own thread once its dependencies have finished.
    func start(_ operation: CKOperation) {
        // Apple's framework raises an exception. The blocks are released after the first run.
        precondition(operation.isFirstAdded(), "an operation can be added only once: make another one")
        guard isInline else {
            // Without dependencies, a queue would only add a change of threads.
            if operation.dependencies.isEmpty, operation.isReady { return operation.start() }
            return operationQueue.addOperation(operation)
        }
        precondition(
            operation.dependencies.allSatisfy(\.isFinished),
            "with the inline executor, add the operations that this one depends on before it")
        operation.start()
    }
}

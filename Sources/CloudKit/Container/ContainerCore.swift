import Foundation

/// What a container and its databases share. A database holds this and not its container: so neither keeps
/// the other alive, and a database works when only it was kept.
final class ContainerCore: Sendable {
    let identifier: String?
    let connection: CloudConnection?
    private let operationQueue = OperationQueue()

    init(identifier: String?, connection: CloudConnection?) {
        self.identifier = identifier
        self.connection = connection
    }

    var isInline: Bool {
        if case .inline = connection?.execution { true } else { false }
    }

    /// Runs `operation` here, or hands it to the queue.
    func start(_ operation: CKOperation) {
        guard isInline else { return operationQueue.addOperation(operation) }
        precondition(
            operation.dependencies.allSatisfy(\.isFinished),
            "with the inline executor the operations that this one depends on have to be added before it")
        operation.start()
    }
}

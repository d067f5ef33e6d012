internal import CloudWire
public import Foundation
internal import System

/// One of a container's databases.
public final class CKDatabase: NSObject, Sendable {
    /// The scope of a database.
    public enum Scope: Int, Sendable, CaseIterable {
        /// The database that every user of the app reads.
        case `public` = 1
        /// The user's own database.
        case `private` = 2
        /// The records that other users share with the user.
        case shared = 3

        var wire: DatabaseScope {
            switch self {
            case .public: .public
            case .private: .private
            case .shared: .shared
            }
        }
    }

    /// The scope of this database.
    public let databaseScope: Scope
    let core: ContainerCore
    private let defaults: OperationDefaults

    init(scope: Scope, core: ContainerCore, defaults: OperationDefaults = OperationDefaults()) {
        self.defaults = defaults
        databaseScope = scope
        self.core = core
    }

    /// Runs `operation` on this database.
    public func add(_ operation: CKDatabaseOperation) {
        operation.database = self
        defaults.fill(operation)
        core.start(operation)
    }

    /// Scope and container, for logs.
    public override var description: String {
        "<CKDatabase: \(databaseScope) of \(core.identifier ?? "the default container")>"
    }

    /// Waits for an operation. `start` adds the operation, which calls the argument of `start` when it has finished.
    /// Cancelling the task cancels the operation.
    func result<Value: Sendable>(
        _ start: @Sendable (@escaping @Sendable (Result<Value, any Error>) -> Void) -> CKOperation
    ) async throws -> Value {
        if Task.isCancelled { throw CKError.cancelled }
        let running = Lock<(operation: CKOperation?, isCancelled: Bool)>((nil, false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let operation = start { continuation.resume(with: $0) }
                let isCancelled = running.withLock { running in
                    running.operation = operation
                    return running.isCancelled
                }
                if isCancelled { operation.cancel() }
            }
        } onCancel: {
            let operation = running.withLock { running in
                running.isCancelled = true
                return running.operation
            }
            operation?.cancel()
        }
    }
}

extension Result {
    var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }

    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

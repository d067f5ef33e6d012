internal import System

extension CKContainer {
    /// Fetches the IDs of the long-lived operations that haven't finished: those of earlier processes, and those that
    /// are running. Operations that another process of the app runs aren't included.
    /// - Returns: the IDs in ascending order.
    /// - Throws: `CKError.badContainer` if the container has no cloud; `CKError` if the user's sign-in can't be read.
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
        try await withCheckedThrowingContinuation { continuation in
            look({ try Self.operationIDs($0) }) { continuation.resume(with: $0) }
        }
    }

    /// Fetches the IDs of the long-lived operations that haven't finished, and calls `completionHandler` with them or
    /// the error.
    @preconcurrency
    public func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
    ) {
        look({ try Self.operationIDs($0) }) { completionHandler($0.value, $0.error) }
    }

    /// Restores a long-lived operation. Set its blocks and add it to the container. It calls its blocks from the
    /// beginning, and the server repeats no work.
    /// - Parameter operationID: the ID of the original operation.
    /// - Returns: the operation; nil if it has finished or was cancelled, if its last response is older than a day, or
    ///   if it belongs to another user.
    /// - Throws: `CKError.badContainer` if the container has no cloud; `CKError` if the user's sign-in can't be read.
    public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? {
        try await withCheckedThrowingContinuation { continuation in
            look({ try self.operation(operationID, $0) }) { continuation.resume(with: $0) }
        }
    }

    /// Restores a long-lived operation, as `longLivedOperation(for:)` does, and calls `completionHandler` with it or
    /// the error, or with neither if it doesn't exist.
    @preconcurrency
    public func fetchLongLivedOperation(
        withID operationID: CKOperation.ID,
        completionHandler: @escaping @Sendable (CKOperation?, (any Error)?) -> Void
    ) {
        look({ try self.operation(operationID, $0) }) { completionHandler($0.value ?? nil, $0.error) }
    }

    private func look<Value: Sendable>(
        _ body: @escaping @Sendable (ResolvedContainer) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let core = core
        core.perform { completion(Result { try body(try core.resolved()) }) }
    }

    private static func operationIDs(_ resolved: ResolvedContainer) throws -> [CKOperation.ID] {
        guard let store = resolved.connection.operationStore else { return [] }
        return store.operationIDs(of: OperationOwner(try resolved.connection.account.credential()))
    }

    private func operation(
        _ operationID: CKOperation.ID, _ resolved: ResolvedContainer
    ) throws -> CKOperation? {
        guard let store = resolved.connection.operationStore else { return nil }
        let owner = OperationOwner(try resolved.connection.account.credential())
        guard let (header, archive) = store.operation(operationID, of: owner),
            let operation = LongLivedOperations.make(header, archive)
        else { return nil }
        operation.database = CKDatabase.Scope(rawValue: header.scope).map { database(with: $0) }
        return operation
    }
}

internal import System

extension CKContainer {
    /// Asks for the long-lived operations that haven't ended: those of earlier processes, and those that run now. One
    /// that another process of the app runs is left to that one.
    /// - Returns: their IDs, in ascending order.
    /// - Throws: `CKError.badContainer` when the container has no cloud, and what reading the user's sign-in throws.
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
        try await withCheckedThrowingContinuation { continuation in
            look({ try Self.operationIDs($0) }) { continuation.resume(with: $0) }
        }
    }

    /// Asks for the long-lived operations that haven't ended, and calls `completionHandler` with their IDs or the
    /// error.
    @preconcurrency
    public func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
    ) {
        look({ try Self.operationIDs($0) }) { completionHandler($0.value, $0.error) }
    }

    /// Makes a long-lived operation again. Set its blocks and add it to the container: it calls them from the first on,
    /// and what the server did already isn't done again.
    /// - Parameter operationID: the ID that the operation had when it was made.
    /// - Returns: the operation; nil when it has ended or was cancelled, when a day has passed since its last answer,
    ///   or when it is another user's.
    /// - Throws: `CKError.badContainer` when the container has no cloud, and what reading the user's sign-in throws.
    public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? {
        try await withCheckedThrowingContinuation { continuation in
            look({ try self.operation(operationID, $0) }) { continuation.resume(with: $0) }
        }
    }

    /// Makes a long-lived operation again, as `longLivedOperation(for:)` does, and calls `completionHandler` with it or
    /// the error, or with neither when there is none.
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

import Foundation
internal import System

extension CKOperation {
    /// Stores a long-lived operation on the disk before it begins.
    /// - Parameter body: gets nil for an operation that isn't stored. Called on this thread, or on the thread of the
    ///   blocks if another run of the same operation must finish first.
    func keep(
        _ resolved: ResolvedContainer, _ credential: CloudCredential, _ scope: CKDatabase.Scope,
        _ body: @escaping @Sendable (Result<LongLivedRun?, CKError>) -> Void
    ) {
        guard !isCancelled, let store = resolved.connection.operationStore,
            let operation = self as? any LongLivedOperation
        else { return body(.success(nil)) }
        guard isRestored || effectiveConfiguration.isLongLived else { return body(.success(nil)) }
        let owner = OperationOwner(credential)
        if isRestored { return claim(from: store, owner, body) }
        let header = OperationHeader(
            operationID: operationID, kind: type(of: operation).kind, scope: scope.rawValue, owner: owner,
            seed: resolved.connection.random.next())
        // An operation that can't be stored runs as a normal one. The app isn't notified that it is
        // long-lived.
        let run = try? store.keep(header, archive: operation.archive(), files: operation.filesToSend)
        body(.success(run))
    }

    private func claim(
        from store: LongLivedOperationStore, _ owner: OperationOwner,
        _ body: @escaping @Sendable (Result<LongLivedRun?, CKError>) -> Void
    ) {
        let isOpen = Lock(true)
        let first: @Sendable () -> Bool = {
            isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
        }
        let claim = store.claim(operationID, of: owner) { run in
            self.deliver {
                guard first() else { return }
                if let run { body(.success(run)) } else { self.claim(from: store, owner, body) }
            }
        }
        switch claim {
        case .run(let run): if first() { body(.success(run)) }
        case .follows: onCancel { self.deliver { if first() { body(.failure(.cancelled)) } } }
        case .isElsewhere: if first() { body(.failure(.runsElsewhere)) }
        case .isGone: if first() { body(.failure(.noLongerKept)) }
        }
    }

    /// Removes the stored form of an operation that will not run again.
    func forget() {
        (try? target.core.resolved())?.connection.operationStore?.remove(operationID)
    }
}

extension CKError {
    fileprivate static let runsElsewhere = CKError(
        .internalError, "Another process of this app runs the long-lived operation and gets its results.")
    fileprivate static let noLongerKept = CKError(
        .unknownItem,
        "The long-lived operation was removed: it has finished, a day has passed, or another user has signed in."
    )
}

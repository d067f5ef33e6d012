internal import System

extension CKDatabase {
    /// The result for each subscription of a request.
    public typealias ModifySubscriptionsResult = (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    )

    // MARK: Several subscriptions

    /// Saves and deletes subscriptions in one request; a subscription replaces another with the same ID.
    /// - Returns: the result for each; an item that fails doesn't fail the request.
    /// - Throws: `CKError` if the whole request fails.
    @discardableResult
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription], deleting subscriptionIDsToDelete: [CKSubscription.ID]
    ) async throws -> ModifySubscriptionsResult {
        try await result { self.startModify(subscriptionsToSave, subscriptionIDsToDelete, $0) }
    }

    /// Saves and deletes subscriptions in one request, and calls `completionHandler` with the result for each.
    @preconcurrency
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription], deleting subscriptionIDsToDelete: [CKSubscription.ID],
        completionHandler: @escaping @Sendable (Result<ModifySubscriptionsResult, any Error>) -> Void
    ) {
        _ = startModify(subscriptionsToSave, subscriptionIDsToDelete, completionHandler)
    }

    private func startModify(
        _ subscriptions: [CKSubscription], _ subscriptionIDs: [CKSubscription.ID],
        _ completion: @escaping @Sendable (Result<ModifySubscriptionsResult, any Error>) -> Void
    ) -> CKOperation {
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: subscriptions, subscriptionIDsToDelete: subscriptionIDs)
        let results = Lock<ModifySubscriptionsResult>(([:], [:]))
        operation.perSubscriptionSaveBlock = { subscriptionID, result in
            results.withLock { $0.saveResults[subscriptionID] = result }
        }
        operation.perSubscriptionDeleteBlock = { subscriptionID, result in
            results.withLock { $0.deleteResults[subscriptionID] = result }
        }
        operation.modifySubscriptionsResultBlock = { result in
            completion(result.map { results.withLock { $0 } })
        }
        add(operation)
        return operation
    }

    /// Fetches subscriptions.
    /// - Returns: each subscription, or its error.
    /// - Throws: `CKError` if the whole request fails.
    public func subscriptions(
        for subscriptionIDs: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
        try await result {
            self.startFetch(CKFetchSubscriptionsOperation(subscriptionIDs: subscriptionIDs), $0)
        }
    }

    /// Fetches subscriptions, and calls `completionHandler` with each, or its error.
    @preconcurrency
    public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>
            ) -> Void
    ) {
        _ = startFetch(CKFetchSubscriptionsOperation(subscriptionIDs: subscriptionIDs), completionHandler)
    }

    /// Fetches all subscriptions of the user in the database, in the order of their IDs.
    /// - Throws: `CKError` if the request fails.
    public func allSubscriptions() async throws -> [CKSubscription] {
        try await result { self.startFetchAll($0) }
    }

    /// Fetches all subscriptions of the user in the database, and calls `completionHandler` with them or the
    /// error.
    @preconcurrency
    public func fetchAllSubscriptions(
        completionHandler: @escaping @Sendable ([CKSubscription]?, (any Error)?) -> Void
    ) {
        _ = startFetchAll { completionHandler($0.value, $0.error) }
    }

    private func startFetchAll(
        _ completion: @escaping @Sendable (Result<[CKSubscription], any Error>) -> Void
    ) -> CKOperation {
        startFetch(.fetchAllSubscriptionsOperation()) { result in
            completion(
                result.map { subscriptions in
                    subscriptions.values.compactMap(\.value).sorted { $0.subscriptionID < $1.subscriptionID }
                })
        }
    }

    private func startFetch(
        _ operation: CKFetchSubscriptionsOperation,
        _ completion:
            @escaping @Sendable (Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>) ->
            Void
    ) -> CKOperation {
        let results = Lock<[CKSubscription.ID: Result<CKSubscription, any Error>]>([:])
        operation.perSubscriptionResultBlock = { subscriptionID, result in
            results.withLock { $0[subscriptionID] = result }
        }
        operation.fetchSubscriptionsResultBlock = { result in
            completion(result.map { results.withLock { $0 } })
        }
        add(operation)
        return operation
    }

    // MARK: One subscription

    /// Fetches the subscription with `subscriptionID`.
    /// - Throws: `CKError.unknownItem` if it doesn't exist, or another error of an operation.
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        try await result { self.startFetch(subscriptionID, $0) }
    }

    /// Fetches the subscription with `subscriptionID`, and calls `completionHandler` with it or the error.
    @preconcurrency
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        _ = startFetch(subscriptionID) { completionHandler($0.value, $0.error) }
    }

    private func startFetch(
        _ subscriptionID: CKSubscription.ID,
        _ completion: @escaping @Sendable (Result<CKSubscription, any Error>) -> Void
    ) -> CKOperation {
        startFetch(CKFetchSubscriptionsOperation(subscriptionIDs: [subscriptionID])) { result in
            completion(result.flatMap { $0.only(subscriptionID) })
        }
    }

    /// Saves `subscription`; it replaces another with the same ID.
    /// - Throws: the errors of an operation.
    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        try await result { self.startSave(subscription, $0) }
    }

    /// Saves `subscription`, and calls `completionHandler` with it or the error.
    @preconcurrency
    public func save(
        _ subscription: CKSubscription,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        _ = startSave(subscription) { completionHandler($0.value, $0.error) }
    }

    private func startSave(
        _ subscription: CKSubscription,
        _ completion: @escaping @Sendable (Result<CKSubscription, any Error>) -> Void
    ) -> CKOperation {
        startModify([subscription], []) { result in
            completion(result.flatMap { $0.saveResults.only(subscription.subscriptionID) })
        }
    }

    /// Deletes the subscription with `subscriptionID`.
    /// - Returns: `subscriptionID`.
    /// - Throws: `CKError.unknownItem` if it doesn't exist, or another error of an operation.
    @discardableResult
    public func deleteSubscription(withID subscriptionID: CKSubscription.ID) async throws -> CKSubscription.ID
    {
        try await result { self.startDelete(subscriptionID, $0) }
    }

    /// Deletes the subscription with `subscriptionID`, and calls `completionHandler` with its ID or the error.
    @preconcurrency
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription.ID?, (any Error)?) -> Void
    ) {
        _ = startDelete(subscriptionID) { completionHandler($0.value, $0.error) }
    }

    private func startDelete(
        _ subscriptionID: CKSubscription.ID,
        _ completion: @escaping @Sendable (Result<CKSubscription.ID, any Error>) -> Void
    ) -> CKOperation {
        startModify([], [subscriptionID]) { result in
            completion(result.flatMap { $0.deleteResults.only(subscriptionID) }.map { subscriptionID })
        }
    }
}

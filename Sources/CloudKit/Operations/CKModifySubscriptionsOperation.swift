internal import CloudWire
internal import System

/// Saves and deletes subscriptions.
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The subscriptions to save; a subscription replaces another with the same ID.
    public var subscriptionsToSave: [CKSubscription]?
    /// The subscriptions to delete.
    public var subscriptionIDsToDelete: [CKSubscription.ID]?

    /// Called for each subscription of `subscriptionsToSave`.
    @preconcurrency public var perSubscriptionSaveBlock:
        (@Sendable (CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
    /// Called for each subscription of `subscriptionIDsToDelete`.
    @preconcurrency public var perSubscriptionDeleteBlock:
        (@Sendable (CKSubscription.ID, Result<Void, any Error>) -> Void)?
    /// Called last. A failed subscription doesn't fail the operation.
    @preconcurrency public var modifySubscriptionsResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `modifySubscriptionsResultBlock`; not called if that is set. Gets `CKError.partialFailure` if
    /// subscriptions have failed.
    @available(*, deprecated, renamed: "modifySubscriptionsResultBlock")
    @preconcurrency public var modifySubscriptionsCompletionBlock:
        (@Sendable ([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?
    {
        get { olderModifySubscriptionsCompletionBlock }
        set { olderModifySubscriptionsCompletionBlock = newValue }
    }
    var olderModifySubscriptionsCompletionBlock:
        (@Sendable ([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

    /// Makes an empty operation.
    public override init() {
        super.init()
    }

    /// Makes an operation that saves `subscriptionsToSave` and deletes `subscriptionIDsToDelete`.
    public convenience init(
        subscriptionsToSave: [CKSubscription]? = nil, subscriptionIDsToDelete: [CKSubscription.ID]? = nil
    ) {
        self.init()
        self.subscriptionsToSave = subscriptionsToSave
        self.subscriptionIDsToDelete = subscriptionIDsToDelete
    }

    private struct Outcome {
        var saved: [CKSubscription] = []
        var deleted: [CKSubscription.ID] = []
        var errors: [AnyHashable: any Error] = [:]
    }

    override func execute() {
        let saves = subscriptionsToSave ?? []
        let deletions = subscriptionIDsToDelete ?? []
        let outcome = Lock(Outcome())
        run { address in
            UserResolvingExchange(
                namesUser: saves.contains { subscription in
                    let wire = try? subscription.wire(clock: address.clock)
                    return address.namesUser(wire?.query, in: wire?.zoneID)
                }, address: address
            ) { address in
                address.split(saving: saves, deleting: deletions) {
                    ModifySubscriptionsExchange(saving: $0, deleting: $1, address: address)
                }
            }
        } event: { event in
            switch event {
            case .saved(let subscriptionID, let result):
                outcome.withLock { outcome in
                    switch result {
                    case .success(let subscription): outcome.saved.append(subscription)
                    case .failure(let error): outcome.errors[subscriptionID] = error
                    }
                }
                self.perSubscriptionSaveBlock?(subscriptionID, result.mapError { $0 })
            case .deleted(let subscriptionID, let result):
                outcome.withLock { outcome in
                    switch result {
                    case .success: outcome.deleted.append(subscriptionID)
                    case .failure(let error): outcome.errors[subscriptionID] = error
                    }
                }
                self.perSubscriptionDeleteBlock?(subscriptionID, result.mapError { $0 })
            }
        } completion: { result in
            if let block = self.modifySubscriptionsResultBlock { return block(result.mapError { $0 }) }
            let outcome = outcome.withLock { $0 }
            let error = result.error ?? (outcome.errors.isEmpty ? nil : .partialFailure(outcome.errors))
            self.olderModifySubscriptionsCompletionBlock?(outcome.saved, outcome.deleted, error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perSubscriptionSaveBlock.take(), perSubscriptionDeleteBlock.take(),
            modifySubscriptionsResultBlock.take(), olderModifySubscriptionsCompletionBlock.take()
        )
    }
}

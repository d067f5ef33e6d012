internal import System

/// Fetches subscriptions: some by their IDs, or all of the user in the database.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The subscriptions to fetch; nil for all.
    public var subscriptionIDs: [CKSubscription.ID]?

    /// Called for each subscription.
    @preconcurrency public var perSubscriptionResultBlock:
        (@Sendable (CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
    /// Called last. A failed subscription doesn't fail the operation.
    @preconcurrency public var fetchSubscriptionsResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `fetchSubscriptionsResultBlock`; not called if that is set. Gets `CKError.partialFailure` if
    /// subscriptions have failed.
    @available(*, deprecated, renamed: "fetchSubscriptionsResultBlock")
    @preconcurrency public var fetchSubscriptionCompletionBlock:
        (@Sendable ([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?
    {
        get { olderFetchSubscriptionCompletionBlock }
        set { olderFetchSubscriptionCompletionBlock = newValue }
    }
    var olderFetchSubscriptionCompletionBlock:
        (@Sendable ([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?

    /// Makes an operation that fetches all subscriptions.
    public override init() {
        super.init()
    }

    /// Makes an operation that fetches the subscriptions with `subscriptionIDs`.
    public convenience init(subscriptionIDs: [CKSubscription.ID]) {
        self.init()
        self.subscriptionIDs = subscriptionIDs
    }

    /// Makes an operation that fetches all subscriptions of the user in the database.
    public class func fetchAllSubscriptionsOperation() -> CKFetchSubscriptionsOperation {
        CKFetchSubscriptionsOperation()
    }

    private struct Outcome {
        var subscriptions: [CKSubscription.ID: CKSubscription] = [:]
        var errors: [AnyHashable: any Error] = [:]
    }

    override func execute() {
        let subscriptionIDs = subscriptionIDs
        let outcome = Lock(Outcome())
        run { address in
            address.split(subscriptionIDs) {
                FetchSubscriptionsExchange(subscriptionIDs: $0, address: address)
            }
        } event: { subscriptionID, result in
            outcome.withLock { outcome in
                switch result {
                case .success(let subscription): outcome.subscriptions[subscriptionID] = subscription
                case .failure(let error): outcome.errors[subscriptionID] = error
                }
            }
            self.perSubscriptionResultBlock?(subscriptionID, result.mapError { $0 })
        } completion: { result in
            if let block = self.fetchSubscriptionsResultBlock { return block(result.mapError { $0 }) }
            let outcome = outcome.withLock { $0 }
            let error = result.error ?? (outcome.errors.isEmpty ? nil : .partialFailure(outcome.errors))
            self.olderFetchSubscriptionCompletionBlock?(outcome.subscriptions, error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perSubscriptionResultBlock.take(), fetchSubscriptionsResultBlock.take(),
            olderFetchSubscriptionCompletionBlock.take()
        )
    }
}

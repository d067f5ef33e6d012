/// The body of `subscriptions/list`; a GET has none.
package struct SubscriptionsListRequest: Hashable, Sendable {
    /// Token of the last page.
    package var syncToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(syncToken: String? = nil) { self.syncToken = syncToken }
}

/// The body of `subscriptions/lookup`.
package struct SubscriptionsLookupRequest: Hashable, Sendable {
    /// The requested subscriptions. Their IDs are enough.
    package var subscriptions: [WireSubscription]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(subscriptions: [WireSubscription]) { self.subscriptions = subscriptions }
}

/// The body of `subscriptions/modify`.
package struct SubscriptionsModifyRequest: Hashable, Sendable {
    /// The operations, in order.
    package var operations: [SubscriptionOperation]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(operations: [SubscriptionOperation]) { self.operations = operations }
}

/// One operation of `subscriptions/modify`.
package struct SubscriptionOperation: Hashable, Sendable {
    /// The kind of operation. The raw value is Apple's name.
    package enum Kind: String, Hashable, CaseIterable, Sendable {
        /// Creates it.
        case create
        /// Replaces it.
        case update
        /// Deletes it.
        case delete
    }

    /// The kind of operation.
    package var operationType: Kind
    /// The subscription.
    package var subscription: WireSubscription
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes an operation.
    package init(operationType: Kind, subscription: WireSubscription) {
        self.operationType = operationType
        self.subscription = subscription
    }
}

/// The response of `subscriptions/list`, `subscriptions/lookup` and `subscriptions/modify`: the last two in the
/// request's order.
package struct SubscriptionsResponse: Hashable, Sendable {
    /// The results.
    package var subscriptions: [SubscriptionResult]
    /// True if there is another page, in the response to a list.
    package var moreComing: Bool?
    /// Token of this page, in the response to a list.
    package var syncToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(subscriptions: [SubscriptionResult], moreComing: Bool? = nil, syncToken: String? = nil) {
        self.subscriptions = subscriptions
        self.moreComing = moreComing
        self.syncToken = syncToken
    }
}

extension SubscriptionsListRequest: JSONObject, JSONMessage {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("syncToken", &syncToken)
    }
}

extension SubscriptionsLookupRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(subscriptions: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("subscriptions", &subscriptions)
    }
}

extension SubscriptionsModifyRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(operations: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("operations", &operations)
    }
}

extension SubscriptionOperation: JSONObject {
    static var blank: Self {
        Self(operationType: .create, subscription: WireSubscription(subscriptionID: ""))
    }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("operationType", choice: &operationType)
        members.required("subscription", &subscription)
    }
}

extension SubscriptionsResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(subscriptions: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("subscriptions", &subscriptions)
        members.optional("moreComing", &moreComing)
        members.optional("syncToken", &syncToken)
    }
}

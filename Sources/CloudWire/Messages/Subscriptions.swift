/// The body of `subscriptions/list`; a GET has none.
package struct SubscriptionsListRequest: Hashable, Sendable {
    /// Where the last page ended.
    package var syncToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(syncToken: String? = nil) { self.syncToken = syncToken }
}

/// The body of `subscriptions/lookup`.
package struct SubscriptionsLookupRequest: Hashable, Sendable {
    /// The subscriptions that are asked for: their IDs are enough.
    package var subscriptions: [WireSubscription]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(subscriptions: [WireSubscription]) { self.subscriptions = subscriptions }
}

/// The body of `subscriptions/modify`.
package struct SubscriptionsModifyRequest: Hashable, Sendable {
    /// What to do, in order.
    package var operations: [SubscriptionOperation]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(operations: [SubscriptionOperation]) { self.operations = operations }
}

/// One operation of `subscriptions/modify`.
package struct SubscriptionOperation: Hashable, Sendable {
    /// What to do with a subscription; the raw value is Apple's name.
    package enum Kind: String, Hashable, CaseIterable, Sendable {
        /// Make it.
        case create
        /// Replace it.
        case update
        /// Delete it.
        case delete
    }

    /// What to do.
    package var operationType: Kind
    /// With which subscription.
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
    /// True if there is another page, where a list says so.
    package var moreComing: Bool?
    /// Where the page ended, where a list has it.
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

extension SubscriptionsListRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("syncToken", syncToken)
            writer.members(unknown)
        }
    }
}

extension SubscriptionsLookupRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(subscriptions: [])
        var subscriptions: [WireSubscription]?
        for member in try node.members() {
            switch member.key {
            case "subscriptions": subscriptions = try member.value.array(of: WireSubscription.self)
            default: try unknown.keep(member)
            }
        }
        self.subscriptions = try node.required(subscriptions, "subscriptions")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("subscriptions", subscriptions)
            writer.members(unknown)
        }
    }
}

extension SubscriptionsModifyRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(operations: [])
        var operations: [SubscriptionOperation]?
        for member in try node.members() {
            switch member.key {
            case "operations": operations = try member.value.array(of: SubscriptionOperation.self)
            default: try unknown.keep(member)
            }
        }
        self.operations = try node.required(operations, "operations")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("operations", operations)
            writer.members(unknown)
        }
    }
}

extension SubscriptionOperation: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(operationType: .create, subscription: WireSubscription(subscriptionID: ""))
        var operationType: Kind?
        var subscription: WireSubscription?
        for member in try node.members() {
            switch member.key {
            case "operationType": operationType = try member.value.choice("operationType")
            case "subscription": subscription = try WireSubscription(reading: member.value)
            default: try unknown.keep(member)
            }
        }
        self.operationType = try node.required(operationType, "operationType")
        self.subscription = try node.required(subscription, "subscription")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("operationType", operationType.rawValue)
            writer.member("subscription", subscription)
            writer.members(unknown)
        }
    }
}

extension SubscriptionsResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(subscriptions: [])
        var subscriptions: [SubscriptionResult]?
        for member in try node.members() {
            switch member.key {
            case "subscriptions": subscriptions = try member.value.array(of: SubscriptionResult.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "moreComing": moreComing = try member.value.bool()
            case "syncToken": syncToken = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.subscriptions = try node.required(subscriptions, "subscriptions")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("subscriptions", subscriptions)
            writer.member("moreComing", moreComing)
            writer.member("syncToken", syncToken)
            writer.members(unknown)
        }
    }
}

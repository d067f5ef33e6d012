/// A subscription on the wire. To delete or look up one, its ID is enough.
package struct WireSubscription: Hashable, Sendable {
    /// The kind of a subscription. The raw value is the name on the wire. Unknown kinds are kept.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name on the wire.
        package var rawValue: String

        /// Makes a kind from its name on the wire.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The records that a query finds.
        package static let query = Kind(rawValue: "query")
        /// One zone.
        package static let zone = Kind(rawValue: "zone")
        /// A whole database.
        package static let database = Kind(rawValue: "database")
    }

    /// A change that fires a query subscription. The raw value is the name on the wire. Unknown ones are kept.
    package struct Trigger: RawRepresentable, Hashable, Sendable {
        /// The name on the wire.
        package var rawValue: String

        /// Makes a trigger from its name on the wire.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// A record that matches the query is created.
        package static let create = Trigger(rawValue: "create")
        /// A record that matches the query is updated.
        package static let update = Trigger(rawValue: "update")
        /// A record that matched the query is deleted.
        package static let delete = Trigger(rawValue: "delete")

        private static let inOrder = [create, update, delete]

        /// The number of the trigger in a notification and on disk, Apple's `fo`: 1 create, 2 update, 3 delete. Nil for
        /// an unknown trigger.
        package var reason: Int64? { Self.inOrder.firstIndex(of: self).map { Int64($0) + 1 } }
    }

    /// The subscription's name, unique in its user's database.
    package var subscriptionID: String
    /// The kind of the subscription.
    package var subscriptionType: Kind?
    /// The query of a query subscription.
    package var query: RecordQuery?
    /// The watched zone.
    package var zoneID: ZoneID?
    /// True if a query subscription watches all zones.
    package var zoneWide: Bool?
    /// The kinds of changes that fire a query subscription.
    package var firesOn: [Trigger]?
    /// True to delete a query subscription after it has fired once.
    package var firesOnce: Bool?
    /// What the notification shows.
    package var notificationInfo: WireNotificationInfo?
    /// True if the subscription was deleted, in the response to a deletion.
    package var deleted: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a subscription.
    package init(
        subscriptionID: String, subscriptionType: Kind? = nil, query: RecordQuery? = nil,
        zoneID: ZoneID? = nil, zoneWide: Bool? = nil, firesOn: [Trigger]? = nil, firesOnce: Bool? = nil,
        notificationInfo: WireNotificationInfo? = nil, deleted: Bool? = nil
    ) {
        self.subscriptionID = subscriptionID
        self.subscriptionType = subscriptionType
        self.query = query
        self.zoneID = zoneID
        self.zoneWide = zoneWide
        self.firesOn = firesOn
        self.firesOnce = firesOnce
        self.notificationInfo = notificationInfo
        self.deleted = deleted
    }
}

/// An element of a `subscriptions` array: a subscription or an error.
package enum SubscriptionResult: Hashable, Sendable {
    /// A subscription.
    case subscription(WireSubscription)
    /// The subscription's error.
    case error(WireError)
}

extension WireSubscription: JSONObject, JSONMessage {
    static var blank: Self { Self(subscriptionID: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("subscriptionID", &subscriptionID)
        members.optional("subscriptionType", choice: &subscriptionType)
        members.optional("query", &query)
        members.optional("zoneID", &zoneID)
        members.optional("zoneWide", &zoneWide)
        members.member("firesOn", .optional) { node throws(JSONError) in
            firesOn = try node.strings().map(Trigger.init(rawValue:))
        } write: {
            $0.member("firesOn", firesOn?.map(\.rawValue))
        }
        members.optional("firesOnce", &firesOnce)
        members.optional("notificationInfo", &notificationInfo)
        members.optional("deleted", &deleted)
    }
}

extension SubscriptionResult: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        if node["serverErrorCode"] != nil {
            self = .error(try WireError(reading: node))
        } else {
            self = .subscription(try WireSubscription(reading: node))
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .subscription(let subscription): subscription.write(to: &writer)
        case .error(let error): error.write(to: &writer)
        }
    }
}

/// A subscription as it crosses the wire; to delete or look one up, its ID is enough.
package struct WireSubscription: Hashable, Sendable {
    /// What is watched; the raw value is the name on the wire, unknown ones are kept.
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

    /// What fires a query subscription; the raw value is the name on the wire, unknown ones are kept.
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
    /// What is watched.
    package var subscriptionType: Kind?
    /// Which records, for a query subscription.
    package var query: RecordQuery?
    /// Which zone.
    package var zoneID: ZoneID?
    /// True if a query subscription watches all zones.
    package var zoneWide: Bool?
    /// What fires a query subscription.
    package var firesOn: [Trigger]?
    /// True if a query subscription is deleted after it fired once.
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

/// What stands in a `subscriptions` array: a subscription, or why there is none.
package enum SubscriptionResult: Hashable, Sendable {
    /// A subscription.
    case subscription(WireSubscription)
    /// What went wrong with one subscription.
    case error(WireError)
}

extension WireSubscription: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(subscriptionID: "")
        var subscriptionID: String?
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case "subscriptionID": subscriptionID = try value.string()
            case _ where value.isNull: try unknown.keep(member)
            case "subscriptionType": subscriptionType = Kind(rawValue: try value.string())
            case "query": query = try RecordQuery(reading: value)
            case "zoneID": zoneID = try ZoneID(reading: value)
            case "zoneWide": zoneWide = try value.bool()
            case "firesOn": firesOn = try value.strings().map(Trigger.init(rawValue:))
            case "firesOnce": firesOnce = try value.bool()
            case "notificationInfo": notificationInfo = try WireNotificationInfo(reading: value)
            case "deleted": deleted = try value.bool()
            default: try unknown.keep(member)
            }
        }
        self.subscriptionID = try node.required(subscriptionID, "subscriptionID")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("subscriptionID", subscriptionID)
            writer.member("subscriptionType", subscriptionType?.rawValue)
            writer.member("query", query)
            writer.member("zoneID", zoneID)
            writer.member("zoneWide", zoneWide)
            writer.member("firesOn", firesOn?.map(\.rawValue))
            writer.member("firesOnce", firesOnce)
            writer.member("notificationInfo", notificationInfo)
            writer.member("deleted", deleted)
            writer.members(unknown)
        }
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

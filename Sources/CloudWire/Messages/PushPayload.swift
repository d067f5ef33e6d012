/// A notification of a change, as the courier returns it and as a device's push service passes it to an app.
package struct PushPayload: Hashable, Sendable {
    /// The part for the device's push service: what the device shows.
    package var aps: PushAlert?
    /// The change.
    package var ck: PushCloudPart
    /// Unknown keys, kept as received. For example the app's own keys.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a notification.
    package init(aps: PushAlert? = nil, ck: PushCloudPart) {
        self.aps = aps
        self.ck = ck
    }
}

/// The cloud's part of a notification.
package struct PushCloudPart: Hashable, Sendable {
    /// Format version of this part, Apple's `ce`: 2.
    package var formatVersion: Int64?
    /// The container, Apple's `cid`.
    package var containerIdentifier: String?
    /// The owner of the subscription that fired, Apple's `ckuserid`.
    package var userRecordName: String?
    /// The notification's name, Apple's `nid`.
    package var notificationID: String?
    /// True if the notification was shortened because it was too large, Apple's `p`.
    package var isPruned: Bool?
    /// The change.
    package var cause: PushCause?
    /// Number of other notifications that this one represents. They are in the collection only. Our own key
    /// `more`.
    package var moreCount: Int64?
    /// Notifications that another device has marked as read, in a notification about that. An empty array if
    /// there are too many to list. Our own key `rd`.
    package var readNotificationIDs: [String]?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes the part.
    package init(
        formatVersion: Int64? = 2, containerIdentifier: String? = nil, userRecordName: String? = nil,
        notificationID: String? = nil, isPruned: Bool? = nil, cause: PushCause? = nil
    ) {
        self.formatVersion = formatVersion
        self.containerIdentifier = containerIdentifier
        self.userRecordName = userRecordName
        self.notificationID = notificationID
        self.isPruned = isPruned
        self.cause = cause
    }
}

/// A change, and the subscription that it fired.
package struct PushCause: Hashable, Sendable {
    /// Kind of the subscription. The raw value is the key of the cause.
    package enum Kind: String, Hashable, CaseIterable, Sendable {
        /// A query subscription: a record.
        case query = "qry"
        /// A zone subscription: something in a zone.
        case zone = "fet"
        /// A database subscription: something in a database.
        case database = "met"
    }

    /// Kind of the subscription.
    package var kind: Kind
    /// Number of the database, Apple's `dbs`. `database` is its meaning.
    package var databaseNumber: Int64?
    /// The subscription, Apple's `sid`.
    package var subscriptionID: String?
    /// Name of the zone, Apple's `zid`. Missing for a database subscription.
    package var zoneName: String?
    /// The zone's owner, Apple's `zoid`.
    package var ownerRecordName: String?
    /// Name of the record, Apple's `rid`. Only for a query subscription.
    package var recordName: String?
    /// 1 created, 2 changed, 3 deleted: Apple's `fo`.
    package var reason: Int64?
    /// Values of the record's fields that the subscription requested, Apple's `af`.
    package var fields: [String: JSONValue]?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a cause.
    package init(kind: Kind, database: DatabaseScope?, subscriptionID: String?, zoneID: ZoneID? = nil) {
        self.kind = kind
        self.database = database
        self.subscriptionID = subscriptionID
        zoneName = zoneID?.zoneName
        ownerRecordName = zoneID?.ownerRecordName
    }

    /// The database that changed, or nil for an unknown number.
    ///
    /// Apple's web client uses 0 for the public database, and its framework counts from 1. So both numbers
    /// are read as public, and 0 is written.
    package var database: DatabaseScope? {
        get {
            switch databaseNumber {
            case 0, 1: .public
            case 2: .private
            case 3: .shared
            default: nil
            }
        }
        set {
            databaseNumber =
                switch newValue {
                case .public: 0
                case .private: 2
                case .shared: 3
                case nil: nil
                }
        }
    }
}

extension PushPayload: JSONObject, JSONMessage {
    static var blank: Self { Self(ck: PushCloudPart()) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("aps", &aps)
        members.required("ck", &ck)
    }
}

extension PushCloudPart: JSONObject {
    static var blank: Self { Self(formatVersion: nil) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("ce", &formatVersion)
        members.optional("cid", &containerIdentifier)
        members.optional("ckuserid", &userRecordName)
        members.optional("nid", &notificationID)
        members.member("p", .optional) { node throws(JSONError) in
            // Apple's servers send a number. The tests of their clients also send a boolean.
            let isBool = node.kind == .true || node.kind == .false
            isPruned = isBool ? try node.bool() : try node.int64() != 0
        } write: {
            $0.member("p", isPruned.map { Int64($0 ? 1 : 0) })
        }
        visitCause("qry", .query, &members)
        visitCause("fet", .zone, &members)
        visitCause("met", .database, &members)
        members.optional("more", &moreCount)
        members.optional("rd", ofKind: .array, &readNotificationIDs)
    }

    /// Passes the cause under the key of its kind. If a notification has several causes, the first one counts.
    private mutating func visitCause(
        _ key: StaticString, _ kind: PushCause.Kind, _ members: inout some JSONMembers & ~Copyable
    ) {
        guard cause == nil || cause?.kind == kind else { return }
        members.member(key, .optional) { node throws(JSONError) in
            cause = try PushCause(reading: node)
            cause?.kind = kind
        } write: {
            $0.member(key, cause)
        }
    }
}

extension PushCause: JSONObject {
    static var blank: Self { Self(kind: .database, database: nil, subscriptionID: nil) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("dbs", &databaseNumber)
        members.optional("sid", &subscriptionID)
        members.optional("zid", &zoneName)
        members.optional("zoid", &ownerRecordName)
        members.optional("rid", &recordName)
        members.optional("fo", &reason)
        members.member("af", .optional) { node throws(JSONError) in
            var fields: [String: JSONValue] = [:]
            for field in try node.members() { try fields.keep(field) }
            self.fields = fields
        } write: {
            $0.member("af", fields.map(JSONValue.object))
        }
    }
}

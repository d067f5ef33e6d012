/// A notification of a change: what the courier answers, and what a device's push service hands to an app.
package struct PushPayload: Hashable, Sendable {
    /// What the device shows; it belongs to the device's own push service.
    package var aps: PushAlert?
    /// What changed.
    package var ck: PushCloudPart
    /// Keys that we don't know, as they came: an app's own.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a notification.
    package init(aps: PushAlert? = nil, ck: PushCloudPart) {
        self.aps = aps
        self.ck = ck
    }
}

/// The cloud's part of a notification.
package struct PushCloudPart: Hashable, Sendable {
    /// The form of this part, Apple's `ce`: 2.
    package var formatVersion: Int64?
    /// The container, Apple's `cid`.
    package var containerIdentifier: String?
    /// The owner of the subscription that fired, Apple's `ckuserid`.
    package var userRecordName: String?
    /// The notification's name, Apple's `nid`.
    package var notificationID: String?
    /// True if something was left out because it was too large, Apple's `p`.
    package var isPruned: Bool?
    /// What changed.
    package var cause: PushCause?
    /// How many other notifications this one stands for, which are in the collection only; our own key `more`.
    package var moreCount: Int64?
    /// Notifications that another device has marked as read, where that is what is told; our own key `rd`. None: too
    /// many to name.
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

/// What changed, and which subscription says so.
package struct PushCause: Hashable, Sendable {
    /// Which kind of subscription fired; the raw value is the key that the cause stands under.
    package enum Kind: String, Hashable, CaseIterable, Sendable {
        /// A query subscription: a record.
        case query = "qry"
        /// A zone subscription: something in a zone.
        case zone = "fet"
        /// A database subscription: something in a database.
        case database = "met"
    }

    /// Which kind of subscription fired.
    package var kind: Kind
    /// The number of the database, Apple's `dbs`; `database` is what it means.
    package var databaseNumber: Int64?
    /// The subscription, Apple's `sid`.
    package var subscriptionID: String?
    /// The zone's name, Apple's `zid`; not in a database subscription's notification.
    package var zoneName: String?
    /// The zone's owner, Apple's `zoid`.
    package var ownerRecordName: String?
    /// The record's name, Apple's `rid`; only in a query subscription's notification.
    package var recordName: String?
    /// 1 made, 2 changed, 3 deleted: Apple's `fo`.
    package var reason: Int64?
    /// The values of the record's fields that the subscription wanted, Apple's `af`.
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

    /// The database that changed; nil for a number that says nothing to us.
    ///
    /// Apple's web client takes 0 for the public database and its framework numbers from 1, so both are read as
    /// public, and 0 is written.
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

extension PushPayload: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(ck: PushCloudPart())
        var cloud: PushCloudPart?
        for member in try node.members() {
            switch member.key {
            case "ck": cloud = try PushCloudPart(reading: member.value)
            case _ where member.value.isNull: try unknown.keep(member)
            case "aps": aps = try PushAlert(reading: member.value)
            default: try unknown.keep(member)
            }
        }
        ck = try node.required(cloud, "ck")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("aps", aps)
            writer.member("ck", ck)
            writer.members(unknown)
        }
    }
}

extension PushCloudPart: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(formatVersion: nil)
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case _ where value.isNull: try unknown.keep(member)
            case "ce": formatVersion = try value.int64()
            case "cid": containerIdentifier = try value.string()
            case "ckuserid": userRecordName = try value.string()
            case "nid": notificationID = try value.string()
            // A number with Apple's own servers; a few of their clients' tests have a truth value.
            case "p" where value.kind == .true || value.kind == .false: isPruned = try value.bool()
            case "p": isPruned = try value.int64() != 0
            case "qry" where cause == nil: cause = try PushCause(.query, reading: value)
            case "fet" where cause == nil: cause = try PushCause(.zone, reading: value)
            case "met" where cause == nil: cause = try PushCause(.database, reading: value)
            case "more": moreCount = try value.int64()
            case "rd" where value.kind == .array: readNotificationIDs = try value.strings()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("ce", formatVersion)
            writer.member("cid", containerIdentifier)
            writer.member("ckuserid", userRecordName)
            writer.member("nid", notificationID)
            writer.member("p", isPruned.map { Int64($0 ? 1 : 0) })
            if let cause {
                writer.key(cause.kind.rawValue)
                cause.write(to: &writer)
            }
            writer.member("more", moreCount)
            writer.member("rd", readNotificationIDs)
            writer.members(unknown)
        }
    }
}

extension PushCause {
    init(_ kind: Kind, reading node: JSONNode) throws(JSONError) {
        self.init(kind: kind, database: nil, subscriptionID: nil)
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case _ where value.isNull: try unknown.keep(member)
            case "dbs": databaseNumber = try value.int64()
            case "sid": subscriptionID = try value.string()
            case "zid": zoneName = try value.string()
            case "zoid": ownerRecordName = try value.string()
            case "rid": recordName = try value.string()
            case "fo": reason = try value.int64()
            case "af":
                var fields: [String: JSONValue] = [:]
                for field in try value.members() { try fields.keep(field) }
                self.fields = fields
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("dbs", databaseNumber)
            writer.member("sid", subscriptionID)
            writer.member("zid", zoneName)
            writer.member("zoid", ownerRecordName)
            writer.member("rid", recordName)
            writer.member("fo", reason)
            if let fields {
                writer.key("af")
                writer.value(JSONValue.object(fields))
            }
            writer.members(unknown)
        }
    }
}

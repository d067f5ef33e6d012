/// The body of `notifications/list`, an endpoint of ours: the collection of what the user was told.
package struct NotificationsListRequest: Hashable, Sendable {
    /// Where the last page ended; nil means from the beginning.
    package var syncToken: String?
    /// The most notifications in a page.
    package var resultsLimit: Int64?
    /// True if those that were read are left out.
    package var unreadOnly: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(syncToken: String? = nil, resultsLimit: Int64? = nil, unreadOnly: Bool? = nil) {
        self.syncToken = syncToken
        self.resultsLimit = resultsLimit
        self.unreadOnly = unreadOnly
    }
}

/// The response of `notifications/list`.
package struct NotificationsListResponse: Hashable, Sendable {
    /// What the user was told, the oldest change first; one that was marked as read since comes again.
    package var notifications: [CollectedNotification]
    /// Where the page ends.
    package var syncToken: String
    /// True if there are more.
    package var moreComing: Bool
    /// True if notifications behind the request's token were discarded before anybody asked for them.
    package var someWereDiscarded: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(
        notifications: [CollectedNotification], syncToken: String, moreComing: Bool,
        someWereDiscarded: Bool? = nil
    ) {
        self.notifications = notifications
        self.syncToken = syncToken
        self.moreComing = moreComing
        self.someWereDiscarded = someWereDiscarded
    }
}

/// A notification in the collection.
package struct CollectedNotification: Hashable, Sendable {
    /// Its name: the `nid` of its push.
    package var notificationID: String
    /// When it was made, in milliseconds since 1970.
    package var timestampMilliseconds: Int64?
    /// True if one of the user's devices has marked it as read.
    package var isRead: Bool?
    /// The notification, whole also where the push was cut; absent where only its name is asked for.
    package var notification: PushPayload?
    /// Why it could not be marked as read.
    package var serverErrorCode: ServerErrorCode?
    /// The same in words.
    package var reason: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes an entry.
    package init(
        notificationID: String, timestampMilliseconds: Int64? = nil, isRead: Bool? = nil,
        notification: PushPayload? = nil
    ) {
        self.notificationID = notificationID
        self.timestampMilliseconds = timestampMilliseconds
        self.isRead = isRead
        self.notification = notification
    }
}

/// The body of `notifications/read`, an endpoint of ours.
package struct NotificationsReadRequest: Hashable, Sendable {
    /// The notifications to mark as read.
    package var notificationIDs: [String]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(notificationIDs: [String]) {
        self.notificationIDs = notificationIDs
    }
}

/// The response of `notifications/read`: an entry for each that was named, in that order.
package struct NotificationsReadResponse: Hashable, Sendable {
    /// Names and errors.
    package var notifications: [CollectedNotification]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(notifications: [CollectedNotification]) {
        self.notifications = notifications
    }
}

extension NotificationsListRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            case "resultsLimit": resultsLimit = try member.value.int64()
            case "unreadOnly": unreadOnly = try member.value.bool()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("syncToken", syncToken)
            writer.member("resultsLimit", resultsLimit)
            writer.member("unreadOnly", unreadOnly)
            writer.members(unknown)
        }
    }
}

extension NotificationsListResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(notifications: [], syncToken: "", moreComing: false)
        var notifications: [CollectedNotification]?
        var syncToken: String?
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case "notifications": notifications = try value.array(of: CollectedNotification.self)
            case "syncToken": syncToken = try value.string()
            case _ where value.isNull: try unknown.keep(member)
            case "moreComing": moreComing = try value.bool()
            case "someWereDiscarded": someWereDiscarded = try value.bool()
            default: try unknown.keep(member)
            }
        }
        self.notifications = try node.required(notifications, "notifications")
        self.syncToken = try node.required(syncToken, "syncToken")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("notifications", notifications)
            writer.member("syncToken", syncToken)
            writer.member("moreComing", moreComing)
            writer.member("someWereDiscarded", someWereDiscarded)
            writer.members(unknown)
        }
    }
}

extension CollectedNotification: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(notificationID: "")
        var notificationID: String?
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case "notificationID": notificationID = try value.string()
            case _ where value.isNull: try unknown.keep(member)
            case "timestamp": timestampMilliseconds = try value.int64()
            case "isRead": isRead = try value.bool()
            case "notification": notification = try PushPayload(reading: value)
            case "serverErrorCode": serverErrorCode = ServerErrorCode(rawValue: try value.string())
            case "reason": reason = try value.string()
            default: try unknown.keep(member)
            }
        }
        self.notificationID = try node.required(notificationID, "notificationID")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("notificationID", notificationID)
            writer.member("timestamp", timestampMilliseconds)
            writer.member("isRead", isRead)
            writer.member("notification", notification)
            writer.member("serverErrorCode", serverErrorCode?.rawValue)
            writer.member("reason", reason)
            writer.members(unknown)
        }
    }
}

extension NotificationsReadRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(notificationIDs: [])
        var notificationIDs: [String]?
        for member in try node.members() {
            switch member.key {
            case "notificationIDs": notificationIDs = try member.value.strings()
            default: try unknown.keep(member)
            }
        }
        self.notificationIDs = try node.required(notificationIDs, "notificationIDs")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("notificationIDs", notificationIDs)
            writer.members(unknown)
        }
    }
}

extension NotificationsReadResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(notifications: [])
        var notifications: [CollectedNotification]?
        for member in try node.members() {
            switch member.key {
            case "notifications": notifications = try member.value.array(of: CollectedNotification.self)
            default: try unknown.keep(member)
            }
        }
        self.notifications = try node.required(notifications, "notifications")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("notifications", notifications)
            writer.members(unknown)
        }
    }
}

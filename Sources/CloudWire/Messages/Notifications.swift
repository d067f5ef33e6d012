/// The body of `notifications/list`, an endpoint of our own: the user's collection of notifications.
package struct NotificationsListRequest: Hashable, Sendable {
    /// Token of the last page. Nil starts at the beginning.
    package var syncToken: String?
    /// Maximum number of notifications in a page.
    package var resultsLimit: Int64?
    /// True to leave out the notifications that were read.
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
    /// The notifications, oldest change first. A notification that was marked as read since is included again.
    package var notifications: [CollectedNotification]
    /// Token of this page.
    package var syncToken: String
    /// True if there are more.
    package var moreComing: Bool
    /// True if notifications after the request's token were discarded before they were fetched.
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
    /// Creation time, in milliseconds since 1970.
    package var timestampMilliseconds: Int64?
    /// True if one of the user's devices has marked it as read.
    package var isRead: Bool?
    /// The complete notification, also if the push was shortened. Nil if only its name was requested.
    package var notification: PushPayload?
    /// Error of marking it as read.
    package var serverErrorCode: ServerErrorCode?
    /// Human-readable reason of the error.
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

/// The body of `notifications/read`, an endpoint of our own.
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

/// The response of `notifications/read`: an entry for each notification of the request, in its order.
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

extension NotificationsListRequest: JSONObject, JSONMessage {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("syncToken", &syncToken)
        members.optional("resultsLimit", &resultsLimit)
        members.optional("unreadOnly", &unreadOnly)
    }
}

extension NotificationsListResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(notifications: [], syncToken: "", moreComing: false) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("notifications", &notifications)
        members.required("syncToken", &syncToken)
        members.optional("moreComing", orDefault: &moreComing)
        members.optional("someWereDiscarded", &someWereDiscarded)
    }
}

extension CollectedNotification: JSONObject {
    static var blank: Self { Self(notificationID: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("notificationID", &notificationID)
        members.optional("timestamp", &timestampMilliseconds)
        members.optional("isRead", &isRead)
        members.optional("notification", &notification)
        members.optional("serverErrorCode", choice: &serverErrorCode)
        members.optional("reason", &reason)
    }
}

extension NotificationsReadRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(notificationIDs: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("notificationIDs", &notificationIDs)
    }
}

extension NotificationsReadResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(notifications: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("notifications", &notifications)
    }
}

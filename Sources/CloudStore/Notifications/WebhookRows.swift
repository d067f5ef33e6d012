/// A webhook of the operator: an address that receives notifications too.
package struct WebhookRow: Hashable, Sendable {
    /// Name, unique in the environment.
    package let name: String
    /// URL.
    package var url: String
    /// Key that signs the deliveries.
    package var secret: [UInt8]
    /// Kind of the databases that it watches, or nil for all.
    package var scope: StoredDatabaseKey.Scope?
    /// Record type that it watches, or nil for all.
    package var recordType: String?
    /// Creation time, in milliseconds since 1970.
    package var madeMilliseconds: Int64
    /// Number of pending deliveries.
    package var waitingCount: Int64 = 0
    /// Number of accepted deliveries.
    package var deliveredCount: Int64 = 0
    /// Number of failed attempts.
    package var failedCount: Int64 = 0
    /// Number of deliveries that were given up after a day.
    package var abandonedCount: Int64 = 0
    /// Number of notifications that were dropped because too many were pending.
    package var droppedCount: Int64 = 0
    /// Number of consecutive failures.
    package var failuresInRow: Int64 = 0
    /// Time until which nothing is sent, in milliseconds since 1970.
    package var pausedUntilMilliseconds: Int64 = 0
    /// Time of the last attempt, in milliseconds since 1970. 0 before the first.
    package var lastMilliseconds: Int64 = 0
    /// Result of the last attempt, in a few words. Empty before the first.
    package var lastResult = ""

    /// Makes a row.
    package init(
        name: String, url: String, secret: [UInt8], scope: StoredDatabaseKey.Scope? = nil,
        recordType: String? = nil,
        madeMilliseconds: Int64
    ) {
        self.name = name
        self.url = url
        self.secret = secret
        self.scope = scope
        self.recordType = recordType
        self.madeMilliseconds = madeMilliseconds
    }
}

/// A pending delivery of a notification to a webhook.
package struct WebhookDeliveryRow: Hashable, Sendable {
    /// Number in the order of creation. With 0, the store assigns the next number.
    package var number: Int64
    /// The webhook's name.
    package let webhook: String
    /// The notification's name.
    package let notificationID: String
    /// Creation time, in milliseconds since 1970.
    package let madeMilliseconds: Int64
    /// Number of attempts.
    package var attempts: Int64
    /// Time of the next attempt, in milliseconds since 1970.
    package var dueMilliseconds: Int64
    /// Body of the request.
    package let body: [UInt8]

    /// Makes a row.
    package init(
        number: Int64 = 0, webhook: String, notificationID: String, madeMilliseconds: Int64,
        attempts: Int64 = 0, dueMilliseconds: Int64, body: [UInt8]
    ) {
        self.number = number
        self.webhook = webhook
        self.notificationID = notificationID
        self.madeMilliseconds = madeMilliseconds
        self.attempts = attempts
        self.dueMilliseconds = dueMilliseconds
        self.body = body
    }
}

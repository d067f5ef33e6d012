/// A webhook of the operator: an address that receives notifications too.
public struct WebhookRow: Hashable, Sendable {
    /// Name, unique in the environment.
    public let name: String
    /// URL.
    public var url: String
    /// Key that signs the deliveries.
    public var secret: [UInt8]
    /// Kind of the databases that it watches, or nil for all.
    public var scope: StoredDatabaseKey.Scope?
    /// Record type that it watches, or nil for all.
    public var recordType: String?
    /// Creation time, in milliseconds since 1970.
    public var madeMilliseconds: Int64
    /// Number of pending deliveries.
    public var waitingCount: Int64 = 0
    /// Number of accepted deliveries.
    public var deliveredCount: Int64 = 0
    /// Number of failed attempts.
    public var failedCount: Int64 = 0
    /// Number of deliveries that were given up after a day.
    public var abandonedCount: Int64 = 0
    /// Number of notifications that were dropped because too many were pending.
    public var droppedCount: Int64 = 0
    /// Number of consecutive failures.
    public var failuresInRow: Int64 = 0
    /// Time until which nothing is sent, in milliseconds since 1970.
    public var pausedUntilMilliseconds: Int64 = 0
    /// Time of the last attempt, in milliseconds since 1970. 0 before the first.
    public var lastMilliseconds: Int64 = 0
    /// Result of the last attempt, in a few words. Empty before the first.
    public var lastResult = ""

    /// Makes a row.
    public init(
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
public struct WebhookDeliveryRow: Hashable, Sendable {
    /// Number in the order of creation. With 0, the store assigns the next number.
    public var number: Int64
    /// The webhook's name.
    public let webhook: String
    /// The notification's name.
    public let notificationID: String
    /// Creation time, in milliseconds since 1970.
    public let madeMilliseconds: Int64
    /// Number of attempts.
    public var attempts: Int64
    /// Time of the next attempt, in milliseconds since 1970.
    public var dueMilliseconds: Int64
    /// Body of the request.
    public let body: [UInt8]

    /// Makes a row.
    public init(
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

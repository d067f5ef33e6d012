/// An address of the operator's that is told of notifications too.
public struct WebhookRow: Hashable, Sendable {
    /// Its name, unique in the environment.
    public let name: String
    /// Where to.
    public var url: String
    /// With which what is sent is signed.
    public var secret: [UInt8]
    /// Only of changes in this kind of database; nil for each.
    public var scope: StoredDatabaseKey.Scope?
    /// Only of records of this type; nil for everything.
    public var recordType: String?
    /// When it was made, in milliseconds since 1970.
    public var madeMilliseconds: Int64
    /// How many notifications wait to be sent.
    public var waitingCount: Int64 = 0
    /// How many were taken.
    public var deliveredCount: Int64 = 0
    /// How many attempts failed.
    public var failedCount: Int64 = 0
    /// How many were given up after a day.
    public var abandonedCount: Int64 = 0
    /// How many were left out because too many waited.
    public var droppedCount: Int64 = 0
    /// How many times in a row everything that was sent failed.
    public var failuresInRow: Int64 = 0
    /// Until then nothing is sent, in milliseconds since 1970.
    public var pausedUntilMilliseconds: Int64 = 0
    /// When something was last sent, in milliseconds since 1970; 0 before.
    public var lastMilliseconds: Int64 = 0
    /// What came of it, in a few words; empty before.
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

/// A notification that waits to be sent to a webhook.
public struct WebhookDeliveryRow: Hashable, Sendable {
    /// In the order in which they were made. 0: the store gives it the next number.
    public var number: Int64
    /// The webhook's name.
    public let webhook: String
    /// The notification's name.
    public let notificationID: String
    /// When it was made, in milliseconds since 1970.
    public let madeMilliseconds: Int64
    /// How often it was sent.
    public var attempts: Int64
    /// When it is sent next, in milliseconds since 1970.
    public var dueMilliseconds: Int64
    /// What is sent.
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

/// Names a write of a user in a database, as its client named it.
public struct OperationKey: Hashable, Comparable, Sendable {
    /// The database.
    public let database: StoredDatabaseKey
    /// The record name of the user.
    public let user: String
    /// The client's name for the write.
    public let operationID: String

    /// Makes the key of an operation.
    public init(database: StoredDatabaseKey, user: String, operationID: String) {
        self.database = database
        self.user = user
        self.operationID = operationID
    }

    /// Orders by database, user, name.
    public static func < (left: OperationKey, right: OperationKey) -> Bool {
        (left.database, left.user, left.operationID) < (right.database, right.user, right.operationID)
    }
}

/// What a write was answered, so that a repeated one gets the same answer.
public struct KeptAnswerRow: Hashable, Sendable {
    /// Which write.
    public let key: OperationKey
    /// The hash of what was asked.
    public var requestHash: [UInt8]
    /// When it was answered, in milliseconds since 1970.
    public var atMilliseconds: Int64
    /// The answer as the service keeps it; the store doesn't look inside.
    public var answer: [UInt8]

    /// Makes a row.
    public init(key: OperationKey, requestHash: [UInt8], atMilliseconds: Int64, answer: [UInt8]) {
        self.key = key
        self.requestHash = requestHash
        self.atMilliseconds = atMilliseconds
        self.answer = answer
    }
}

/// Asks for a user's kept answers by the beginning of the operation's name, newest first.
public struct AnswerSeries: Sendable {
    /// The database, the user, and the beginning of the names.
    public let beginning: OperationKey
    /// The time of the oldest answer, in milliseconds since 1970.
    public let sinceMilliseconds: Int64
    /// Maximum number of answers.
    public let rowsMax: Int
    /// Maximum size of the answers in bytes. An answer beyond it is left out.
    public let bytesMax: Int

    /// Makes the question.
    public init(beginning: OperationKey, sinceMilliseconds: Int64, rowsMax: Int, bytesMax: Int) {
        self.beginning = beginning
        self.sinceMilliseconds = sinceMilliseconds
        self.rowsMax = rowsMax
        self.bytesMax = bytesMax
    }
}

/// Asks for rows that have outlived their use.
public struct OutdatedQuery: Sendable {
    /// Kept answers from before, in milliseconds since 1970.
    public var answersBefore = Int64.min
    /// Pushes from before.
    public var pushesBefore = Int64.min
    /// Devices that were last heard of before.
    public var devicesSeenBefore = Int64.min
    /// Tombstones from before.
    public var tombstonesBefore = Int64.min
    /// Zones that were deleted before, and those of which nobody knows when.
    public var zonesDeletedBefore = Int64.min
    /// Rows of each kind at most.
    public var rowsMax: Int

    /// Asks for nothing yet.
    public init(rowsMax: Int) {
        self.rowsMax = rowsMax
    }
}

/// Rows that have outlived their use, the oldest first.
public struct OutdatedRows: Hashable, Sendable {
    /// Kept answers.
    public var answers: [OperationKey] = []
    /// Pushes.
    public var pushes: [PushKey] = []
    /// Devices.
    public var devices: [DeviceKey] = []
    /// Tombstones.
    public var tombstones: [StoredRecord] = []
    /// Deleted zones.
    public var zones: [ZoneRow] = []

    /// Makes an answer without rows.
    public init() {}
}

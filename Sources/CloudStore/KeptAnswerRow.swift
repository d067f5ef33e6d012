/// The key of a write: its user, its database and the name that the client gave it.
public struct OperationKey: Hashable, Comparable, Sendable {
    /// The database.
    public let database: StoredDatabaseKey
    /// Record name of the user.
    public let user: String
    /// The client's name for the write.
    public let operationID: String

    /// Makes the key of an operation.
    public init(database: StoredDatabaseKey, user: String, operationID: String) {
        self.database = database
        self.user = user
        self.operationID = operationID
    }

    /// Sorts by database, user and name.
    public static func < (left: OperationKey, right: OperationKey) -> Bool {
        (left.database, left.user, left.operationID) < (right.database, right.user, right.operationID)
    }
}

/// The response to a write. A repeated request gets the same response.
public struct KeptAnswerRow: Hashable, Sendable {
    /// The write.
    public let key: OperationKey
    /// Hash of the request.
    public var requestHash: [UInt8]
    /// Time of the response, in milliseconds since 1970.
    public var atMilliseconds: Int64
    /// The response in the service's encoding. The store doesn't read it.
    public var answer: [UInt8]

    /// Makes a row.
    public init(key: OperationKey, requestHash: [UInt8], atMilliseconds: Int64, answer: [UInt8]) {
        self.key = key
        self.requestHash = requestHash
        self.atMilliseconds = atMilliseconds
        self.answer = answer
    }
}

/// A query for the kept answers of a user with a prefix of their operation names, newest first.
public struct AnswerSeries: Sendable {
    /// Database, user and prefix of the names.
    public let beginning: OperationKey
    /// Time of the oldest answer, in milliseconds since 1970.
    public let sinceMilliseconds: Int64
    /// Maximum number of answers.
    public let rowsMax: Int
    /// Maximum size of the answers in bytes. An answer that exceeds it is left out.
    public let bytesMax: Int

    /// Makes a query.
    public init(beginning: OperationKey, sinceMilliseconds: Int64, rowsMax: Int, bytesMax: Int) {
        self.beginning = beginning
        self.sinceMilliseconds = sinceMilliseconds
        self.rowsMax = rowsMax
        self.bytesMax = bytesMax
    }
}

/// A query for rows that can be deleted because of their age. All times are in milliseconds since 1970.
public struct OutdatedQuery: Sendable {
    /// Finds kept answers from before this time.
    public var answersBefore = Int64.min
    /// Finds pushes from before this time.
    public var pushesBefore = Int64.min
    /// Finds devices that sent no request since this time.
    public var devicesSeenBefore = Int64.min
    /// Finds tombstones from before this time.
    public var tombstonesBefore = Int64.min
    /// Finds zones that were deleted before this time, and those with an unknown time of deletion.
    public var zonesDeletedBefore = Int64.min
    /// Maximum number of rows of each kind.
    public var rowsMax: Int

    /// Makes a query that finds nothing.
    public init(rowsMax: Int) {
        self.rowsMax = rowsMax
    }
}

/// Rows that can be deleted because of their age, oldest first.
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

    /// Makes an empty result.
    public init() {}
}

/// The key of a write: its user, its database and the name that the client gave it.
package struct OperationKey: Hashable, Comparable, Sendable {
    /// The database.
    package let database: StoredDatabaseKey
    /// Record name of the user.
    package let user: String
    /// The client's name for the write.
    package let operationID: String

    /// Makes the key of an operation.
    package init(database: StoredDatabaseKey, user: String, operationID: String) {
        self.database = database
        self.user = user
        self.operationID = operationID
    }

    /// Sorts by database, user and name.
    package static func < (left: OperationKey, right: OperationKey) -> Bool {
        (left.database, left.user, left.operationID) < (right.database, right.user, right.operationID)
    }
}

/// The response to a write. A repeated request gets the same response.
package struct KeptAnswerRow: Hashable, Sendable {
    /// The write.
    package let key: OperationKey
    /// Hash of the request.
    package var requestHash: [UInt8]
    /// Time of the response, in milliseconds since 1970.
    package var atMilliseconds: Int64
    /// The response in the service's encoding. The store doesn't read it.
    package var answer: [UInt8]

    /// Makes a row.
    package init(key: OperationKey, requestHash: [UInt8], atMilliseconds: Int64, answer: [UInt8]) {
        self.key = key
        self.requestHash = requestHash
        self.atMilliseconds = atMilliseconds
        self.answer = answer
    }
}

/// A query for the kept answers of a user with a prefix of their operation names, newest first.
package struct AnswerSeries: Sendable {
    /// Database, user and prefix of the names.
    package let beginning: OperationKey
    /// Time of the oldest answer, in milliseconds since 1970.
    package let sinceMilliseconds: Int64
    /// Maximum number of answers.
    package let rowsMax: Int
    /// Maximum size of the answers in bytes. An answer that exceeds it is left out.
    package let bytesMax: Int

    /// Makes a query.
    package init(beginning: OperationKey, sinceMilliseconds: Int64, rowsMax: Int, bytesMax: Int) {
        self.beginning = beginning
        self.sinceMilliseconds = sinceMilliseconds
        self.rowsMax = rowsMax
        self.bytesMax = bytesMax
    }
}

/// A query for rows that can be deleted because of their age. All times are in milliseconds since 1970.
package struct OutdatedQuery: Sendable {
    /// Finds kept answers from before this time.
    package var answersBefore = Int64.min
    /// Finds pushes from before this time.
    package var pushesBefore = Int64.min
    /// Finds devices that sent no request since this time.
    package var devicesSeenBefore = Int64.min
    /// Finds tombstones from before this time.
    package var tombstonesBefore = Int64.min
    /// Finds zones that were deleted before this time, and those with an unknown time of deletion.
    package var zonesDeletedBefore = Int64.min
    /// Maximum number of rows of each kind.
    package var rowsMax: Int

    /// Makes a query that finds nothing.
    package init(rowsMax: Int) {
        self.rowsMax = rowsMax
    }
}

/// Rows that can be deleted because of their age, oldest first.
package struct OutdatedRows: Hashable, Sendable {
    /// Kept answers.
    package var answers: [OperationKey] = []
    /// Pushes.
    package var pushes: [PushKey] = []
    /// Devices.
    package var devices: [DeviceKey] = []
    /// Tombstones.
    package var tombstones: [StoredRecord] = []
    /// Deleted zones.
    package var zones: [ZoneRow] = []

    /// Makes an empty result.
    package init() {}
}

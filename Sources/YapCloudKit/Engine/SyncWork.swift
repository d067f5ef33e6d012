package import CloudKit

/// One thing that is done for a database.
package enum SyncWork: Sendable {
    /// Send the head of the queue.
    case send(BatchLimits)
    /// Write the results of a batch into the device's database, all in one transaction.
    case complete(SyncCompletion)
    /// Fetch the next page of a zone's changes, and apply it with its token in one transaction.
    case fetch(CKRecordZone.ID)
    case createZone(CKRecordZone.ID)
    /// Save the subscription to the database, and keep that it is saved.
    case subscribe
    /// Forget the zone's token; the full fetch that follows finds out what is gone.
    case dropToken(CKRecordZone.ID, TokenRefusal)
    /// Lift refusals, so that these changes are sent again: all of them, or those with one code.
    case liftQuarantine(onlyWith: CKError.Code?)

    /// Whether it waits for the cloud, which may never answer.
    var isRemote: Bool {
        switch self {
        case .send, .fetch, .createZone, .subscribe: true
        case .complete, .dropToken, .liftQuarantine: false
        }
    }
}

/// How much of the queue may go in one operation.
package struct BatchLimits: Hashable, Sendable {
    /// The most items in one operation: CloudKit's own limit.
    package static let itemsMax = 400
    /// The most bytes of values in one operation, as the queue stores them. CloudKit takes requests of 2 MB; in JSON
    /// bytes are a third longer, and each item has a frame.
    package static let bytesMax = 1_400_000

    package var itemsMax = Self.itemsMax
    package var bytesMax = Self.bytesMax
    /// Nothing but deletions: the user's storage is full.
    package var takesDeletionsOnly = false

    package init() {}
}

/// What the answer to a batch means for the queue.
package struct SyncCompletion: Sendable {
    /// The server took these: with the record's new system fields.
    package var saved: [(item: SyncItem, record: CKRecord)] = []
    /// These deletions are done.
    package var deleted: [SyncItem] = []
    /// Saves of records that neither a row here nor the server has any more: nothing of them need be sent.
    package var gone: [SyncItem] = []
    /// Another device was first: merge with what the server has.
    package var conflicts: [(item: SyncItem, server: CKRecord)] = []
    /// Another device deleted the record.
    package var recreated: [SyncItem] = []
    /// The server will not take these; `isStuck` when a conflict never settled.
    package var quarantined: [(item: SyncItem, error: CKError, isStuck: Bool)] = []
    /// Whether the server looked at the items and took not all of them.
    package var isJudged = false
    /// What the operation as a whole ended with, as it is told to the app; nil when all of it succeeded.
    package var error: CKError?
    /// Whether the server has answered for each item.
    package var isAnswered: Bool { isJudged || error == nil }

    package init() {}
}

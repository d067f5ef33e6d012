package import CloudKit

/// One piece of work for a database.
package enum SyncWork: Sendable {
    /// Send the first batch of the queue.
    case send(BatchLimits)
    /// Write the result of a batch to the device's database, in one transaction.
    case complete(SyncCompletion)
    /// Fetch the next page of a zone's changes, and apply it with its token in one transaction.
    case fetch(CKRecordZone.ID)
    case createZone(CKRecordZone.ID)
    /// Save the subscription to the database, and note that it is saved.
    case subscribe
    /// Drop the zone's token. The full fetch that follows finds the deleted records.
    case dropToken(CKRecordZone.ID, FullFetchReason)
    /// Send quarantined changes again: all of them, or those with one error code.
    case liftQuarantine(onlyWith: CKError.Code?)

    /// Whether it waits for the cloud, which may never respond.
    var isRemote: Bool {
        switch self {
        case .send, .fetch, .createZone, .subscribe: true
        case .complete, .dropToken, .liftQuarantine: false
        }
    }
}

/// Limits of one batch.
package struct BatchLimits: Hashable, Sendable {
    /// Maximum number of items in one operation: CloudKit's limit.
    package static let itemsMax = 400
    /// Maximum bytes of values in one operation, as the queue stores them. CloudKit accepts requests of 2 MB. JSON
    /// makes bytes a third longer, and adds a frame to each item.
    package static let bytesMax = 1_400_000

    package var itemsMax = Self.itemsMax
    package var bytesMax = Self.bytesMax
    /// Send only deletions, because the user's storage is full.
    package var takesDeletionsOnly = false

    package init() {}
}

/// What the reply to a batch means for the queue.
package struct SyncCompletion: Sendable {
    /// The saved items, with the new system fields of their records.
    package var saved: [(item: SyncItem, record: CKRecord)] = []
    /// The deleted items.
    package var deleted: [SyncItem] = []
    /// Saves of records that exist neither here nor on the server any more. They are removed from the queue.
    package var gone: [SyncItem] = []
    /// Items that conflict with another device's change, with the server's record to merge with.
    package var conflicts: [(item: SyncItem, server: CKRecord)] = []
    /// Items with a record that another device deleted.
    package var recreated: [SyncItem] = []
    /// Items that the server will never accept. `isStuck` if a conflict came back too often.
    package var quarantined: [(item: SyncItem, error: CKError, isStuck: Bool)] = []
    /// Whether the server examined the items and rejected some.
    package var isJudged = false
    /// The error of the whole operation, as reported to the app, or nil if all of it succeeded.
    package var error: CKError?
    /// Whether the server has responded to each item.
    package var isAnswered: Bool { isJudged || error == nil }

    package init() {}
}

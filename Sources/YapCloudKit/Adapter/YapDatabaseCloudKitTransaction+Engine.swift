internal import CloudKit
internal import Yap

/// Calls of the engine's adapter.
extension YapDatabaseCloudKitTransaction {
    /// Counts the queue of a database, and finds the zones that must be fetched before any of it is sent.
    func count(_ database: DatabaseKey, at moment: CountMoment) throws -> QueueCount {
        var count = try tables.counts(database, at: moment)
        count.zonesToFetchFirst = try zones.zonesToFetchFirst(database)
        return count
    }

    /// Takes the batch to send next.
    func takeBatch(_ database: DatabaseKey, _ limits: BatchLimits) throws -> SyncBatch {
        try writing { _ in try batches.take(database, limits) }
    }

    /// Applies the results of a batch.
    ///
    /// - Parameter merge: What to do with the server's record of a conflict; nil is `mergeRecord`.
    func complete(
        _ completion: SyncCompletion, _ database: DatabaseKey,
        merge: ((YapDatabaseReadWriteTransaction, CKRecord) throws -> Void)?
    ) throws {
        try writing { try results.complete(completion, merge: merge, $0) }
    }

    /// Begins to fetch everything in a zone again.
    func beginFullFetch(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, _ reason: FullFetchReason
    ) throws {
        try writing { _ in try zones.beginFullFetch(zoneID, database, reason) }
    }
}

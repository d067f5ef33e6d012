internal import CloudKit

extension YapDatabaseCloudKitTransaction {
    /// The queue of a database, and the zones that have to be fetched before anything of it is sent.
    func count(_ database: DatabaseKey, at moment: CountMoment) throws -> QueueCount {
        var count = try tables.counts(database, at: moment)
        count.zonesToFetchFirst = try zonesToFetchFirst(database)
        return count
    }

    /// The zones of `CloudSync` that are being fetched in full, or were never fetched from. Other zones may be marked
    /// so too: those of an earlier version of the app, which nothing fetches.
    private func zonesToFetchFirst(_ database: DatabaseKey) throws -> [CKRecordZone.ID] {
        // `CloudSync` has its zones in the user's private database.
        guard database.identifier == nil else { return [] }
        let zoneIDs = cloudKit.runner.zoneHandler?.zoneIDs ?? []
        return try zoneIDs.filter { try !tables.tokens.isFetched($0, database) }
    }

    /// The batch to send next, its change-set marked as in flight; empty while a zone has to be fetched first.
    func takeBatch(_ database: DatabaseKey, _ limits: BatchLimits) throws -> Batch {
        guard try zonesToFetchFirst(database).isEmpty else { return Batch() }
        guard limits.takesDeletionsOnly else {
            return try takeBatch(database, itemsMax: limits.itemsMax, bytesMax: limits.bytesMax)
        }
        // A deletion may take a file that another change waits for.
        guard try tables.missingFiles(database).isEmpty else { return Batch() }
        return try writing { _ in
            var batch = Batch()
            for (sequence, id) in try tables.queue.freeDeletions(database, itemsMax: limits.itemsMax) {
                guard let row = try tables.records.record(id: id) else { continue }
                batch.items.append(
                    SyncItem(
                        recordID: row.recordID, kind: .delete, sequence: sequence, incarnation: id,
                        sentTag: row.changeTag))
                batch.deletions.append(row.recordID)
            }
            return try inFlight(batch)
        }
    }
}

internal import CloudKit

/// Sending a batch of the queue, and writing its result.
extension SyncJob {
    func send(_ limits: BatchLimits) {
        guard let cloud = cloudDatabase() else { return }
        let taken = write { _, ext in
            let batch = try ext.takeBatch(key, limits)
            let sequence = batch.items.first?.sequence
            return (
                batch, try sequence.flatMap { try ext.tables.queue.uuid(of: $0) } ?? "",
                try ext.tables.queue.writeSeeds(of: batch.items, key)
            )
        }
        guard let ((batch, uuid, seeds), count) = taken else { return }
        guard let sequence = batch.items.first?.sequence else { return post(.nothingToSend(key, count)) }
        let summary = YapDatabaseCloudKit.Batch(
            changeSetUUID: uuid, databaseIdentifier: key.identifier,
            savedRecordIDs: batch.saves.map(\.recordID), deletedRecordIDs: batch.deletions)
        let sent = SentBatch(batch: summary, sequence: sequence, mayHaveArrived: batch.mayHaveArrived)
        runner.progress.began(sent, key)
        runner.events.yield(.inFlight(summary))
        let operation = CKModifyRecordsOperation.sending(batch) { reply in
            withFiles(reply, cloud) { post(.sent(key, $0)) }
        }
        operation.nameWrites(seeds: seeds)
        start(operation, in: cloud)
    }

    func complete(_ completion: SyncCompletion) {
        let sent = runner.progress.batch(key)
        let written = write { transaction, ext in
            if let sent { try ext.writing { _ in try ext.tables.queue.noteResult(of: sent, completion) } }
            var completion = completion
            if try key.account != ext.tables.accounts.currentAccount() {
                // Another account is in use now. The result of the first one's cloud is written, but no row is created
                // and no edit is lost by it: conflicts and deletions are found out again when the first account is in
                // use.
                completion.conflicts = []
                completion.recreated = []
            }
            if let zoneHandler = runner.zoneHandler {
                try ext.complete(completion, key) { transaction, record in
                    try zoneHandler.applyRecord(transaction, ext, key, record)
                }
            } else {
                try ext.complete(completion, key, merge: nil)
            }
            return try ext.tables.queue.firstChangeSetUUID(key)
        }
        guard let (next, count) = written else { return }
        runner.progress.ended(key, exchanged: completion.exchangedCount)
        if let sent { runner.events.yield(completion.event(sent.batch, next: next)) }
        post(.applied(key, count))
    }
}

extension QueueTables {
    /// Notes that a batch is no longer in flight, and whether the server has responded to it.
    fileprivate func noteResult(of sent: SentBatch, _ completion: SyncCompletion) throws {
        try setInFlight(sent.sequence, false)
        guard completion.isAnswered else { return }
        if !sent.mayHaveArrived { try setAnswered(sent.sequence) }
        try renameWrites(of: sent.sequence)
    }
}

extension SyncCompletion {
    /// Number of records that the server accepted, or for which it returned a conflict.
    fileprivate var exchangedCount: Int { saved.count + deleted.count + conflicts.count }

    /// Returns the event for the app's observers.
    fileprivate func event(_ batch: YapDatabaseCloudKit.Batch, next: String?) -> YapDatabaseCloudKit.Event {
        guard let error else { return .completed(batch, next: next) }
        let done = YapDatabaseCloudKit.Batch(
            changeSetUUID: batch.changeSetUUID, databaseIdentifier: batch.databaseIdentifier,
            savedRecordIDs: saved.map(\.item.recordID), deletedRecordIDs: deleted.map(\.recordID))
        return .failed(done, error)
    }
}

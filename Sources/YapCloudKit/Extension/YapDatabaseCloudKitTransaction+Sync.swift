public import CloudKit
internal import CloudWire
internal import Yap

/// What the engine's adapter does in the device's database: take the head of the queue, write results back,
/// keep the zones' tokens.
extension YapDatabaseCloudKitTransaction {
    /// A batch as it goes out.
    struct Batch {
        var items: [SyncItem] = []
        var saves: [CKRecord] = []
        var deletions: [CKRecord.ID] = []
        /// Whether an operation had something of its change-set before, and how that ended isn't known.
        var mayHaveArrived = false
    }

    /// The head of a database's queue, with the tags and values of this moment. What can't be sent is left out.
    func batch(_ database: DatabaseKey, itemsMax: Int, bytesMax: Int = .max) throws -> Batch {
        try batch(database, itemsMax: itemsMax, bytesMax: bytesMax, putAside: { _, _ in })
    }

    /// The batch to send next, its change-set marked as in flight. What can't be given back or read is put aside.
    ///
    /// - Parameters:
    ///   - itemsMax: The most records.
    ///   - bytesMax: The most bytes of values; a single record that has more goes alone.
    func takeBatch(_ database: DatabaseKey, itemsMax: Int, bytesMax: Int) throws -> Batch {
        try writing { _ in
            while true {
                var isPutAside = false
                let batch = try batch(database, itemsMax: itemsMax, bytesMax: bytesMax) { change, code in
                    isPutAside = true
                    isQueueTouched = true
                    try tables.queue.refuseChange(change, code: code)
                    try tables.queue.refuseChanges(of: change.record, code: code)
                }
                if !batch.items.isEmpty || !isPutAside { return try inFlight(batch) }
            }
        }
    }

    /// Marks a batch's change-set as in flight.
    func inFlight(_ batch: Batch) throws -> Batch {
        guard let sequence = batch.items.first?.sequence else { return batch }
        var batch = batch
        batch.mayHaveArrived = try tables.queue.wasInFlight(sequence)
        try tables.queue.setInFlight(sequence, true)
        return batch
    }

    private func batch(
        _ database: DatabaseKey, itemsMax: Int, bytesMax: Int,
        putAside: (ChangeRow, _ code: Int64) throws -> Void
    ) throws -> Batch {
        var batch = Batch()
        var bytes = 0
        let missing = try tables.missingFiles(database)
        for waiting in try tables.queue.head(database, itemsMax: itemsMax) {
            guard !waiting.isDamaged, let row = try tables.records.record(id: waiting.record),
                let base = try? row.base()
            else {
                try putAside(waiting, QueueTables.damagedRefusal)
                continue
            }
            let change = try restored(waiting, of: row)
            guard change.restore.isEmpty else {
                try putAside(waiting, QueueTables.unrestorableRefusal)
                continue
            }
            guard try !holds(change, of: row, missing) else {
                try putAside(waiting, MissingFiles.refusal)
                continue
            }
            bytes += change.kind == .save ? FieldsBinary.encode(change.fields).count : 0
            if bytes > bytesMax, !batch.items.isEmpty { break }
            batch.items.append(
                SyncItem(
                    recordID: row.recordID, kind: change.kind, sequence: change.sequence, incarnation: row.id,
                    sentTag: row.changeTag, isOwnerless: row.ownerCount == 0,
                    knownModification: base.modificationDate))
            if change.kind == .delete {
                batch.deletions.append(row.recordID)
            } else {
                setFields(of: change, on: base, of: row, missing)
                batch.saves.append(base)
            }
        }
        return batch
    }

    // MARK: Results

    /// Writes back what the answer to a batch means.
    ///
    /// - Parameter merge: What to do with the server's record of a conflict; nil is `mergeRecord`.
    func complete(
        _ completion: SyncCompletion, _ database: DatabaseKey,
        merge: ((YapDatabaseReadWriteTransaction, CKRecord) throws -> Void)?
    ) throws {
        try writing { transaction in
            for (item, record) in completion.saved { try saved(item, record) }
            for item in completion.deleted { try deleted(item) }
            for item in completion.gone {
                guard let row = try judgedRow(item), row.ownerCount == 0 else { continue }
                try purge(row, rule: .deletedRemotely)
                try tables.records.removeRecordIfUnused(row.id)
            }
            for (item, server) in completion.conflicts {
                guard let row = try judgedRow(item) else { continue }
                if let merge {
                    try merge(transaction, server)
                } else {
                    try mergeRecord(server, row.database)
                }
                cloudKit.writes.note(.known, of: row.recordID, in: row.database)
            }
            for item in completion.recreated {
                guard let row = try judgedRow(item) else { continue }
                try recreate(row, rule: .editBeatDeletion)
            }
            for (item, error, isStuck) in completion.quarantined {
                // What a merge or a deletion took out of the queue meanwhile is no obstacle to what comes after it.
                guard let change = try tables.queue.change(item.sequence, item.incarnation) else { continue }
                if !isStuck, try joinsNext(change) { continue }
                if change.kind == .delete, !RecordNames.isLegal(item.recordID.recordName) {
                    // The server never had a record of that name: nothing is left to delete.
                    try deleted(item)
                    continue
                }
                let code = isStuck ? QueueTables.stuckRefusal : Int64(error.code.rawValue)
                try tables.queue.refuseChanges(
                    of: item.incarnation, code: code, reason: isStuck ? nil : error.reason)
            }
        }
    }

    /// The life of a record that the answer to a save is about; nil when it is gone, or when a merge came in between:
    /// of the version that is known since then the answer says nothing, and the save goes again on its tag.
    private func judgedRow(_ item: SyncItem) throws -> RecordRow? {
        try tables.records.record(id: item.incarnation).flatMap { $0.changeTag == item.sentTag ? $0 : nil }
    }

    /// What was committed after a change that the server refuses may be its cure, and goes instead of waiting with it:
    /// the next save takes the refused values along, a deletion makes them needless.
    private func joinsNext(_ refused: ChangeRow) throws -> Bool {
        guard refused.kind == .save, let row = try tables.records.record(id: refused.record) else {
            return false
        }
        let waiting = try tables.queue.changes(of: row.id)
        guard var next = waiting.first(where: { $0.sequence > refused.sequence }), next.refusal == nil
        else { return false }
        let old = try restored(refused, of: row)
        if next.kind == .save {
            next = try restored(next, of: row)
            guard old.restore.isEmpty, next.restore.isEmpty else { return false }
            logSuperseded(old, row, by: next.fields)
            for key in old.keys { next.originals[key] = old.originals[key] }
            next.fields.merge(old.fields) { new, _ in new }
            try tables.queue.updateChange(next)
        } else {
            logSuperseded(old, row, by: [:])
        }
        try remove(refused)
        return true
    }

    private func saved(_ item: SyncItem, _ record: CKRecord) throws {
        // A merge that came in between knows a later version: then its tag stands, and what it left of the change was
        // held against that version, and goes again.
        if let row = try tables.records.record(id: item.incarnation), row.changeTag != item.sentTag,
            row.changeTag != record.recordChangeTag
        {
            return
        }
        let change = try tables.queue.change(item.sequence, item.incarnation)
        if let change { try finishFilesLeftOut(of: change, record) }
        try finish(item, change)
        guard var row = try tables.records.record(id: item.incarnation), row.changeTag == item.sentTag else {
            return
        }
        row.changeTag = record.recordChangeTag
        row.system = try record.systemBytes()
        try tables.records.updateRecord(row)
        // What was kept aside of it, for a version of the app that knows its type, is older than this.
        try tables.stash.removeFromStash(row.recordID, row.database)
        cloudKit.writes.note(.known, of: row.recordID, in: row.database)
    }

    private func deleted(_ item: SyncItem) throws {
        if let row = try tables.records.record(id: item.incarnation) {
            let last = try row.base().modificationDate
            cloudKit.writes.note(.deleted(lastModification: last), of: row.recordID, in: row.database)
        }
        try finish(item, try tables.queue.change(item.sequence, item.incarnation))
    }

    private func finish(_ item: SyncItem, _ change: ChangeRow?) throws {
        if let change, change.kind == item.kind {
            try remove(change)
        }
        try tables.records.removeRecordIfUnused(item.incarnation)
    }

    /// Sends all that this device knows of a record as a new one: another device deleted it while an edit
    /// waited here, or the server lost it. A record without rows is let go.
    func recreate(_ row: RecordRow, rule: CloudMergeLogEntry.Rule) throws {
        let owners = try identities(of: row)
        guard !owners.isEmpty else {
            try purge(row, rule: .deletedRemotely)
            return try tables.records.removeRecordIfUnused(row.id)
        }
        var full: [String: Field] = [:]
        for owner in owners {
            let fields = try fullFields(owner, row, object: nil, metadata: nil)?.fields ?? [:]
            full.merge(fields) { old, _ in old }
        }
        var waiting = try tables.queue.changes(of: row.id)
        var queued: [String: Field] = [:]
        for index in waiting.indices where waiting[index].kind == .save {
            waiting[index].fields.merge(try knownValues(of: waiting[index])) { stored, _ in stored }
            queued.merge(waiting[index].fields) { _, later in later }
        }
        // What was queued past the handler is in no row; and what was cleared last is in none either.
        full.merge(queued) { inRow, _ in inRow }
        for change in waiting {
            logSuperseded(change, row, by: full)
            try remove(change)
        }
        // A server that was restored may get the file from another device.
        if rule == .editBeatDeletion { try dropMissingFiles(of: row, owners, &full) }
        var row = row
        row.changeTag = nil
        try tables.records.updateRecord(row)
        try queueSave(row, full, originals: [:])
        logDrop(row, nil, rule, dropped: nil, kept: nil)
    }

    /// Drops files that only the deleted record had: they can't be sent, and without them the rest can.
    private func dropMissingFiles(
        of row: RecordRow, _ owners: [YapDatabaseRowIdentity], _ fields: inout [String: Field]
    ) throws {
        let missing = fields.filter { lacksFile($0.value) }
        guard !missing.isEmpty, let zoneHandler = cloudKit.runner.zoneHandler else { return }
        let rest = missing.mapValues { withoutMissingFiles($0) }
        for (name, field) in missing.sorted(by: { $0.key < $1.key }) {
            logDrop(row, name, .editBeatDeletion, kind: .lost, dropped: field, kept: rest[name])
            fields[name] = rest[name]?.value == nil ? nil : rest[name]
        }
        try writing { transaction in
            let before = rowsInMerge
            rowsInMerge.formUnion(owners.map(\.rowID))
            defer { rowsInMerge = before }
            try noteFetchedRows()
            for owner in owners {
                try zoneHandler.storeFields(rest, transaction, owner.collection, owner.key)
            }
        }
    }

    // MARK: Zones

    /// Where the fetch of a zone's changes goes on; nil is from the beginning.
    public func token(
        forZone zoneID: CKRecordZone.ID, databaseIdentifier: String?
    ) throws -> CKServerChangeToken? {
        let database = try databaseKey(databaseIdentifier)
        cloudKit.writes.noteFetch(of: zoneID, in: database)
        return try tables.tokens.token(zoneID, database).flatMap { CKServerChangeToken(storedText: $0) }
    }

    /// Stores where the fetch goes on. Call it in the transaction that applies the page which came with the
    /// token; and with nil before everything is fetched again: such a fetch tells no deletions, and what was sent and
    /// not answered may be among what is gone.
    ///
    /// - Parameter moreComing: Whether the page is not the last one, as the fetch says. Until the last one, rules of
    ///   relationships that count all sources or destinations wait. Default: with a token it is the last one; without
    ///   a token nothing is known, and rules that wait go on waiting. Without a token, false says that nothing more
    ///   comes, because the zone is gone or no longer fetched.
    public func setToken(
        _ token: CKServerChangeToken?, forZone zoneID: CKRecordZone.ID, databaseIdentifier: String?,
        moreComing: Bool? = nil
    ) throws {
        try writing { _ in
            let database = try databaseKey(databaseIdentifier)
            if token != nil { try noteFetchedRows() }
            // Without a token everything comes again: that alone is no last page.
            if let isComing = moreComing ?? (token == nil ? nil : false) {
                try setMoreComing(isComing, zoneID, database)
            }
            // The page may have shown what others made of records of which changes wait, and the app may pass that
            // over: what waits is another write then.
            try tables.queue.renameWritesOfKnownRecords(in: database)
            try tables.tokens.setToken(token?.storedText, zoneID, database)
        }
    }

    /// Begins to fetch everything in a zone again. What is not seen until `finishFullFetch` is no longer
    /// there.
    func beginFullFetch(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, _ refusal: TokenRefusal
    ) throws {
        try writing { _ in
            // What a server that was put back has lost is known when all of it was seen: a token that runs out before
            // must not make it something that others deleted.
            let isReset = try tables.tokens.fullFetch(zoneID, database) == .reset
            let refusal = isReset && refusal == .expired ? .reset : refusal
            try tables.tokens.setToken(nil, zoneID, database)
            try tables.tokens.setFullFetch(refusal, zoneID, database)
            try tables.records.markAllUnseen(zoneID, database)
            try tables.tokens.forgetUnreadFields(zoneID, database)
            switch refusal {
            case .expired:
                // What still is on the server comes again.
                try tables.stash.clearStash(zoneID, database)
            case .upgrade, .newFields:
                // What was kept aside becomes rows before the first page, which it needn't wait for.
                break
            case .reset:
                // What the server lost is sent again by the version that knows it.
                try tables.stash.forgetTagsOfStash(zoneID, database)
                // A server that was put back may have lost the subscription too.
                try tables.accounts.setSubscriptionID(nil, database)
            }
        }
    }

    /// Begins to fetch the records of a zone that have fields which the version before left out. Nothing is sent
    /// meanwhile.
    func beginFetchOfNewFields(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        guard try tables.tokens.wantUnreadFields(zoneID, database) else { return }
        try tables.tokens.setFullFetch(.newFields, zoneID, database)
    }

    /// Ends that fetch if no record of the zone is wanted any more.
    func endFetchOfNewFields(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        guard try tables.tokens.wantedRecords(zoneID, database, limit: 1).isEmpty else { return }
        try tables.tokens.setFullFetch(nil, zoneID, database)
    }

    /// Ends a full fetch, if one is under way.
    ///
    /// - Parameter absent: Called for each record that the server should have and doesn't show.
    func finishFullFetch(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey,
        absent: (RecordRow, TokenRefusal) throws -> Void
    ) throws {
        try writing { _ in
            guard let refusal = try tables.tokens.fullFetch(zoneID, database), refusal != .newFields else {
                return
            }
            for row in try tables.records.unseenRecords(zoneID, database) where row.changeTag != nil {
                try absent(row, refusal)
            }
            try tables.tokens.setFullFetch(nil, zoneID, database)
        }
    }
}

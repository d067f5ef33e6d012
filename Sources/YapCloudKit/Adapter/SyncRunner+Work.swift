internal import CloudKit
internal import System
internal import Yap

/// One piece of work of the engine's: for which database, and its number, by which its answer is known.
struct SyncTask {
    let key: DatabaseKey
    let attempt: Int
}

/// A batch that an operation has.
struct SentBatch {
    let batch: YapDatabaseCloudKit.Batch
    let sequence: Int64
    /// Whether an earlier operation had something of the change-set, and how that ended isn't known.
    let mayHaveArrived: Bool
}

/// Carries out what the engine wants done.
extension SyncRunner {
    func begin(_ work: SyncWork, _ task: SyncTask) {
        switch work {
        case .send(let limits): send(limits, task)
        case .complete(let completion): complete(completion, task)
        case .fetch(let zoneID): fetch(zoneID, task)
        case .createZone(let zoneID): createZone(zoneID, task)
        case .subscribe: subscribe(task)
        case .dropToken(let zoneID, let refusal):
            change(task) { _, ext in try ext.beginFullFetch(zoneID, task.key, refusal) }
        case .liftQuarantine(let code):
            change(task) { _, ext in
                try ext.writing { _ in try ext.tables.liftRefusals(task.key, onlyWith: code) }
            }
        }
    }

    // MARK: The cloud

    func cloudDatabase(_ key: DatabaseKey, attempt: Int? = nil) -> CKDatabase? {
        guard let database = environment.databaseBlock(key.identifier) else {
            post(.unknownDatabase(key), attempt: attempt)
            return nil
        }
        return database
    }

    /// The database, and as whom it is to be asked, when no other user is signed in than the one whose changes are in
    /// the queue: the first who was.
    func ownCloudDatabase(_ task: SyncTask) -> (database: CKDatabase, userRecordName: String?)? {
        guard let database = cloudDatabase(task.key, attempt: task.attempt) else { return nil }
        let now = database.signedInUserRecordName
        let start = state.withLock { $0.starts }
        do {
            let owner = try userRecordName(task.key, orElse: now)
            if let now, let owner, now != owner {
                post(.anotherUser(task.key), attempt: task.attempt)
                return nil
            }
            return (database, owner)
        } catch {
            localFailure(task, error, start: start)
            return nil
        }
    }

    private func userRecordName(_ key: DatabaseKey, orElse now: String?) throws -> String? {
        let (known, start) = state.withLock { ($0.users[key], $0.starts) }
        if let known { return known }
        guard let (connection, name, _, _) = connection() else { return now }
        var owner = try connection.blocking.read {
            try $0.ext(name, as: YapDatabaseCloudKit.self).tables.userRecordName(key)
        }
        environment.scheduler.yield()
        if owner == nil, let now {
            owner = try connection.blocking.readWrite { transaction in
                let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
                // The app may have said meanwhile who it is.
                try ext.writing { _ in try ext.tables.setUserRecordName(now, key) }
                return try ext.tables.userRecordName(key)
            }
        }
        // The name is the one in this database: after another start it may be another one's.
        state.withLock { if $0.starts == start { $0.users[key] = owner } }
        return owner
    }

    /// Starts the operation, as a user, outside of this call.
    func run(
        _ operation: CKDatabaseOperation, on database: CKDatabase, as userRecordName: String?,
        _ task: SyncTask
    ) {
        operation.run(as: userRecordName)
        state.withLock { $0.operations[task.attempt] = operation }
        environment.scheduler.perform { database.add(operation) }
    }

    private func send(_ limits: BatchLimits, _ task: SyncTask) {
        guard let (database, user) = ownCloudDatabase(task) else { return }
        let taken = write(task) { _, ext in
            let batch = try ext.takeBatch(task.key, limits)
            let sequence = batch.items.first?.sequence
            return (
                batch, try sequence.flatMap { try ext.tables.uuid(of: $0) } ?? "",
                try ext.tables.writeSeeds(of: batch.items, task.key)
            )
        }
        guard let ((batch, uuid, seeds), count) = taken else { return }
        guard let sequence = batch.items.first?.sequence else {
            return post(.nothingToSend(task.key, count), attempt: task.attempt)
        }
        let summary = YapDatabaseCloudKit.Batch(
            changeSetUUID: uuid, databaseIdentifier: task.key.identifier,
            savedRecordIDs: batch.saves.map(\.recordID), deletedRecordIDs: batch.deletions)
        let sent = SentBatch(batch: summary, sequence: sequence, mayHaveArrived: batch.mayHaveArrived)
        state.withLock { $0.batches[task.key] = sent }
        events.yield(.inFlight(summary))
        let operation = CKModifyRecordsOperation.sending(batch) { reply in
            self.withFiles(reply, database, user, task) {
                self.post(.sent(task.key, $0), attempt: task.attempt)
            }
        }
        operation.nameWrites(seeds: seeds)
        run(operation, on: database, as: user, task)
    }

    private func complete(_ completion: SyncCompletion, _ task: SyncTask) {
        let sent = state.withLock { $0.batches[task.key] }
        let written = write(task) { transaction, ext in
            if let sent {
                try ext.writing { _ in
                    try ext.tables.setInFlight(sent.sequence, false)
                    if completion.isAnswered, !sent.mayHaveArrived {
                        try ext.tables.setAnswered(sent.sequence)
                    }
                    if completion.isAnswered { try ext.tables.renameWrites(of: sent.sequence) }
                }
            }
            var completion = completion
            if try task.key.account != ext.currentAccount() {
                // Another user is here now. What the first one's cloud has done is written down, but no row comes back
                // by it, and no edit goes: that is found out again when the first one is here.
                completion.conflicts = []
                completion.recreated = []
            }
            if let zoneHandler {
                try ext.complete(completion, task.key) { transaction, record in
                    try zoneHandler.applyRecord(transaction, ext, task.key, record)
                }
            } else {
                try ext.complete(completion, task.key, merge: nil)
            }
            return try ext.tables.firstChangeSetUUID(task.key)
        }
        guard let (next, count) = written else { return }
        state.withLock {
            $0.batches[task.key] = nil
            $0.exchangedCount +=
                completion.saved.count + completion.deleted.count + completion.conflicts.count
        }
        if let sent { events.yield(completion.event(sent.batch, next: next)) }
        post(.applied(task.key, count), attempt: task.attempt)
    }

    private func fetch(_ zoneID: CKRecordZone.ID, _ task: SyncTask) {
        guard let zoneHandler, let (database, user) = ownCloudDatabase(task) else { return }
        let position = read(task) { ext in
            (
                text: try ext.tables.token(zoneID, task.key),
                wanted: try ext.tables.fullFetch(zoneID, task.key) == .newFields
                    ? try ext.tables.wantedRecords(zoneID, task.key, limit: Self.wantedRecordsMax) : []
            )
        }
        guard let (text, wanted) = position else { return }
        guard wanted.isEmpty else { return fetch(wanted, zoneID, zoneHandler, database, user, task) }
        let token = text.flatMap { CKServerChangeToken(storedText: $0) }
        let operation = CKFetchRecordZoneChangesOperation.page(
            of: zoneID, since: token, countsRecords: environment.verifiesZones,
            files: zoneHandler.fileHandling
        ) { result in
            switch result {
            case .failure(let error): self.post(.fetchFailed(task.key, zoneID, error), attempt: task.attempt)
            case .success(let page): self.apply(page, since: text, zoneHandler, task)
            }
        }
        run(operation, on: database, as: user, task)
    }

    /// A page is applied only where it goes on from what is here: not when it was given up and a newer one came, nor
    /// when the token was dropped meanwhile, nor when another user is here now. Then it is fetched again, when it may
    /// be.
    private func apply(
        _ page: SyncPage, since token: String?, _ handler: SyncZoneHandler, _ task: SyncTask
    ) {
        guard state.withLock({ $0.operations[task.attempt] != nil }) else { return }
        guard takeFiles(of: page.changed, task) else { return }
        let written = write(task) { transaction, ext in
            let stored = try ext.tables.token(page.zoneID, task.key)
            guard stored == token, try task.key.account == ext.currentAccount() else {
                return (moreComing: true, verdict: ZoneVerdict.nothing)
            }
            try handler.applyPage(transaction, ext, task.key, page)
            let verdict = try verdict(on: page, ext, task.key)
            return (moreComing: page.moreComing || verdict.isFetchedAnew, verdict: verdict)
        }
        guard let (applied, count) = written else { return }
        state.withLock { $0.exchangedCount += page.changed.count + page.deleted.count }
        tell(applied.verdict, of: page.zoneID, task.key)
        if let version = page.schemaVersion { post(.schemaVersion(task.key, version)) }
        post(
            .pageApplied(task.key, page.zoneID, moreComing: applied.moreComing, count),
            attempt: task.attempt)
    }

    private func createZone(_ zoneID: CKRecordZone.ID, _ task: SyncTask) {
        guard let (database, user) = ownCloudDatabase(task) else { return }
        let operation = CKModifyRecordZonesOperation.creating(zoneID) { error in
            self.post(.zoneCreated(task.key, zoneID, error), attempt: task.attempt)
        }
        run(operation, on: database, as: user, task)
    }
}

extension SyncCompletion {
    /// What those who watch are told.
    fileprivate func event(_ batch: YapDatabaseCloudKit.Batch, next: String?) -> YapDatabaseCloudKit.Event {
        guard let error else { return .completed(batch, next: next) }
        let done = YapDatabaseCloudKit.Batch(
            changeSetUUID: batch.changeSetUUID, databaseIdentifier: batch.databaseIdentifier,
            savedRecordIDs: saved.map(\.item.recordID), deletedRecordIDs: deleted.map(\.recordID))
        return .failed(done, error)
    }
}

internal import CloudKit
import Foundation

extension SyncEngine {
    /// Sorts the results of a batch by how they are handled. Each reply is written to the database, even an empty one:
    /// after it the batch is no longer in flight.
    mutating func sent(
        _ key: DatabaseKey, _ reply: SendReply, now: Int64, _ actions: inout [SyncAction]
    ) {
        guard databases[key] != nil else { return }
        databases[key]?.running = nil
        switch failures {
        case .app: sentForApp(key, reply, now: now, &actions)
        case .automatic: sentAutomatically(key, reply, now: now, &actions)
        }
    }

    /// Removes successful items from the queue, and leaves everything else to the app: the error is reported once, and
    /// nothing is sent until the app resumes.
    private mutating func sentForApp(
        _ key: DatabaseKey, _ reply: SendReply, now: Int64, _ actions: inout [SyncAction]
    ) {
        let completion = successes(reply)
        halve(key, reply, isTooLarge: reply.failed.contains { $0.error.code == .limitExceeded })
        if completion.error != nil { suspendAfterFailure(&actions) }
        begin(.complete(completion), key, now: now, &actions)
        if let error = completion.error { actions.append(.report(key, error)) }
    }

    private mutating func sentAutomatically(
        _ key: DatabaseKey, _ reply: SendReply, now: Int64, _ actions: inout [SyncAction]
    ) {
        guard var state = databases[key] else { return }
        var completion = successes(reply)
        var verdict = Verdict()
        if reply.items.isEmpty { verdict.retryable = reply.error }
        let done = Set((completion.deleted + completion.gone).map(\.recordID))
            .union(completion.saved.map(\.item.recordID))
        for recordID in done {
            state.uploads.conflicts[recordID] = nil
            state.uploads.lostFiles[recordID] = nil
        }
        for (item, error) in reply.failed where !done.contains(item.recordID) {
            judge(item, error, isAlone: reply.items.count == 1, &state, &completion, &verdict)
        }
        if !done.isEmpty { state.succeeded() }
        if !completion.deleted.isEmpty, verdict.fullQuota == nil { state.uploads.isQuotaFull = false }
        if !completion.saved.isEmpty { state.quarantine.savedSinceDeferral = true }
        verdict.missingZones.forEach { state.zones.needCreate($0) }
        state.uploads.noteAnswer(isJudged: completion.isJudged, completion.error)
        databases[key] = state
        halve(key, reply, isTooLarge: verdict.isTooLarge)
        begin(.complete(completion), key, now: now, &actions)
        for (_, error, _) in completion.quarantined { actions.append(.report(key, error)) }
        if let error = verdict.fullQuota {
            if !state.uploads.isQuotaFull { actions.append(.report(key, error)) }
            databases[key]?.uploads.isQuotaFull = true
        }
        let isProgress =
            verdict.asksTheZone || !done.isEmpty || !completion.conflicts.isEmpty
            || !completion.recreated.isEmpty
            || !completion.quarantined.isEmpty || verdict.isTooLarge || !verdict.missingZones.isEmpty
            || verdict.fullQuota != nil
        if let (error, zone) = verdict.stopping {
            stop(key, error, zone: zone, &actions)
        } else if let error = verdict.retryable {
            wait(key, because: pause(for: error.code), error, now: now, &actions)
        } else if !isProgress, !reply.items.isEmpty {
            // All items blame another one, and none is the cause. Without a pause the same error would come back at
            // once.
            let error = CKError(.batchRequestFailed)
            wait(key, because: .server(.batchRequestFailed), error, now: now, &actions)
        }
    }

    /// Returns the items that are done in either mode, and the error of the whole batch.
    private func successes(_ reply: SendReply) -> SyncCompletion {
        var completion = SyncCompletion()
        var errors: [AnyHashable: any Error] = [:]
        for (item, outcome) in reply.items {
            switch outcome {
            case .saved(let record): completion.saved.append((item, record))
            case .deleted: completion.deleted.append(item)
            case .failed(let error) where item.kind == .delete && error.code == .unknownItem:
                completion.deleted.append(item)
            case .failed(let error)
            where item.isOwnerless && item.sentTag != nil && error.code == .unknownItem:
                completion.gone.append(item)
            case .failed(let error): errors[item.recordID] = error
            }
        }
        // Nothing was sent if all errors come from this device, for example because a file can't be read.
        completion.isJudged =
            !reply.failed.isEmpty && reply.isServerResponse
            && reply.error?.code ?? .partialFailure == .partialFailure
            && !reply.failed.contains { $0.error.code.leavesOutcomeUnknown }
        if !errors.isEmpty || reply.items.isEmpty { completion.error = reply.error }
        if completion.error?.code ?? .partialFailure == .partialFailure, !errors.isEmpty {
            completion.error = CKError(
                .partialFailure, userInfo: [CKPartialErrorsByItemIDKey: errors])
        }
        return completion
    }

    /// Halves the size of the next batch after one that was too large, and doubles it after one that wasn't.
    private mutating func halve(_ key: DatabaseKey, _ reply: SendReply, isTooLarge: Bool) {
        guard let itemsMax = databases[key]?.uploads.itemsMax else { return }
        if isTooLarge {
            databases[key]?.uploads.itemsMax = max(1, min(itemsMax, reply.items.count) / 2)
        } else if reply.items.contains(where: { if case .failed = $0.outcome { false } else { true } }) {
            databases[key]?.uploads.itemsMax = min(itemsMax * 2, BatchLimits.itemsMax)
        }
    }

    /// What the results of a batch mean for the whole database.
    private struct Verdict {
        var isTooLarge = false
        /// True if a zone is fetched before a conflict in it is merged.
        var asksTheZone = false
        var missingZones: [CKRecordZone.ID] = []
        var retryable: CKError?
        var stopping: (error: CKError, zone: CKRecordZone.ID)?
        var fullQuota: CKError?
    }

    private func judge(
        _ item: SyncItem, _ error: CKError, isAlone: Bool, _ state: inout DatabaseSyncState,
        _ completion: inout SyncCompletion, _ verdict: inout Verdict
    ) {
        switch ErrorDisposition.of(error.code, in: item.kind == .save ? .save : .delete) {
        case .withNextBatch, .done:
            break
        case .afterOthers:
            completion.quarantined.append((item, error, false))
        case .retry, .eachItem, .dropToken:
            let isLonger = (error.retryAfterSeconds ?? 0) > (verdict.retryable?.retryAfterSeconds ?? 0)
            if verdict.retryable == nil || isLonger { verdict.retryable = error }
        case .split:
            if isAlone {
                completion.quarantined.append((item, error, false))
            } else {
                verdict.isTooLarge = true
            }
        case .merge:
            conflict(item, error, &state, &completion, &verdict)
        case .recreate where item.sentTag == nil:
            // It was sent as a new record. To create it again would never end.
            completion.quarantined.append((item, error, true))
        case .recreate:
            completion.recreated.append(item)
        case .createZone:
            let zone = item.recordID.zoneID
            if !verdict.missingZones.contains(zone) { verdict.missingZones.append(zone) }
            if state.zones.created.contains(zone) { verdict.retryable = verdict.retryable ?? error }
        case .stopSaves:
            verdict.fullQuota = verdict.fullQuota ?? error
        case .stop:
            verdict.stopping = verdict.stopping ?? (error, item.recordID.zoneID)
        case .uploadAgain:
            lostUpload(item, error, &state, &completion, &verdict)
        case .quarantine:
            completion.quarantined.append((item, error, false))
        }
    }

    /// Counts how often the server lost a file, for example because it was restored from a backup.
    private func lostUpload(
        _ item: SyncItem, _ error: CKError, _ state: inout DatabaseSyncState,
        _ completion: inout SyncCompletion,
        _ verdict: inout Verdict
    ) {
        let rounds = state.uploads.lostFiles[item.recordID, default: 0] + 1
        state.uploads.lostFiles[item.recordID] = rounds > Self.identicalConflictsMax ? nil : rounds
        if rounds > Self.identicalConflictsMax {
            completion.quarantined.append((item, error, false))
        } else {
            verdict.retryable = verdict.retryable ?? error
        }
    }

    /// Counts how often the same server version came back. Beyond the limit the change is quarantined as stuck.
    private func conflict(
        _ item: SyncItem, _ error: CKError, _ state: inout DatabaseSyncState,
        _ completion: inout SyncCompletion,
        _ verdict: inout Verdict
    ) {
        let tag = error.serverRecord?.recordChangeTag
        var conflict =
            state.uploads.conflicts[item.recordID]
            ?? DatabaseSyncState.Uploads.Conflict(serverTag: tag, rounds: 0)
        conflict.rounds = conflict.serverTag == tag ? conflict.rounds + 1 : 1
        conflict.serverTag = tag
        state.uploads.conflicts[item.recordID] = conflict
        if conflict.rounds > Self.identicalConflictsMax {
            state.uploads.conflicts[item.recordID] = nil
            completion.quarantined.append((item, error, true))
        } else if let server = error.serverRecord, conflict.rounds == 1, item.isNewer(than: server),
            state.zones.followed.contains(item.recordID.zoneID)
        {
            // The server may have been restored from a backup, with an older record. The fetch of the zone reports
            // that, and this device's values are sent again. A merge would take the old values for another device's
            // changes.
            state.zones.needFetch(item.recordID.zoneID)
            verdict.asksTheZone = true
        } else if let server = error.serverRecord {
            completion.conflicts.append((item, server))
        } else {
            // The server didn't send its record. The next fetch brings it.
            state.zones.needFetchOfFollowed()
            verdict.retryable = verdict.retryable ?? error
        }
    }

    /// Handles the failure of a fetch, or of creating a zone.
    mutating func failed(
        _ key: DatabaseKey, _ zone: CKRecordZone.ID, _ error: CKError, in attempt: ErrorDisposition.Attempt,
        now: Int64, _ actions: inout [SyncAction]
    ) {
        guard var state = databases[key] else { return }
        state.running = nil
        let own = itemError(of: error, zone)
        switch ErrorDisposition.of(own.code, in: attempt) {
        case .done:
            break
        case .createZone:
            state.zones.needCreate(zone)
            state.zones.needFetch(zone)
            if state.zones.created.contains(zone) {
                databases[key] = state
                return wait(key, because: pause(for: own.code), own, now: now, &actions)
            }
        case .dropToken:
            state.zones.needFetch(zone)
            let reason = FullFetchReason(own, objectsOfDeletedZones: objectsOfDeletedZones)
            if reason == .reset { state.notifications.needsSubscription = state.notifications.isWanted }
            let isFirst = state.zones.withoutToken.insert(zone).inserted
            databases[key] = state
            if !isFirst { wait(key, because: pause(for: own.code), own, now: now, &actions) }
            return begin(.dropToken(zone, reason), key, now: now, &actions)
        case .stop, .stopSaves, .quarantine:
            if attempt == .createZone { state.zones.needCreate(zone) }
            // A zone that isn't followed is never fetched, so the work would stay pending.
            if attempt == .fetch || state.zones.followed.contains(zone) { state.zones.needFetch(zone) }
            databases[key] = state
            return stop(key, own, zone: zone, &actions)
        case .retry, .eachItem, .withNextBatch, .afterOthers, .split, .uploadAgain, .merge, .recreate:
            if attempt == .createZone { state.zones.needCreate(zone) } else { state.zones.needFetch(zone) }
            databases[key] = state
            return wait(key, because: pause(for: own.code), own, now: now, &actions)
        }
        databases[key] = state
    }

    /// Returns the zone's own error, if the operation reports an error for each item.
    private func itemError(of error: CKError, _ zone: CKRecordZone.ID) -> CKError {
        guard error.code == .partialFailure else { return error }
        return error.partialErrorsByItemID?[AnyHashable(zone)] as? CKError ?? error
    }

    mutating func wait(
        _ key: DatabaseKey, because pause: CloudSyncPause, _ error: CKError, now: Int64,
        _ actions: inout [SyncAction]
    ) {
        guard var state = databases[key] else { return }
        actions.append(.report(key, error))
        if pause == .network, state.retry.networkCameBackMeanwhile {
            databases[key]?.retry.networkCameBackMeanwhile = false
            return
        }
        let milliseconds = state.retry.backOff.nextPauseMilliseconds(
            retryAfterSeconds: error.retryAfterSeconds, random: random)
        state.retry.pause = (now + milliseconds, pause)
        state.retry.refusedConnection = CloudSyncProblem(refusedConnection: error)
        databases[key] = state
    }

    mutating func stop(
        _ key: DatabaseKey, _ error: CKError, zone: CKRecordZone.ID?, _ actions: inout [SyncAction]
    ) {
        guard var state = databases[key] else { return }
        switch error.code {
        case .notAuthenticated, .accountTemporarilyUnavailable, .managedAccountRestricted:
            state.stop = .account(error.code)
        case .quotaExceeded:
            state.stop = .quotaExceeded
        case .userDeletedZone:
            state.zones.deletedByUser = zone ?? state.zones.followed.first
            state.stop = .zoneDeletedByUser(zoneName: state.zones.deletedByUser?.zoneName ?? "")
        default:
            state.stop = .configuration(error.code, message: error.localizedDescription)
        }
        databases[key] = state
        actions.append(.report(key, error))
    }

    func pause(for code: CKError.Code) -> CloudSyncPause {
        switch code {
        case .networkUnavailable, .networkFailure, .serverResponseLost: .network
        default: .server(code)
        }
    }
}

extension SyncItem {
    /// Returns true if the known version is newer than the server's, by the server's clock.
    fileprivate func isNewer(than server: CKRecord) -> Bool {
        guard sentTag != nil, sentTag != server.recordChangeTag, let known = knownModification else {
            return false
        }
        return server.modificationDate.map { $0 <= known } ?? false
    }
}

extension CKError.Code {
    /// Whether the server may have completed a request that failed with this error. A batch for several zones is a
    /// request for each, so one may fail like this while others succeed.
    var leavesOutcomeUnknown: Bool {
        self == .networkFailure || self == .serverResponseLost
    }
}

extension SendReply {
    /// The items that failed.
    var failed: [(item: SyncItem, error: CKError)] {
        items.compactMap { item, outcome in
            if case .failed(let error) = outcome { (item, error) } else { nil }
        }
    }
}

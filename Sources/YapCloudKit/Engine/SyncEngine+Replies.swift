internal import CloudKit
import Foundation

extension SyncEngine {
    /// Sorts the results of a batch by what has to be done about them. Each answer is written down, also an empty
    /// one: with it the batch is no longer in flight.
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

    /// What succeeded leaves the queue. Everything else is the app's: it is told once, and nothing more is sent before
    /// it resumes.
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
            // All blame another item and none is it: never answer at once what may come back at once.
            let error = CKError(.batchRequestFailed)
            wait(key, because: .server(.batchRequestFailed), error, now: now, &actions)
        }
    }

    /// What is done in either mode, and the error of the whole.
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
        // Nothing went out if all errors were made on this device, for example because a file can't be read.
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

    /// Less goes next time after a batch that was too large, and more after one that was not.
    private mutating func halve(_ key: DatabaseKey, _ reply: SendReply, isTooLarge: Bool) {
        guard let itemsMax = databases[key]?.uploads.itemsMax else { return }
        if isTooLarge {
            databases[key]?.uploads.itemsMax = max(1, min(itemsMax, reply.items.count) / 2)
        } else if reply.items.contains(where: { if case .failed = $0.outcome { false } else { true } }) {
            databases[key]?.uploads.itemsMax = min(itemsMax * 2, BatchLimits.itemsMax)
        }
    }

    /// What the items of a batch ask of the whole database.
    private struct Verdict {
        var isTooLarge = false
        /// A zone is fetched before a conflict in it is merged.
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
            // It went out as a new record. To make it again would go round in circles.
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

    /// Counts how often the server lost an upload, for example because it was restored from a backup.
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

    /// Counts how often the same server version came back; beyond the limit the change is put aside as stuck.
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
            // The server may have been put back, and its record be one from before. The fetch of the zone says so, and
            // this device's values go up again; a merge would take the old ones for another device's.
            state.zones.needFetch(item.recordID.zoneID)
            verdict.asksTheZone = true
        } else if let server = error.serverRecord {
            completion.conflicts.append((item, server))
        } else {
            // A server that doesn't say what it has: the next fetch does.
            state.zones.needFetchOfFollowed()
            verdict.retryable = verdict.retryable ?? error
        }
    }

    /// A fetch, or the making of a zone, failed.
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
            let refusal = TokenRefusal(own, objectsOfDeletedZones: objectsOfDeletedZones)
            if refusal == .reset { state.notifications.needsSubscription = state.notifications.isWanted }
            let isFirst = state.zones.withoutToken.insert(zone).inserted
            databases[key] = state
            if !isFirst { wait(key, because: pause(for: own.code), own, now: now, &actions) }
            return begin(.dropToken(zone, refusal), key, now: now, &actions)
        case .stop, .stopSaves, .quarantine:
            if attempt == .createZone { state.zones.needCreate(zone) }
            // Without a follower nobody fetches: a fetch would never end.
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

    /// The zone's own error, when the operation reports each item's.
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
    /// Whether the version that is known here was made later than the server's, by the server's own clock.
    fileprivate func isNewer(than server: CKRecord) -> Bool {
        guard sentTag != nil, sentTag != server.recordChangeTag, let known = knownModification else {
            return false
        }
        return server.modificationDate.map { $0 <= known } ?? false
    }
}

extension CKError.Code {
    /// Whether the server may have done what failed with this error. A batch for several zones is a request for each,
    /// so one of them may fail so while the others succeed.
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

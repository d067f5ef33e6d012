internal import CloudKit
import Foundation

extension SyncEngine {
    /// Sorts the results of a batch by what has to be done about them.
    mutating func sent(
        _ key: DatabaseKey, _ reply: SendReply, now: Int64, _ actions: inout [SyncAction]
    ) {
        guard var lane = lanes[key] else { return }
        lane.work = nil
        var completion = SyncCompletion()
        var verdict = Verdict()
        for (item, outcome) in reply.items {
            switch outcome {
            case .saved(let record):
                completion.saved.append((item, record))
                lane.conflicts[item.recordID] = nil
            case .deleted:
                completion.deleted.append(item)
                lane.conflicts[item.recordID] = nil
            case .failed(let error):
                judge(item, error, isAlone: reply.items.count == 1, &lane, &completion, &verdict)
            }
        }
        if !completion.saved.isEmpty || !completion.deleted.isEmpty {
            lane.succeeded()
            lane.itemsMax = min(lane.itemsMax * 2, Self.itemsMax)
        }
        if verdict.isTooLarge { lane.itemsMax = max(1, min(lane.itemsMax, reply.items.count) / 2) }
        verdict.missingZones.forEach { zone in
            lane.needCreate(zone)
        }
        if !completion.isEmpty {
            lane.work = .completing
            actions.append(.complete(key, completion))
        }
        for (_, error, _) in completion.refused { actions.append(.tell(key, error)) }
        lanes[key] = lane
        if let error = verdict.stopping {
            stop(key, error, zone: nil, &actions)
        } else if let error = verdict.retryable {
            wait(key, because: pause(for: error.code), error, now: now, &actions)
        } else if completion.isEmpty, !verdict.isTooLarge, verdict.missingZones.isEmpty {
            // All blame another item and none is it: never answer at once what may come back at once.
            wait(key, because: .server(.batchRequestFailed), CKError(.batchRequestFailed), now: now, &actions)
        }
    }

    /// What the items of a batch ask of the whole database.
    private struct Verdict {
        var isTooLarge = false
        var missingZones: [CKRecordZone.ID] = []
        var retryable: CKError?
        var stopping: CKError?
    }

    private func judge(
        _ item: SyncItem, _ error: CKError, isAlone: Bool, _ lane: inout SyncLane,
        _ completion: inout SyncCompletion, _ verdict: inout Verdict
    ) {
        switch ErrorDisposition.of(error.code, in: item.kind == .save ? .save : .delete) {
        case .withNextBatch:
            break
        case .retry, .eachItem, .dropToken:
            let isLonger = (error.retryAfterSeconds ?? 0) > (verdict.retryable?.retryAfterSeconds ?? 0)
            if verdict.retryable == nil || isLonger { verdict.retryable = error }
        case .split:
            if isAlone { completion.refused.append((item, error, false)) } else { verdict.isTooLarge = true }
        case .merge:
            conflict(item, error, &lane, &completion, &verdict)
        case .done:
            completion.deleted.append(item)
        case .recreate where item.sentTag == nil:
            // It went out as a new record. To make it again would go round in circles.
            completion.refused.append((item, error, true))
        case .recreate:
            completion.recreated.append(item)
        case .createZone:
            let zone = item.recordID.zoneID
            if !verdict.missingZones.contains(zone) { verdict.missingZones.append(zone) }
            if lane.createdZones.contains(zone) { verdict.retryable = verdict.retryable ?? error }
        case .stop:
            verdict.stopping = verdict.stopping ?? error
        case .refuse:
            completion.refused.append((item, error, false))
        }
    }

    /// Counts how often the same server version came back; beyond the limit the change is put aside as stuck.
    private func conflict(
        _ item: SyncItem, _ error: CKError, _ lane: inout SyncLane, _ completion: inout SyncCompletion,
        _ verdict: inout Verdict
    ) {
        let tag = error.serverRecord?.recordChangeTag
        var conflict = lane.conflicts[item.recordID] ?? SyncLane.Conflict(serverTag: tag, rounds: 0)
        conflict.rounds = conflict.serverTag == tag ? conflict.rounds + 1 : 1
        conflict.serverTag = tag
        lane.conflicts[item.recordID] = conflict
        if conflict.rounds > Self.identicalConflictsMax {
            lane.conflicts[item.recordID] = nil
            completion.refused.append((item, error, true))
        } else if let server = error.serverRecord {
            completion.conflicts.append((item, server))
        } else {
            // A server that doesn't say what it has: the next fetch does.
            lane.followed.forEach { lane.needFetch($0) }
            verdict.retryable = verdict.retryable ?? error
        }
    }

    /// A fetch, or the making of a zone, failed.
    mutating func failed(
        _ key: DatabaseKey, _ zone: CKRecordZone.ID, _ error: CKError, in attempt: ErrorDisposition.Attempt,
        now: Int64, _ actions: inout [SyncAction]
    ) {
        guard var lane = lanes[key] else { return }
        lane.work = nil
        let own = itemError(of: error, zone)
        switch ErrorDisposition.of(own.code, in: attempt) {
        case .done:
            break
        case .createZone:
            lane.needCreate(zone)
            lane.needFetch(zone)
            if lane.createdZones.contains(zone) {
                lanes[key] = lane
                return wait(key, because: pause(for: own.code), own, now: now, &actions)
            }
        case .dropToken:
            lane.needFetch(zone)
            lane.work = .completing
            let refusal = own.changeTokenRefusal ?? .expired
            if refusal == .reset { lane.needsSubscription = lane.listens }
            actions.append(.dropToken(key, zone, refusal))
        case .stop, .refuse:
            if attempt == .createZone { lane.needCreate(zone) }
            // Without a follower nobody fetches: a fetch would never end.
            if attempt == .fetch || lane.followed.contains(zone) { lane.needFetch(zone) }
            lanes[key] = lane
            return stop(key, own, zone: zone, &actions)
        case .retry, .eachItem, .withNextBatch, .split, .merge, .recreate:
            if attempt == .createZone { lane.needCreate(zone) } else { lane.needFetch(zone) }
            lanes[key] = lane
            return wait(key, because: pause(for: own.code), own, now: now, &actions)
        }
        lanes[key] = lane
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
        guard var lane = lanes[key] else { return }
        let milliseconds = lane.backOff.nextPauseMilliseconds(
            retryAfterSeconds: error.retryAfterSeconds, random: random)
        lane.pause = (now + milliseconds, pause)
        lanes[key] = lane
        actions.append(.tell(key, error))
    }

    mutating func stop(
        _ key: DatabaseKey, _ error: CKError, zone: CKRecordZone.ID?, _ actions: inout [SyncAction]
    ) {
        guard var lane = lanes[key] else { return }
        lane.stop =
            switch error.code {
            case .notAuthenticated, .accountTemporarilyUnavailable, .managedAccountRestricted:
                .account(error.code)
            case .quotaExceeded: .quotaExceeded
            case .userDeletedZone:
                .zoneDeletedByUser(zoneName: (zone ?? lane.followed.first)?.zoneName ?? "")
            default: .configuration(error.code, message: error.localizedDescription)
            }
        lanes[key] = lane
        actions.append(.tell(key, error))
    }

    func pause(for code: CKError.Code) -> CloudSyncPause {
        switch code {
        case .networkUnavailable, .networkFailure, .serverResponseLost: .network
        default: .server(code)
        }
    }
}

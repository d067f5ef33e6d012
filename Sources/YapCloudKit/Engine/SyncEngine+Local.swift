internal import CloudKit
import Foundation

/// What the device's own side says: its database, its user, the app.
extension SyncEngine {
    mutating func takeLocal(_ event: SyncEvent, now: Int64, _ actions: inout [SyncAction]) {
        switch event {
        case .counted(let key, let count):
            lanes[key, default: SyncLane()].take(count)
            // Also with a count that comes too late: something was queued, and it may be a deletion.
            lanes[key]?.hasNoDeletions = false
            countPause = nil
        case .unanswered(let key):
            lanes[key, default: SyncLane()].unansweredSends = 1
        case .countFailed(let message):
            var backOff = countPause?.backOff ?? BackOff()
            let pause = backOff.nextPauseMilliseconds(retryAfterSeconds: nil, random: random)
            countPause = (now + pause, backOff)
            actions.append(.tell(DatabaseKey(nil), .saying(.internalError, message)))
        case .applied(let key, let count):
            lanes[key]?.running = nil
            lanes[key]?.take(count)
        case .nothingToSend(let key, let count):
            nothingToSend(key, count, now: now, &actions)
        case .localFailure(let key, let message):
            lanes[key]?.workFailedHere()
            wait(key, because: .localDatabase, .saying(.internalError, message), now: now, &actions)
        case .unknownDatabase(let key):
            lanes[key]?.workFailedHere()
            lanes[key]?.stop = .unknownDatabase(identifier: key.identifier)
            let name = key.identifier.map { "the identifier \"\($0)\"" } ?? "no identifier"
            actions.append(.tell(key, .saying(.badDatabase, "no database is given for \(name)")))
        case .anotherUser(let key):
            lanes[key]?.workFailedHere()
            lanes[key]?.stop = .anotherUser
            let message = "another user is signed in than the one whose changes wait here"
            actions.append(.tell(key, .saying(.notAuthenticated, message)))
        default:
            break
        }
    }

    /// The queue had nothing that may go: what it had was put aside, or isn't a deletion while storage is full.
    private mutating func nothingToSend(
        _ key: DatabaseKey, _ count: QueueCount, now: Int64, _ actions: inout [SyncAction]
    ) {
        guard var lane = lanes[key] else { return }
        let isLess = count.pending < lane.count.pending
        lane.running = nil
        // Something was queued since it was counted: that may go.
        let isCurrent = lane.take(count)
        // A full fetch began since it was counted.
        guard count.zonesToFetchFirst.isEmpty else {
            lanes[key] = lane
            return
        }
        if lane.isQuotaFull, isCurrent { lane.hasNoDeletions = !isLess }
        let isStuck = isCurrent && !lane.isQuotaFull && !isLess && count.pending > 0
        lanes[key] = lane
        guard isStuck else { return }
        let message = "\(count.pending) changes wait, and none of them can be read"
        wait(key, because: .localDatabase, .saying(.internalError, message), now: now, &actions)
    }

    mutating func pageApplied(
        _ key: DatabaseKey, _ zone: CKRecordZone.ID, moreComing: Bool, _ count: QueueCount
    ) {
        guard var lane = lanes[key] else { return }
        lane.running = nil
        lane.take(count)
        lane.succeeded()
        lane.zonesWithoutToken.remove(zone)
        // Where the page shows a record of the batch, the batch has another name: nothing is gained if it goes first.
        lane.unansweredSends = 0
        if moreComing { lane.needFetch(zone) }
        lanes[key] = lane
    }

    mutating func zoneCreated(
        _ key: DatabaseKey, _ zone: CKRecordZone.ID, _ error: CKError?, now: Int64,
        _ actions: inout [SyncAction]
    ) {
        if let error { return failed(key, zone, error, in: .createZone, now: now, &actions) }
        guard var lane = lanes[key] else { return }
        lane.running = nil
        lane.createdZones.insert(zone)
        // A new zone makes an old token void: the fetch finds that out before anything is sent on old tags.
        if lane.followed.contains(zone) { lane.needFetch(zone) }
        lanes[key] = lane
    }

    mutating func retry() {
        for key in lanes.keys.sorted() {
            guard var lane = lanes[key] else { continue }
            if let zone = lane.deletedZone { lane.needCreate(zone) }
            lane.deletedZone = nil
            lane.stop = nil
            lane.pause = nil
            lane.isQuotaFull = false
            lane.backOff.reset()
            lane.conflicts = [:]
            lane.followed.forEach { lane.needFetch($0) }
            lane.liftsRefusals = !lane.count.refused.isEmpty
            // It may be another user who is signed in now.
            lane.needsSubscription = lane.listens
            lanes[key] = lane
        }
    }
}

extension SyncLane {
    /// What waits for the network need not wait any more.
    mutating func endNetworkPause() {
        if pause?.because == .network { pause = nil }
        if running?.work.isRemote == true { networkCameBackMeanwhile = true }
    }

    /// The same; and something may have been missed.
    mutating func networkMayBeBack() {
        endNetworkPause()
        followed.forEach { needFetch($0) }
    }

    /// The schema of the server may have changed, which is found out by sending.
    mutating func retryInvalid() {
        retriesInvalid = count.hasInvalidArguments
    }

    /// What another schema refused, this one may take.
    mutating func note(schemaVersion: String) {
        guard schemaVersion != self.schemaVersion else { return }
        self.schemaVersion = schemaVersion
        retryInvalid()
    }

    /// Who is signed in now is found out with the next request.
    mutating func accountChanged() {
        switch stop {
        case .account, .anotherUser:
            stop = nil
            followed.forEach { needFetch($0) }
            needsSubscription = listens
        default: break
        }
    }

    mutating func mayKnowDatabase() {
        if case .unknownDatabase = stop { stop = nil }
    }
}

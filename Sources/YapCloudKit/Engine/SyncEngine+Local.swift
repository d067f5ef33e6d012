internal import CloudKit
import Foundation

/// Events of the device: its database, its user, the app.
extension SyncEngine {
    mutating func takeLocal(_ event: SyncEvent, now: Int64, _ actions: inout [SyncAction]) {
        switch event {
        case .counted(let key, let count):
            databases[key, default: DatabaseSyncState()].take(count)
            // Also for a count that is too late: a change was queued, and it may be a deletion.
            databases[key]?.uploads.hasNoDeletions = false
            countPause = nil
        case .unanswered(let key):
            databases[key, default: DatabaseSyncState()].uploads.unansweredCount = 1
        case .countFailed(let message):
            var backOff = countPause?.backOff ?? BackOff()
            let pause = backOff.nextPauseMilliseconds(retryAfterSeconds: nil, random: random)
            countPause = (now + pause, backOff)
            actions.append(.report(DatabaseKey(nil), .saying(.internalError, message)))
        case .applied(let key, let count):
            databases[key]?.running = nil
            databases[key]?.take(count)
        case .nothingToSend(let key, let count):
            nothingToSend(key, count, now: now, &actions)
        case .localFailure(let key, let message):
            databases[key]?.workFailedHere()
            wait(key, because: .localDatabase, .saying(.internalError, message), now: now, &actions)
        case .unknownDatabase(let key):
            databases[key]?.workFailedHere()
            databases[key]?.stop = .unknownDatabase(identifier: key.identifier)
            let name = key.identifier.map { "the identifier \"\($0)\"" } ?? "no identifier"
            actions.append(.report(key, .saying(.badDatabase, "no database is given for \(name)")))
        case .anotherUser(let key):
            databases[key]?.workFailedHere()
            databases[key]?.stop = .anotherUser
            let message = "the pending changes belong to another user than the signed-in one"
            actions.append(.report(key, .saying(.notAuthenticated, message)))
        default:
            break
        }
    }

    /// The queue had nothing that can be sent: its changes were quarantined, or storage is full and none is a deletion.
    private mutating func nothingToSend(
        _ key: DatabaseKey, _ count: QueueCount, now: Int64, _ actions: inout [SyncAction]
    ) {
        guard var state = databases[key] else { return }
        let isLess = count.pending < state.count.pending
        state.running = nil
        // If a change was queued since the count, it can be sent.
        let isCurrent = state.take(count)
        // A full fetch began since it was counted.
        guard count.zonesToFetchFirst.isEmpty else {
            databases[key] = state
            return
        }
        if state.uploads.isQuotaFull, isCurrent { state.uploads.hasNoDeletions = !isLess }
        let isBlocked = isCurrent && !state.uploads.isQuotaFull && !isLess && count.pending > 0
        databases[key] = state
        guard isBlocked else { return }
        let message = "\(count.pending) changes wait, and none of them can be read"
        wait(key, because: .localDatabase, .saying(.internalError, message), now: now, &actions)
    }

    mutating func pageApplied(
        _ key: DatabaseKey, _ zone: CKRecordZone.ID, moreComing: Bool, _ count: QueueCount
    ) {
        guard var state = databases[key] else { return }
        state.running = nil
        state.take(count)
        state.succeeded()
        state.zones.withoutToken.remove(zone)
        // If the page shows a record of the batch, the batch has another name now: nothing is gained by sending it
        // before the next fetch.
        state.uploads.unansweredCount = 0
        if moreComing { state.zones.needFetch(zone) }
        databases[key] = state
    }

    mutating func zoneCreated(
        _ key: DatabaseKey, _ zone: CKRecordZone.ID, _ error: CKError?, now: Int64,
        _ actions: inout [SyncAction]
    ) {
        if let error { return failed(key, zone, error, in: .createZone, now: now, &actions) }
        guard var state = databases[key] else { return }
        state.running = nil
        state.zones.created.insert(zone)
        // A new zone invalidates an old token. The fetch finds that out before changes are sent with old tags.
        if state.zones.followed.contains(zone) { state.zones.needFetch(zone) }
        databases[key] = state
    }

    mutating func retry() {
        for key in databases.keys { databases[key]?.retryAll() }
    }
}

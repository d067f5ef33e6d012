internal import CloudKit

/// Notifications of other devices' changes: the subscription, and the fetch after a notification.
extension SyncEngine {
    mutating func takePush(_ event: SyncEvent, now: Int64, _ actions: inout [SyncAction]) {
        switch event {
        case .listen(let key, let isSaved):
            let key = current(key)
            var state = databases[key] ?? DatabaseSyncState()
            state.notifications.isWanted = true
            if !isSaved { state.notifications.needsSubscription = true }
            databases[key] = state
        case .subscribed(let key, let count):
            databases[key]?.running = nil
            databases[key]?.take(count)
            databases[key]?.succeeded()
        case .subscribeFailed(let key, let error):
            subscribeFailed(key, error, now: now, &actions)
        case .listening(let key, let wasForgotten):
            let key = current(key)
            guard var state = databases[key] else { return }
            // The server has just responded, so waiting for the network or a sign-in can end.
            state.endNetworkPause()
            switch state.stop {
            case .account, .anotherUser, .configuration(.badContainer, _): state.stop = nil
            default: break
            }
            if wasForgotten { state.notifications.needsSubscription = true }
            state.zones.needFetchOfFollowed()
            databases[key] = state
        case .pushed(let key):
            let key = current(key)
            // Any number of notifications during a fetch cause one more fetch. A notification proves that there is a
            // network.
            guard var state = databases[key] else { return }
            state.networkMayBeBack()
            databases[key] = state
        default:
            break
        }
    }

    /// The databases with followed zones.
    package var followedDatabases: [DatabaseKey] {
        databases.filter { $0.key.account == account && !$0.value.zones.followed.isEmpty }.keys.sorted()
    }

    /// Lets the adapter listen, once, if this process is the one that syncs.
    mutating func beginListening(_ key: DatabaseKey, _ actions: inout [SyncAction]) {
        guard isLockHeld, key.account == account, let notifications = databases[key]?.notifications,
            notifications.isWanted, !notifications.isListening
        else { return }
        databases[key]?.notifications.isListening = true
        actions.append(.listen(key))
    }

    private mutating func subscribeFailed(
        _ key: DatabaseKey, _ error: CKError, now: Int64, _ actions: inout [SyncAction]
    ) {
        databases[key]?.running = nil
        switch ErrorDisposition.of(error.code, in: .subscribe) {
        case .done:
            break
        case .stop, .stopSaves:
            databases[key]?.notifications.needsSubscription = true
            stop(key, error, zone: nil, &actions)
        case .retry, .eachItem, .withNextBatch, .afterOthers, .dropToken, .split, .uploadAgain, .merge,
            .recreate, .createZone:
            databases[key]?.notifications.needsSubscription = true
            wait(key, because: pause(for: error.code), error, now: now, &actions)
        case .quarantine:
            // The server doesn't support subscriptions. The sync continues, and finds changes when it
            // fetches.
            actions.append(.report(key, error))
        }
    }
}

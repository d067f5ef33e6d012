internal import CloudKit

/// Hearing of other devices' changes: the subscription, and what a notification asks for.
extension SyncEngine {
    mutating func takePush(_ event: SyncEvent, now: Int64, _ actions: inout [SyncAction]) {
        switch event {
        case .listen(let key, let isSaved):
            let key = current(key)
            var lane = lanes[key] ?? SyncLane()
            lane.listens = true
            if !isSaved { lane.needsSubscription = true }
            lanes[key] = lane
        case .subscribed(let key, let count):
            lanes[key]?.running = nil
            lanes[key]?.take(count)
            lanes[key]?.succeeded()
        case .subscribeFailed(let key, let error):
            subscribeFailed(key, error, now: now, &actions)
        case .listening(let key, let wasForgotten):
            let key = current(key)
            guard var lane = lanes[key] else { return }
            // The server has just answered, so what waits for the network or a sign-in need not.
            lane.endNetworkPause()
            switch lane.stop {
            case .account, .anotherUser, .configuration(.badContainer, _): lane.stop = nil
            default: break
            }
            if wasForgotten { lane.needsSubscription = true }
            lane.followed.forEach { lane.needFetch($0) }
            lanes[key] = lane
        case .pushed(let key):
            let key = current(key)
            // However many come while a fetch is under way: one more follows. What can be heard has a network.
            guard var lane = lanes[key] else { return }
            lane.networkMayBeBack()
            lanes[key] = lane
        default:
            break
        }
    }

    /// The databases in which something is followed.
    package var followedDatabases: [DatabaseKey] {
        lanes.filter { $0.key.account == account && !$0.value.followed.isEmpty }.keys.sorted()
    }

    /// Tells the adapter once to listen, when this process is the one that syncs.
    mutating func beginListening(_ key: DatabaseKey, _ actions: inout [SyncAction]) {
        guard isOurTurn, key.account == account, let lane = lanes[key], lane.listens, !lane.isListening
        else { return }
        lanes[key]?.isListening = true
        actions.append(.listen(key))
    }

    private mutating func subscribeFailed(
        _ key: DatabaseKey, _ error: CKError, now: Int64, _ actions: inout [SyncAction]
    ) {
        lanes[key]?.running = nil
        switch ErrorDisposition.of(error.code, in: .subscribe) {
        case .done:
            break
        case .stop, .stopSaves:
            lanes[key]?.needsSubscription = true
            stop(key, error, zone: nil, &actions)
        case .retry, .eachItem, .withNextBatch, .afterOthers, .dropToken, .split, .uploadAgain, .merge,
            .recreate, .createZone:
            lanes[key]?.needsSubscription = true
            wait(key, because: pause(for: error.code), error, now: now, &actions)
        case .refuse:
            // A server without subscriptions: the sync goes on, and hears of changes when it asks.
            actions.append(.tell(key, error))
        }
    }
}

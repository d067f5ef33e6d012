internal import CloudKit
package import Seams

/// Decides what is sent and fetched, and when. A state machine without input or output: events in, actions
/// out.
///
/// It holds no truth: the queue, the tags and the tokens are in the device's database, and what is here is
/// gone with the process and made again from there.
package struct SyncEngine {
    /// The most items in one operation: CloudKit's own limit.
    package static let itemsMax = 400
    /// How often the same conflict may come back before it counts as stuck.
    package static let identicalConflictsMax = 3

    var lanes: [DatabaseKey: SyncLane] = [:]
    var suspendCount = 0
    /// Whether this process syncs; if not, another one does, and this one only records.
    var isOurTurn = true
    var lastWake: Int64?
    var lastStatus: CloudSyncStatus?
    let random: any RandomSource

    /// - Parameter random: Where the jitter of pauses comes from.
    package init(random: any RandomSource) {
        self.random = random
    }

    /// Takes one event.
    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: What to do, in this order.
    package mutating func handle(_ event: SyncEvent, now: Int64) -> [SyncAction] {
        var actions: [SyncAction] = []
        take(event, now: now, &actions)
        for key in lanes.keys.sorted() { advance(key, now: now, &actions) }
        announce(now: now, &actions)
        return actions
    }

    private mutating func take(_ event: SyncEvent, now: Int64, _ actions: inout [SyncAction]) {
        switch event {
        case .counted(let key, let count):
            lanes[key, default: SyncLane()].count = count
        case .follow(let key, let zone, let mayBeMissing):
            var lane = lanes[key] ?? SyncLane()
            if !lane.followed.contains(zone) { lane.followed.append(zone) }
            if mayBeMissing { lane.needCreate(zone) }
            lane.needFetch(zone)
            lanes[key] = lane
        case .remoteChange(let key, let zone):
            lanes[key, default: SyncLane()].needFetch(zone)
        case .listen, .subscribed, .subscribeFailed, .listening, .pushed:
            takePush(event, now: now, &actions)
        case .sent(let key, let reply):
            sent(key, reply, now: now, &actions)
        case .pageApplied(let key, let zone, let moreComing, let count):
            pageApplied(key, zone, moreComing: moreComing, count)
        case .fetchFailed(let key, let zone, let error):
            failed(key, zone, error, in: .fetch, now: now, &actions)
        case .zoneCreated(let key, let zone, let error):
            zoneCreated(key, zone, error, now: now, &actions)
        case .applied(let key, let count):
            lanes[key]?.work = nil
            lanes[key]?.count = count
        case .localFailure(let key, let message):
            lanes[key]?.workFailedHere()
            let error = CKError(.internalError, message)
            wait(key, because: .localDatabase, error, now: now, &actions)
        case .unknownDatabase(let key):
            lanes[key]?.work = nil
            lanes[key]?.stop = .unknownDatabase(identifier: key.identifier)
        case .anotherUser(let key):
            lanes[key]?.workFailedHere()
            lanes[key]?.stop = .anotherUser
        case .turn(let isOurs):
            isOurTurn = isOurs
        case .suspendCount(let count):
            suspendCount = count
        case .retry:
            retry()
        case .tick:
            // A clock that was set back lets the wake come too early: then it is asked for again.
            lastWake = nil
        }
    }

    private mutating func pageApplied(
        _ key: DatabaseKey, _ zone: CKRecordZone.ID, moreComing: Bool, _ count: QueueCount
    ) {
        guard var lane = lanes[key] else { return }
        lane.work = nil
        lane.count = count
        lane.succeeded()
        if moreComing { lane.needFetch(zone) }
        lanes[key] = lane
    }

    private mutating func zoneCreated(
        _ key: DatabaseKey, _ zone: CKRecordZone.ID, _ error: CKError?, now: Int64,
        _ actions: inout [SyncAction]
    ) {
        if let error { return failed(key, zone, error, in: .createZone, now: now, &actions) }
        guard var lane = lanes[key] else { return }
        lane.work = nil
        lane.createdZones.insert(zone)
        // A new zone makes an old token void: the fetch finds that out before anything is sent on old tags.
        if lane.followed.contains(zone) { lane.needFetch(zone) }
        lanes[key] = lane
    }

    private mutating func retry() {
        for key in lanes.keys.sorted() {
            guard var lane = lanes[key] else { continue }
            if case .zoneDeletedByUser = lane.stop { lane.followed.forEach { lane.needCreate($0) } }
            lane.stop = nil
            lane.pause = nil
            lane.backOff.reset()
            lane.conflicts = [:]
            lane.followed.forEach { lane.needFetch($0) }
            lane.liftsRefusals = !lane.count.refused.isEmpty
            // It may be another user who is signed in now.
            lane.needsSubscription = lane.listens
            lanes[key] = lane
        }
    }

    /// Begins the next thing in a database, if nothing is under way there and nothing forbids it.
    private mutating func advance(_ key: DatabaseKey, now: Int64, _ actions: inout [SyncAction]) {
        beginListening(key, &actions)
        guard isOurTurn, var lane = lanes[key], lane.work == nil, lane.stop == nil else { return }
        if let pause = lane.pause {
            guard pause.untilMilliseconds <= now else { return }
            lane.pause = nil
        }
        if lane.liftsRefusals {
            lane.liftsRefusals = false
            lane.work = .completing
            actions.append(.liftRefusals(key))
        } else if let zone = lane.zonesToCreate.first, suspendCount == 0 {
            lane.zonesToCreate.removeFirst()
            lane.work = .creatingZone(zone)
            actions.append(.createZone(key, zone))
        } else if lane.needsSubscription {
            // Before the fetch: what is changed in between is fetched or told.
            lane.needsSubscription = false
            lane.work = .subscribing
            actions.append(.subscribe(key))
        } else if let zone = lane.zonesToFetch.first(where: { !lane.zonesToCreate.contains($0) }) {
            lane.zonesToFetch.removeAll { $0 == zone }
            lane.work = .fetching(zone)
            actions.append(.fetch(key, zone))
        } else if lane.count.pending > 0, suspendCount == 0 {
            lane.work = .sending
            actions.append(.send(key, itemsMax: lane.itemsMax))
        }
        lanes[key] = lane
    }

    /// The status and the next wake, when they are other than before.
    private mutating func announce(now: Int64, _ actions: inout [SyncAction]) {
        let pauses = lanes.values.compactMap { $0.work == nil ? $0.pause?.untilMilliseconds : nil }
        let wake = pauses.min()
        if wake != lastWake {
            lastWake = wake
            actions.append(.wake(atMilliseconds: wake))
        }
        let status = status
        if status != lastStatus {
            lastStatus = status
            actions.append(.status(status))
        }
    }
}

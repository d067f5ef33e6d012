import CloudStore
import Seams

/// Decides who is told of changed zones: every device of who has subscribed, but for the one that made all the
/// changes. Pure.
struct PushDecider {
    let subscriptions: [DatabaseKey: [SubscriptionRow]]
    let devices: [String: [DeviceRow]]
    let nowMilliseconds: Int64
    let random: any RandomSource

    struct Decision {
        var changes = StoreChanges()
        /// The tokens of the devices that are told, sorted.
        var tokens: [String] = []
        /// The last zone that was gone through.
        var last: ZoneKey?
        /// True when not all tasks were gone through.
        var isCutShort = false
    }

    /// Goes through the tasks in order, until they have come to `pushesMax`.
    func decide(_ tasks: [PushTaskRow], pushesMax: Int) -> Decision {
        var decision = Decision()
        var told = Set<PushKey>()
        var tokens = Set<String>()
        for task in tasks {
            guard told.count < pushesMax else {
                decision.isCutShort = true
                break
            }
            for (device, key) in pushes(for: task) where told.insert(key).inserted {
                // A later change in the place of a push that waits has a name of its own: who has taken the first and
                // says so does not delete the second.
                decision.changes.pushes.append(
                    PushRow(
                        key: key, notificationID: random.nextUUID().lowercased(),
                        atMilliseconds: nowMilliseconds))
                tokens.insert(device.token)
            }
            decision.changes.removedPushTasks.append(task.zone)
            decision.last = task.zone
        }
        decision.tokens = tokens.sorted()
        return decision
    }

    private func pushes(for task: PushTaskRow) -> [(DeviceRow, PushKey)] {
        (subscriptions[task.zone.database] ?? [])
            .filter { $0.zoneName == nil || $0.zoneName == task.zone.zoneName }
            .flatMap { subscription in
                (devices[subscription.key.user] ?? []).filter { $0.key != task.maker }.map { device in
                    let key = PushKey(
                        device: device.key, database: task.zone.database,
                        subscriptionID: subscription.key.subscriptionID)
                    return (device, key)
                }
            }
    }
}

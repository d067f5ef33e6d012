import CloudStore
import CloudWire
import System

/// Decides which devices get a push: all devices of each subscriber, except the one that made all the changes. Pure.
struct PushDecider {
    /// The subscriptions in the databases of changed zones.
    let subscriptions: [StoredDatabaseKey: [SubscriptionRow]]
    /// The query subscriptions that watch a type.
    let indexes: [WatchKey: WatchIndex]

    struct Decision {
        var changes = StoreChanges()
        /// The tokens of the devices that get a push, sorted.
        var tokens: [String] = []
        /// The last processed zone.
        var last: ZoneKey?
        /// True if some tasks remain.
        var isCutShort = false
    }

    /// A subscription that the tasks of a step fire.
    private struct Found {
        let row: SubscriptionRow
        /// The device that made all changes of each task. Nil if there are several, or one without a name.
        var makers: Set<DeviceKey?>
    }

    /// Processes the changed zones in order, then the changed records, until it has made `pushesMax` pushes or notified
    /// `watchersMax` query subscriptions.
    func decide(
        _ tasks: [PushTaskRow], _ fired: [FiredChangeRow], pushesMax: Int, watchersMax: Int,
        collector: inout NotificationCollector
    ) throws -> Decision {
        var decision = Decision()
        var found: [SubscriptionKey: Found] = [:]
        for task in tasks {
            guard found.count < pushesMax else {
                decision.isCutShort = true
                break
            }
            for row in watchers(of: task.zone) {
                found[row.key, default: Found(row: row, makers: [])].makers.insert(task.maker)
            }
            decision.changes.removedPushTasks.append(task.zone)
            decision.last = task.zone
        }
        for found in found.values.sorted(by: { $0.row.key < $1.row.key }) {
            try collector.add(notification(found))
        }
        var watchersLeft = watchersMax
        for change in fired {
            guard collector.pushesCount < pushesMax, watchersLeft > 0 else {
                decision.isCutShort = true
                break
            }
            watchersLeft -= try notify(change, watchersMax: watchersLeft, &decision, &collector)
        }
        collector.finish(&decision.changes)
        decision.tokens = collector.tokens.sorted()
        return decision
    }

    // MARK: Zones

    private func watchers(of zone: ZoneKey) -> [SubscriptionRow] {
        (subscriptions[zone.database] ?? [])
            .filter { $0.recordType == nil && ($0.zoneName == nil || $0.zoneName == zone.zoneName) }
    }

    private func notification(_ found: Found) -> NotificationCollector.NewNotification {
        let subscription = try? WireSubscription(json: found.row.content)
        let maker = found.makers.count == 1 ? found.makers.first ?? nil : nil
        return NotificationCollector.NewNotification(
            subscription: found.row.key, kind: .feed, info: subscription?.notificationInfo,
            cause: PushCause(found.row), makers: Set([maker].compactMap { $0 }), maker: maker)
    }

    // MARK: Records

    /// Notifies the subscriptions that a record fired. Subscriptions beyond `watchersMax` remain for the next
    /// step.
    ///
    /// - Returns: the number of subscriptions notified.
    private func notify(
        _ change: FiredChangeRow, watchersMax: Int, _ decision: inout Decision,
        _ collector: inout NotificationCollector
    ) throws -> Int {
        // An unreadable row must not block the following ones.
        var rest = (try? FiredSubscriptions(change.watchers)) ?? FiredSubscriptions()
        let notified = rest.takeFirst(watchersMax)
        let fields = (try? FieldsBinary.decode(change.fields)) ?? [:]
        for watcher in watchers(notified, of: change) {
            try collector.add(notification(of: watcher, change, fields))
        }
        if rest.count > 0 {
            var later = change
            later.watchers = rest.bytes
            decision.changes.notifications.firedChanges.append(later)
            decision.isCutShort = true
        } else {
            decision.changes.notifications.removedFiredChanges.append(change.number)
        }
        return notified.count
    }

    private typealias Watcher = (key: SubscriptionKey, info: WireNotificationInfo?)

    /// Leaves out deleted subscriptions: after unsubscribing, a user gets no notification of earlier changes.
    private func watchers(_ fired: FiredSubscriptions, of change: FiredChangeRow) -> [Watcher] {
        let staying = fired.numbers.compactMap { number -> Watcher? in
            indexes[change.watch]?[number].map { ($0.row.key, $0.info) }
        }
        return staying
            + fired.once.map { once in
                let key = SubscriptionKey(
                    database: change.record.zone.database, user: once.user,
                    subscriptionID: once.subscriptionID)
                return (key, (try? WireSubscription(json: once.content))?.notificationInfo)
            }
    }

    private func notification(
        of watcher: Watcher, _ change: FiredChangeRow, _ fields: [String: Field]
    ) -> NotificationCollector.NewNotification {
        NotificationCollector.NewNotification(
            subscription: watcher.key, kind: .query, info: watcher.info,
            cause: PushCause(change, subscriptionID: watcher.key.subscriptionID), fields: fields,
            recordType: change.recordType, makers: Set([change.maker].compactMap { $0 }), maker: change.maker)
    }

    /// Returns the users that the tasks and the fired changes may notify.
    func users(_ tasks: [PushTaskRow], _ fired: [FiredChangeRow], watchersMax: Int) -> Set<String> {
        var users = Set(tasks.flatMap { watchers(of: $0.zone) }.map(\.key.user))
        var watchersLeft = watchersMax
        for change in fired where watchersLeft > 0 {
            guard var rest = try? FiredSubscriptions(change.watchers) else { continue }
            let notified = rest.takeFirst(watchersLeft)
            watchersLeft -= notified.count
            users.formUnion(watchers(notified, of: change).map(\.key.user))
        }
        return users
    }

    /// Returns the zone and database subscriptions that the tasks fire.
    func subscriptions(of tasks: [PushTaskRow]) -> [SubscriptionKey] {
        Set(tasks.flatMap { watchers(of: $0.zone) }.map(\.key)).sorted()
    }
}

extension FiredChangeRow {
    var watch: WatchKey { WatchKey(database: record.zone.database, recordType: recordType) }
}

import CloudStore
import CloudWire
import System

/// Decides which devices are told of changes: all of each subscriber, except the one that made all the changes. Pure.
struct PushDecider {
    /// The subscriptions in databases whose zones changed.
    let subscriptions: [DatabaseKey: [SubscriptionRow]]
    /// The query subscriptions that watch a type.
    let indexes: [WatchKey: WatchIndex]

    struct Decision {
        var changes = StoreChanges()
        /// The tokens of the devices that are told, sorted.
        var tokens: [String] = []
        /// The last zone that was gone through.
        var last: ZoneKey?
        /// True when not all tasks were gone through.
        var isCutShort = false
    }

    /// What the tasks of a step tell one subscription.
    private struct Found {
        let row: SubscriptionRow
        /// Who made all changes of a task; nil among them: several, or one without name.
        var makers: Set<DeviceKey?>
    }

    /// Goes through the changed zones in order, then through the changed records, until `pushesMax` pushes are made or
    /// `watchersMax` query subscriptions are told.
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
        for found in found.values.sorted(by: { $0.row.key < $1.row.key }) { try collector.add(news(found)) }
        var watchersLeft = watchersMax
        for change in fired {
            guard collector.pushesCount < pushesMax, watchersLeft > 0 else {
                decision.isCutShort = true
                break
            }
            watchersLeft -= try tell(change, watchersMax: watchersLeft, &decision, &collector)
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

    private func news(_ found: Found) -> NotificationCollector.News {
        let subscription = try? WireSubscription(json: found.row.content)
        let maker = found.makers.count == 1 ? found.makers.first ?? nil : nil
        return NotificationCollector.News(
            subscription: found.row.key, kind: .feed, info: subscription?.notificationInfo,
            cause: PushCause(found.row), makers: Set([maker].compactMap { $0 }), maker: maker)
    }

    // MARK: Records

    /// Tells those who watch a record, and returns how many they were. What is too much for a step stays for the next.
    private func tell(
        _ change: FiredChangeRow, watchersMax: Int, _ decision: inout Decision,
        _ collector: inout NotificationCollector
    ) throws -> Int {
        // What can't be read must not stay in the way of what comes after it.
        var rest = (try? FiredWatchers(change.watchers)) ?? FiredWatchers()
        let told = rest.takeFirst(watchersMax)
        let fields = (try? FieldsBinary.decode(change.fields)) ?? [:]
        for watcher in watchers(told, of: change) { try collector.add(news(of: watcher, change, fields)) }
        if rest.count > 0 {
            var later = change
            later.watchers = rest.bytes
            decision.changes.notifications.firedChanges.append(later)
            decision.isCutShort = true
        } else {
            decision.changes.notifications.removedFiredChanges.append(change.number)
        }
        return told.count
    }

    private typealias Watcher = (key: SubscriptionKey, info: WireNotificationInfo?)

    /// Without the subscriptions that are gone: a user who unsubscribed isn't told of earlier changes either.
    private func watchers(_ fired: FiredWatchers, of change: FiredChangeRow) -> [Watcher] {
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

    private func news(
        of watcher: Watcher, _ change: FiredChangeRow, _ fields: [String: Field]
    ) -> NotificationCollector.News {
        NotificationCollector.News(
            subscription: watcher.key, kind: .query, info: watcher.info,
            cause: PushCause(change, subscriptionID: watcher.key.subscriptionID), fields: fields,
            recordType: change.recordType, makers: Set([change.maker].compactMap { $0 }), maker: change.maker)
    }

    /// Whom the zones' tasks and the records' changes may tell.
    func users(_ tasks: [PushTaskRow], _ fired: [FiredChangeRow], watchersMax: Int) -> Set<String> {
        var users = Set(tasks.flatMap { watchers(of: $0.zone) }.map(\.key.user))
        var watchersLeft = watchersMax
        for change in fired where watchersLeft > 0 {
            guard var rest = try? FiredWatchers(change.watchers) else { continue }
            let told = rest.takeFirst(watchersLeft)
            watchersLeft -= told.count
            users.formUnion(watchers(told, of: change).map(\.key.user))
        }
        return users
    }

    /// The zone and database subscriptions that the tasks tell.
    func subscriptions(of tasks: [PushTaskRow]) -> [SubscriptionKey] {
        Set(tasks.flatMap { watchers(of: $0.zone) }.map(\.key)).sorted()
    }
}

extension FiredChangeRow {
    var watch: WatchKey { WatchKey(database: record.zone.database, recordType: recordType) }
}

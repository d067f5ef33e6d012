import CloudStore
import Seams

/// A write leaves a task for each zone that it changes in a database which somebody watches, in its own transaction:
/// a crash between the write and the push loses nothing.
extension StoreLoaded {
    /// Loads the tasks of those of `zones` that are watched. Costs nothing when none is.
    mutating func loadPushTasks(of zones: [ZoneKey], from reader: any CloudStoreReader) throws {
        let watched = zones.filter { isWatched($0.database) }
        guard !watched.isEmpty else { return }
        var wanted = StoreLoad()
        wanted.pushTasks = watched
        merge(try reader.load(wanted))
    }

    fileprivate func isWatched(_ database: DatabaseKey) -> Bool {
        (databases[database]?.subscriptionCount ?? 0) > 0
    }
}

extension StoreChanges {
    /// Adds a task for each changed zone that is watched.
    ///
    /// A task that waits already takes the change in. While one device made all of it, that device needn't be told;
    /// when a second one comes, each must hear of the other's.
    mutating func addPushTasks(loaded: StoreLoaded, maker: DeviceKey?) {
        for zone in zones where loaded.isWatched(zone.key.database) {
            let waiting = loaded.pushTasks[zone.key]
            let isAlone = waiting.map { $0.maker == maker } ?? true
            pushTasks.append(PushTaskRow(zone: zone.key, maker: isAlone ? maker : nil))
        }
    }

    /// Removes the subscriptions to those of `zones` that are gone, after their subscribers were told. A zone that was
    /// made anew before that keeps them.
    mutating func removeSubscriptions(of zones: [ZoneKey], loaded: StoreLoaded) {
        var left: [DatabaseKey: DatabaseRow] = [:]
        for zone in zones where loaded.zones[zone]?.isDeleted ?? false {
            guard var database = left[zone.database] ?? loaded.databases[zone.database] else { continue }
            let rows = (loaded.subscriptions[zone.database] ?? [])
                .filter { $0.recordType == nil && $0.zoneName == zone.zoneName }
            guard !rows.isEmpty else { continue }
            removedSubscriptions += rows.map(\.key)
            database.subscriptionCount -= Int64(rows.count)
            left[zone.database] = database
        }
        databases += left.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// What a service remembers of its pushes while it runs; all of it can be found again.
struct PushState {
    /// True when there may be tasks: also at the start, when somebody before may have left some.
    var tasksMayWait = true
    /// False until the store was asked.
    var hasLooked = false
    /// Behind which zone the next step begins, so that busy zones don't keep others waiting.
    var cursor: ZoneKey?
    var listener: (@Sendable ([String]) -> Void)?
    /// Devices for which pushes were made outside a step; told with the next.
    var readyTokens = Set<String>()
    var webhookListener: (@Sendable (_ abandonedCount: Int) -> Void)?
    /// What was given up for webhooks, until it is announced.
    var abandonedCount = 0
    /// True when something is to be sent to webhooks, until it is announced.
    var deliveriesWereMade = false
}

extension CloudService {
    /// Writes what a request has come to.
    func apply(_ changes: StoreChanges, to writer: any CloudStoreWriter) throws {
        if !changes.pushTasks.isEmpty || !changes.notifications.firedChanges.isEmpty {
            pushes.withLock { $0.tasksMayWait = true }
        }
        if !changes.clearedZones.isEmpty { clearedRowsMayWait.withLock { $0 = true } }
        let oldSchema = try changes.schema.map { _ in try schemas.schema(in: writer) }
        try writer.apply(changes)
        try trimAnswers(changes.answers, writer)
        if let oldSchema, let row = changes.schema {
            try changeIndexes(from: oldSchema, to: try Schema(row), written: changes.indexes, writer)
        }
    }
}

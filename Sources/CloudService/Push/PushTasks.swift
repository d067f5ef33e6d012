import CloudStore

/// A write adds a task for each changed zone in a database with subscriptions, in its own transaction. A
/// crash between the write and the push loses nothing.
extension StoreLoaded {
    /// Loads the tasks of the subscribed zones of `zones`. Reads nothing if there are none.
    mutating func loadPushTasks(of zones: [ZoneKey], from reader: any CloudStoreReader) throws {
        let watched = zones.filter { isWatched($0.database) }
        guard !watched.isEmpty else { return }
        var wanted = StoreLoad()
        wanted.pushTasks = watched
        merge(try reader.load(wanted))
    }

    fileprivate func isWatched(_ database: StoredDatabaseKey) -> Bool {
        (databases[database]?.subscriptionCount ?? 0) > 0
    }
}

extension StoreChanges {
    /// Adds a task for each changed zone with subscriptions.
    ///
    /// A pending task already covers the change. If one device made all of a task's changes, it isn't
    /// notified. Once a second device adds a change, both are notified.
    mutating func addPushTasks(loaded: StoreLoaded, maker: DeviceKey?) {
        for zone in zones where loaded.isWatched(zone.key.database) {
            let waiting = loaded.pushTasks[zone.key]
            let isAlone = waiting.map { $0.maker == maker } ?? true
            pushTasks.append(PushTaskRow(zone: zone.key, maker: isAlone ? maker : nil))
        }
    }

    /// Removes the subscriptions to deleted zones of `zones`, after their subscribers were notified. A zone
    /// that was recreated before that keeps them.
    mutating func removeSubscriptions(of zones: [ZoneKey], loaded: StoreLoaded) {
        var left: [StoredDatabaseKey: DatabaseRow] = [:]
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

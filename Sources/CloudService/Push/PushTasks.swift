import CloudStore

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

    fileprivate func isWatched(_ database: StoredDatabaseKey) -> Bool {
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

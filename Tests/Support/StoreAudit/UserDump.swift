import CloudService
import CloudStore
import CloudWire

/// Everything that a store keeps of one user, in words: what nobody else may change.
public enum UserDump {
    private static let rowsMax = 100_000

    /// A line for each row of the user's: their private database, what they made or changed in the public one, their
    /// subscriptions, devices, pushes, notifications and usage.
    ///
    /// - Parameters:
    ///   - user: the name of the user's record.
    ///   - includesIndexes: whether the lines have index entries and what these count. They grow with the schema, and
    ///     so with a field that another developer uses first.
    /// - Throws: `CloudStoreError`.
    package static func lines(
        of user: String, in store: any CloudStore, includesIndexes: Bool = true
    ) throws -> [String] {
        try store.read { reader in
            let database = StoredDatabaseKey.privateDatabase(of: user)
            let zones = try reader.zones(after: nil, zonesMax: rowsMax).rows.filter {
                $0.key.database == database
            }
            var lines = zones.map { line(of: $0, \.size.indexBytes, includesIndexes) }
            let usual = ZoneKey(database: database, zoneName: ZoneID.defaultZoneName)
            for zone in [usual] + zones.map(\.key) {
                lines += try records(of: zone, includesIndexes, reader)
            }
            let everybodys = ZoneKey(database: .publicDatabase, zoneName: ZoneID.defaultZoneName)
            lines += try reader.records(in: everybodys, after: nil, recordsMax: rowsMax, bytesMax: .max).rows
                .filter { $0.created.userRecordName == user || $0.modified.userRecordName == user }
                .map { line(of: $0, \.indexBytes, includesIndexes) }
            return try lines + rows(of: user, database, includesIndexes, reader)
        }
    }

    private static func line<Row>(
        of row: Row, _ indexBytes: WritableKeyPath<Row, Int64>, _ includesIndexes: Bool
    ) -> String {
        var row = row
        if !includesIndexes { row[keyPath: indexBytes] = 0 }
        return "\(row)"
    }

    /// A zone's records with what they are found by and who refers to them, and its tombstones.
    private static func records(
        of zone: ZoneKey, _ includesIndexes: Bool, _ reader: any CloudStoreReader
    ) throws -> [String] {
        let live = try reader.records(in: zone, after: nil, recordsMax: rowsMax, bytesMax: .max).rows
        let changed = try reader.changedRecords(
            RecordChangesQuery(
                zone: zone, after: 0, tombstonesAfter: 0, recordsMax: rowsMax, bytesMax: .max))
        var wanted = StoreLoad()
        wanted.dependantsOf = live.map(\.key)
        let dependants = try reader.load(wanted).dependants
        return try live.map { row in
            let entries =
                includesIndexes ? try reader.entries(of: row.key, recordType: row.recordType) ?? [] : []
            let words = line(of: row, \.indexBytes, includesIndexes)
            return "\(words) \(entries) \(dependants[row.key] ?? [])"
        } + changed.rows.filter(\.isDeleted).map { "\($0)" }
    }

    private static func rows(
        of user: String, _ database: StoredDatabaseKey, _ includesIndexes: Bool,
        _ reader: any CloudStoreReader
    ) throws -> [String] {
        let places = [
            UsageKey(scope: .privateDatabase, user: user), UsageKey(scope: .publicDatabase, user: user),
        ]
        let subscriber = SubscriberKey(database: .publicDatabase, user: user)
        var wanted = StoreLoad()
        wanted.databases = [database]
        wanted.subscriptionsIn = [database]
        wanted.devicesOf = [user]
        wanted.rolesOf = [user]
        wanted.usageOf = places
        wanted.notifications.feedsOf = [user]
        wanted.notifications.subscriptionsOf = [subscriber]
        let loaded = try reader.load(wanted)
        let devices = loaded.devices[user] ?? []
        wanted = StoreLoad()
        wanted.pushesOf = devices.map(\.key)
        let pushes = try reader.load(wanted).pushes
        let subscriptions =
            (loaded.subscriptions[database] ?? []) + (loaded.notifications.subscriptions[subscriber] ?? [])
        let notifications = try reader.notificationReader.notifications(
            of: user, after: 0, notificationsMax: rowsMax
        ).rows
        return subscriptions.map { "\($0)" } + notifications.map { "\($0)" }
            + devices.map { "\($0) \(pushes[$0.key] ?? [])" }
            + [
                "\(loaded.databases[database] as Any)", "\(loaded.roles[user] as Any)",
                "\(loaded.notifications.feeds[user] as Any)",
            ]
            + places.map { place in
                loaded.usage[place].map { line(of: $0, \.size.indexBytes, includesIndexes) } ?? "nil"
            }
    }
}

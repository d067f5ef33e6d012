import CloudStore
import System

/// Changes to zones by an operator or after a restore.
package struct ZoneMaintenance: Sendable {
    let store: any CloudStore
    let random: any RandomSource

    /// Discards a zone's tombstones. Older tokens are expired from now on.
    ///
    /// Does nothing if the zone doesn't exist.
    ///
    /// - Throws: `CloudStoreError`; then nothing was changed.
    package func pruneTombstones(zoneName: String, ofUser userRecordName: String) throws {
        try changeZone(zoneName, ofUser: userRecordName) { change, reader in
            let key = change.zone.key
            var wanted = StoreLoad()
            wanted.assets.tombstoneBytesOf = [key]
            let nameBytes = try reader.load(wanted).assets.tombstoneBytes[key] ?? 0
            change.usage.removeTombstones(
                in: key, count: change.zone.size.tombstones, nameBytes: nameBytes)
            change.zone.tombstoneFloor = change.zone.counter
            change.changes.prunedTombstones = [PrunedTombstones(zone: key, through: change.zone.counter)]
        }
    }

    /// Gives a zone a new epoch, as after a restore from a backup. All its tokens become invalid, so devices
    /// fetch from the beginning. The records keep their tags. Does nothing if the zone doesn't exist.
    ///
    /// - Parameter includesDeleted: whether a deleted zone gets a new epoch too, as after a restore. The
    ///   epoch of a recreated zone is derived from it, and must differ from those issued before the restore.
    /// - Throws: `CloudStoreError`; then nothing was changed.
    package func resetEpoch(
        zoneName: String, ofUser userRecordName: String, includesDeleted: Bool = false
    ) throws {
        try changeZone(zoneName, ofUser: userRecordName, includesDeleted: includesDeleted) { change, _ in
            change.zone.epoch = random.next()
            guard !change.zone.isDeleted else { return }
            change.database.counter += 1
            change.zone.databaseCounter = change.database.counter
        }
    }

    /// Changes to a zone, its database's feed and its owner's usage.
    private struct ZoneChange {
        var zone: ZoneRow
        var database: DatabaseRow
        var changes = StoreChanges()
        var usage = UsageDeltas()
    }

    private func changeZone(
        _ zoneName: String, ofUser userRecordName: String, includesDeleted: Bool = false,
        _ body: (inout ZoneChange, any CloudStoreReader) throws -> Void
    ) throws {
        let key = ZoneKey(database: .privateDatabase(of: userRecordName), zoneName: zoneName)
        try store.write { writer in
            var wanted = StoreLoad()
            wanted.zones = [key]
            wanted.databases = [key.database]
            let loaded = try writer.load(wanted)
            guard let zone = loaded.zones[key], includesDeleted || !zone.isDeleted,
                let database = loaded.databases[key.database]
            else { return }
            var change = ZoneChange(zone: zone, database: database)
            try body(&change, writer)
            var changes = change.changes
            changes.zones = [change.zone]
            changes.databases = [change.database]
            try change.usage.count(into: &changes, writer)
            try writer.apply(changes)
        }
    }
}

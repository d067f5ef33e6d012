import CloudStore
import Seams

extension CloudService {
    /// Forgets what was deleted in a zone until now: tokens that haven't seen it are expired from now on.
    ///
    /// Does nothing when there is no such zone.
    ///
    /// - Throws: `CloudStoreError`; then nothing was changed.
    package func pruneTombstones(zoneName: String, ofUser userRecordName: String) throws {
        try changeZone(zoneName, ofUser: userRecordName) { zone, _, changes, usage in
            zone.tombstoneFloor = zone.counter
            usage.countTombstone(in: zone.key, -zone.size.tombstones)
            changes.prunedTombstones = [PrunedTombstones(zone: zone.key, through: zone.counter)]
        }
    }

    /// Gives a zone a new epoch, as after it was restored from a backup: all its tokens are told to start
    /// again. The records keep their tags. Does nothing when there is no such zone.
    ///
    /// - Parameter includesDeleted: Whether a deleted zone gets one too, as a restore gives it: the epoch of the zone's
    ///   next life follows from it, and must be no epoch of the time that was lost.
    /// - Throws: `CloudStoreError`; then nothing was changed.
    package func resetEpoch(
        zoneName: String, ofUser userRecordName: String, includesDeleted: Bool = false
    ) throws {
        try changeZone(zoneName, ofUser: userRecordName, includesDeleted: includesDeleted) {
            zone, database, _, _ in
            zone.epoch = random.next()
            guard !zone.isDeleted else { return }
            database.counter += 1
            zone.databaseCounter = database.counter
        }
    }

    private func changeZone(
        _ zoneName: String, ofUser userRecordName: String, includesDeleted: Bool = false,
        _ change: (inout ZoneRow, inout DatabaseRow, inout StoreChanges, inout UsageDeltas) -> Void
    ) throws {
        let key = ZoneKey(database: .privateDatabase(of: userRecordName), zoneName: zoneName)
        try store.write { writer in
            var wanted = StoreLoad()
            wanted.zones = [key]
            wanted.databases = [key.database]
            let loaded = try writer.load(wanted)
            guard var zone = loaded.zones[key], includesDeleted || !zone.isDeleted,
                var database = loaded.databases[key.database]
            else { return }
            var changes = StoreChanges()
            var usage = UsageDeltas()
            change(&zone, &database, &changes, &usage)
            changes.zones = [zone]
            changes.databases = [database]
            try count(usage, into: &changes, writer)
            try writer.apply(changes)
        }
    }
}

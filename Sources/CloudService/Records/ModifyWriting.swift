import CloudStore
import CloudWire
import System

/// Turns decided saves and deletions into rows, and counts the changes of their zones.
struct ModifyWriting {
    let loaded: StoreLoaded
    let random: any RandomSource
    let stamp: StoreStamp
    /// The writing device, if it has a name.
    let maker: DeviceKey?
    /// The schema including the additions of the records.
    let schema: Schema
    private(set) var usage = UsageDeltas()
    private var changes = StoreChanges()
    private var zones: [ZoneKey: ZoneRow] = [:]

    init(
        loaded: StoreLoaded, random: any RandomSource, stamp: StoreStamp, maker: DeviceKey?, schema: Schema
    ) {
        self.loaded = loaded
        self.random = random
        self.stamp = stamp
        self.maker = maker
        self.schema = schema
    }

    /// Writes a record, and returns its row. A record of an export keeps its stamps.
    @discardableResult
    mutating func save(_ draft: RecordDraft, key: RecordKey, stamps: RecordStamps? = nil) -> StoredRecord {
        let version = nextVersion(in: key.zone)
        let checksum = draft.checksum(of: key, changeTag: version)
        var row = StoredRecord(
            key: key, recordType: draft.recordType, tagEpoch: version.epoch, counter: version.counter,
            parent: draft.parent, created: stamps?.created ?? draft.old?.created ?? stamp,
            modified: stamps?.modified ?? stamp,
            fields: draft.fieldBytes, checksum: checksum)
        count(checksum, insteadOf: draft.old?.checksum, in: key.zone)
        let subject = QuerySubject(row: row, fields: draft.fields)
        let entries = IndexEntries.row(subject, schema, references: draft.references, assets: draft.assets)
        row.indexBytes = entries.countedBytes
        changes.indexes.append(entries)
        changes.records.append(row)
        let before = Set(draft.oldReferences)
        let after = Set(draft.references)
        changes.removedReferences += before.subtracting(after).sorted()
        changes.addedReferences += after.subtracting(before).sorted()
        changes.keepAssets(of: draft, key: key)
        usage.save(draft, as: row)
        if draft.old == nil, let tombstone = loaded.records[key], tombstone.isDeleted {
            usage.removeTombstone(tombstone)
        }
        return row
    }

    /// Deletes a record. Its fields needn't be loaded. A zone with a feed gets a tombstone.
    mutating func delete(_ row: StoredRecord) {
        changes.removedSources.append(row.key)
        usage.delete(row)
        guard loaded.zones[row.key.zone] != nil else {
            changes.removedRecords.append(row.key)
            return
        }
        let version = nextVersion(in: row.key.zone)
        count(nil, insteadOf: row.checksum, in: row.key.zone)
        var tombstone = StoredRecord(
            key: row.key, recordType: row.recordType, isDeleted: true, tagEpoch: version.epoch,
            counter: version.counter, created: row.created, modified: stamp, fields: [])
        tombstone.indexBytes = row.key.countedNameBytes(recordType: row.recordType)
        usage.addTombstone(tombstone)
        changes.records.append(tombstone)
    }

    /// All changes, including the new counters of the zones and of their database.
    consuming func finished() -> StoreChanges {
        for key in Set(zones.keys.map(\.database)).sorted() {
            var database = loaded.databases[key] ?? DatabaseRow(key: key, epoch: random.next(), counter: 0)
            for var zone in zones.values.sorted(by: { $0.key < $1.key }) where zone.key.database == key {
                // Each zone gets its own number, because a page may end between any two, and its token is a
                // number.
                database.counter += 1
                zone.databaseCounter = database.counter
                changes.zones.append(zone)
            }
            changes.databases.append(database)
        }
        changes.addPushTasks(loaded: loaded, maker: maker)
        return changes
    }

    /// The next version of the zone. A zone without a feed has no counter: its versions are random bits, so
    /// that its writers don't contend for one row. No version is issued twice.
    private mutating func nextVersion(in key: ZoneKey) -> ChangeTag {
        guard var zone = zones[key] ?? loaded.zones[key] else {
            return ChangeTag(epoch: random.next(), counter: 0)
        }
        zone.counter += 1
        zones[key] = zone
        return ChangeTag(epoch: zone.epoch, counter: zone.counter)
    }

    /// Updates the zone's checksum in the same transaction. A row of an earlier version may have no checksum
    /// to subtract.
    private mutating func count(
        _ new: StoreChecksum?, insteadOf old: StoreChecksum?, in key: ZoneKey
    ) {
        if let old { zones[key]?.checksum -= old }
        if let new { zones[key]?.checksum += new }
    }
}

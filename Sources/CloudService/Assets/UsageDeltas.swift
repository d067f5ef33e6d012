import CloudStore
import CloudWire

/// The changes of a write to the users' usage.
struct UsageDeltas: Sendable {
    private(set) var deltas: [UsageKey: StoredSize] = [:]
    /// The change to each zone's usage.
    private(set) var zones: [ZoneKey: StoredSize] = [:]
    /// Deleted records and their creators. Their sizes are read after all is decided.
    private(set) var removed: [(key: RecordKey, creator: String)] = []

    var isEmpty: Bool { deltas.isEmpty && removed.isEmpty }

    mutating func save(_ draft: RecordDraft, as row: StoredRecord) {
        let change = StoredSize(
            records: draft.old == nil ? 1 : 0,
            recordBytes: Int64(row.fields.count - (draft.old?.fields.count ?? 0)),
            assetBytes: draft.assets.bytes - draft.oldAssets.bytes,
            indexBytes: row.indexBytes - (draft.old?.indexBytes ?? 0))
        guard change != StoredSize() else { return }
        add(change, in: row.key.zone, creator: row.created.userRecordName)
    }

    /// Adds the bytes of a record's index row that weren't counted yet.
    mutating func index(_ row: RecordIndexRow, of record: StoredRecord) {
        let change = StoredSize(indexBytes: row.countedBytes - record.indexBytes)
        guard change != StoredSize() else { return }
        add(change, in: row.key.zone, creator: record.created.userRecordName)
    }

    mutating func delete(_ row: StoredRecord) {
        removed.append((row.key, row.created.userRecordName))
    }

    /// Counts a tombstone and its names.
    mutating func addTombstone(_ row: StoredRecord) {
        add(StoredSize(indexBytes: row.indexBytes, tombstones: 1), in: row.key.zone, creator: "")
    }

    /// Subtracts a tombstone, and the counted bytes of its names.
    mutating func removeTombstone(_ row: StoredRecord) {
        removeTombstones(in: row.key.zone, count: 1, nameBytes: row.indexBytes)
    }

    mutating func removeTombstones(in zone: ZoneKey, count: Int64, nameBytes: Int64) {
        add(StoredSize(indexBytes: -nameBytes, tombstones: -count), in: zone, creator: "")
    }

    /// Counts a zone's row that is added (1) or removed (-1). It isn't part of the zone's own usage.
    mutating func countRow(of zone: ZoneKey, _ count: Int64) {
        add(StoredSize(zones: count), to: UsageKey.all(of: zone.database, creator: ""))
    }

    /// Subtracts the whole usage of a zone.
    mutating func clear(_ zone: ZoneRow) {
        add(zone.size.negated, to: UsageKey.all(of: zone.key.database, creator: ""))
    }

    mutating func add(_ change: StoredSize, in zone: ZoneKey, creator: String) {
        add(change, to: UsageKey.all(of: zone.database, creator: creator))
        zones[zone, default: StoredSize()] += change
    }

    private mutating func add(_ change: StoredSize, to keys: [UsageKey]) {
        for key in keys { deltas[key, default: StoredSize()] += change }
    }
}

extension UsageKey {
    /// The public database as a whole.
    static let publicDatabase = UsageKey(scope: .publicDatabase, user: "")

    /// Returns the usage rows that a record of `database` counts to: a private database's owner; in the public one
    /// the creator and the database as a whole.
    static func all(of database: StoredDatabaseKey, creator: String) -> [UsageKey] {
        guard database.scope == .publicDatabase else {
            return [UsageKey(scope: database.scope, user: database.owner)]
        }
        return [UsageKey(scope: .publicDatabase, user: creator), .publicDatabase]
    }
}

extension UsageDeltas {
    /// Adds the changes in the users' usage to `changes`, in their transaction.
    func count(into changes: inout StoreChanges, _ reader: any CloudStoreReader) throws {
        guard !isEmpty else { return }
        var usage = self
        if !usage.removed.isEmpty {
            var wanted = StoreLoad()
            wanted.assets.sizesOf = usage.removed.map(\.key)
            let found = try reader.load(wanted).assets
            for (key, creator) in usage.removed {
                guard let size = found.sizes[key] else { continue }
                usage.add(size.negated, in: key.zone, creator: creator)
            }
        }
        for index in changes.zones.indices {
            changes.zones[index].size += usage.zones[changes.zones[index].key] ?? StoredSize()
        }
        var wanted = StoreLoad()
        wanted.usageOf = usage.deltas.filter { $0.value != StoredSize() }.keys.sorted()
        guard !wanted.usageOf.isEmpty else { return }
        let found = try reader.load(wanted).usage
        changes.usage += wanted.usageOf.map { key in
            var row = found[key] ?? UsageRow(key: key)
            row.size += usage.deltas[key] ?? StoredSize()
            return row
        }
    }
}

extension StoredSize {
    var negated: StoredSize {
        StoredSize(
            records: -records, recordBytes: -recordBytes, assetBytes: -assetBytes, indexBytes: -indexBytes,
            tombstones: -tombstones, zones: -zones)
    }
}

extension [ReferenceRow] {
    /// The sum of the accounted bytes.
    var countedBytes: Int64 { reduce(0) { $0 + $1.countedBytes } }
}

extension [AssetUse] {
    var bytes: Int64 { reduce(0) { $0 + $1.bytes } }
}

extension StoreChanges {
    /// Writes which files a record holds, if that changed.
    mutating func keepAssets(of draft: RecordDraft, key: RecordKey) {
        guard draft.assets != draft.oldAssets else { return }
        assets.append(RecordAssetsRow(key: key, uses: draft.assets))
    }
}

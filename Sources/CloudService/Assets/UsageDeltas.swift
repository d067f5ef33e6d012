import CloudStore
import CloudWire

/// What a write adds to what users have, and takes from it.
struct UsageDeltas: Sendable {
    private(set) var deltas: [UsageKey: StoredSize] = [:]
    /// Records that go, and who has them: their sizes are asked for when all is decided.
    private(set) var removed: [(key: RecordKey, creator: String)] = []
    private(set) var removedZones: [ZoneKey] = []

    var isEmpty: Bool { deltas.isEmpty && removed.isEmpty && removedZones.isEmpty }

    mutating func save(_ draft: RecordDraft, as row: RecordRow) {
        let change = StoredSize(
            records: draft.old == nil ? 1 : 0,
            recordBytes: Int64(row.fields.count - (draft.old?.fields.count ?? 0)),
            assetBytes: draft.assets.bytes - draft.oldAssets.bytes)
        guard change != StoredSize() else { return }
        add(change, to: UsageKey.all(of: row.key.zone.database, creator: row.created.userRecordName))
    }

    mutating func delete(_ row: RecordRow) {
        removed.append((row.key, row.created.userRecordName))
    }

    mutating func clear(_ zones: [ZoneKey]) { removedZones += zones }

    mutating func add(_ change: StoredSize, to keys: [UsageKey]) {
        for key in keys { deltas[key, default: StoredSize()].add(change) }
    }
}

extension UsageKey {
    /// The public database as a whole.
    static let publicDatabase = UsageKey(scope: .publicDatabase, user: "")

    /// Whose usage a record of `database` counts to: a private database's owner, or who made it in the public one, and
    /// the public one as a whole.
    static func all(of database: DatabaseKey, creator: String) -> [UsageKey] {
        guard database.scope == .publicDatabase else {
            return [UsageKey(scope: database.scope, user: database.owner)]
        }
        return [UsageKey(scope: .publicDatabase, user: creator), .publicDatabase]
    }
}

extension CloudService {
    /// Brings the users' usage up to date with what `changes` will do, in their transaction.
    func count(_ usage: UsageDeltas, into changes: inout StoreChanges, _ reader: any CloudStoreReader) throws
    {
        guard !usage.isEmpty else { return }
        var usage = usage
        if !usage.removed.isEmpty || !usage.removedZones.isEmpty {
            var wanted = StoreLoad()
            wanted.assets.sizesOf = usage.removed.map(\.key)
            wanted.assets.zoneSizesOf = usage.removedZones
            let found = try reader.load(wanted).assets
            for (key, creator) in usage.removed {
                guard let size = found.sizes[key] else { continue }
                usage.add(size.negated, to: UsageKey.all(of: key.zone.database, creator: creator))
            }
            for zone in usage.removedZones {
                guard let size = found.zoneSizes[zone] else { continue }
                usage.add(size.negated, to: UsageKey.all(of: zone.database, creator: ""))
            }
        }
        var wanted = StoreLoad()
        wanted.usageOf = usage.deltas.filter { $0.value != StoredSize() }.keys.sorted()
        guard !wanted.usageOf.isEmpty else { return }
        let found = try reader.load(wanted).usage
        changes.usage += wanted.usageOf.map { key in
            var row = found[key] ?? UsageRow(key: key)
            let change = usage.deltas[key] ?? StoredSize()
            row.records += change.records
            row.recordBytes += change.recordBytes
            row.assetBytes += change.assetBytes
            return row
        }
    }
}

extension StoredSize {
    var negated: StoredSize {
        StoredSize(records: -records, recordBytes: -recordBytes, assetBytes: -assetBytes)
    }

    fileprivate mutating func add(_ other: StoredSize) {
        records += other.records
        recordBytes += other.recordBytes
        assetBytes += other.assetBytes
    }
}

extension [AssetUse] {
    var bytes: Int64 { reduce(0) { $0 + $1.bytes } }
}

extension StoreChanges {
    /// Writes which files a record holds from now on, where that changed.
    mutating func keepAssets(of draft: RecordDraft, key: RecordKey) {
        guard draft.assets != draft.oldAssets else { return }
        assets.append(RecordAssetsRow(key: key, uses: draft.assets))
    }
}

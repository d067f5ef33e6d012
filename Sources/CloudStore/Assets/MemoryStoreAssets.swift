extension MemoryTransaction {
    func loadAssets(_ wanted: StoreLoad, into loaded: inout StoreLoaded) {
        for key in wanted.usageOf { loaded.usage[key] = tables.usage[key] }
        for key in wanted.assets.sizesOf {
            guard let row = tables.records[key.zone]?[key.recordName], !row.isDeleted else { continue }
            loaded.assets.sizes[key] = size(of: row)
        }
        for zone in wanted.assets.tombstoneBytesOf {
            loaded.assets.tombstoneBytes[zone] = (tables.records[zone] ?? BucketMap()).values
                .reduce(0) { $1.isDeleted ? $0 + $1.indexBytes : $0 }
        }
        for owned in wanted.assets.owned {
            loaded.assets.owned[owned] =
                tables.assets.lazy
                .filter { $0.key.zone.database == owned.database }
                .flatMap(\.value).first { $0.digest == owned.digest }?.bytes
        }
        if !wanted.assets.digests.isEmpty {
            let used = Set(tables.assets.values.joined().map(\.digest))
            loaded.assets.usedDigests = used.intersection(wanted.assets.digests)
        }
        for name in wanted.assets.secrets { loaded.assets.secrets[name] = tables.secrets[name] }
        if wanted.assets.countsPrivateUsers {
            loaded.assets.privateUsersCount = Int64(
                tables.usage.keys.count { $0.scope == .privateDatabase })
        }
    }

    /// Call it after the records were written.
    func applyAssets(_ changes: StoreChanges) {
        for zone in changes.clearedZones { tables.assets = tables.assets.filter { $0.key.zone != zone } }
        for key in changes.removedRecords { tables.assets[key] = nil }
        for row in changes.records where row.isDeleted { tables.assets[row.key] = nil }
        for row in changes.assets { tables.assets[row.key] = row.uses.isEmpty ? nil : row.uses }
        for row in changes.usage { tables.usage[row.key] = row }
        for row in changes.secrets { tables.secrets[row.name] = row.value }
    }

    private func size(of row: StoredRecord) -> StoredSize {
        StoredSize(
            records: 1, recordBytes: Int64(row.fields.count),
            assetBytes: (tables.assets[row.key] ?? []).reduce(0) { $0 + $1.bytes },
            indexBytes: row.indexBytes)
    }
}

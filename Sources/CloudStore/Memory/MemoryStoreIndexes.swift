/// The index of a type's records in a zone.
struct MemoryIndexPart {
    /// Sorted record names and, for each field and kind, sorted values.
    var positions: [IndexScan.Source: SortedChunks<IndexPosition>] = [:]
    /// Entries by record name.
    var entries = BucketMap<String, [StoredIndexEntry]>()

    mutating func set(_ new: [StoredIndexEntry]?, of name: String) {
        let old = entries[name]
        for entry in IndexEntryBytes.difference(old ?? [], new ?? []) { remove(Self.place(entry, name)) }
        for entry in IndexEntryBytes.difference(new ?? [], old ?? []) { insert(Self.place(entry, name)) }
        let ownName = (IndexScan.Source.names, IndexPosition(value: Array(name.utf8), recordName: name))
        if old == nil && new != nil { insert(ownName) }
        if old != nil && new == nil { remove(ownName) }
        entries[name] = new
    }

    private static func place(_ entry: StoredIndexEntry, _ name: String) -> (IndexScan.Source, IndexPosition)
    {
        (
            .entries(field: entry.field, kind: entry.kind),
            IndexPosition(value: entry.value, recordName: name)
        )
    }

    private mutating func insert(_ place: (source: IndexScan.Source, position: IndexPosition)) {
        positions[place.source, default: SortedChunks()].insert(place.position)
    }

    private mutating func remove(_ place: (source: IndexScan.Source, position: IndexPosition)) {
        positions[place.source]?.remove(place.position)
    }

    /// Returns the range of a scan, as positions in the order of the bytes.
    func found(_ scan: IndexScan) -> Range<Int> {
        guard let all = positions[scan.source] else { return 0..<0 }
        var first = all.firstIndex { !$0.value.lexicographicallyPrecedes(scan.lower) }
        var end = all.count
        if let upper = scan.upper {
            end = all.firstIndex { !$0.value.lexicographicallyPrecedes(upper) }
        }
        if let after = scan.after {
            if scan.isDescending {
                end = min(end, all.firstIndex { !($0 < after) })
            } else {
                first = max(first, all.firstIndex { after < $0 })
            }
        }
        return first..<max(first, end)
    }
}

extension MemoryTransaction {
    func find(_ scan: IndexScan) throws -> ChangesPage<IndexHit> {
        var page = ChangesPage<IndexHit>(rows: [], moreComing: false)
        guard let part = tables.indexParts[IndexPartKey(zone: scan.zone, recordType: scan.recordType)] else {
            return page
        }
        var bytes = 0
        let records = scan.withRecords ? tables.records[scan.zone] : nil
        part.positions[scan.source]?.elements(part.found(scan), isDescending: scan.isDescending) { position in
            guard page.rows.count < scan.rowsMax, bytes < scan.bytesMax else {
                page.moreComing = true
                return false
            }
            let record = records?[position.recordName]
            if scan.withRecords && record == nil { return true }
            bytes += record?.fields.count ?? 0
            page.rows.append(IndexHit(position: position, record: record))
            return true
        }
        return page
    }

    func count(_ scan: IndexScan, max: Int) throws -> Int {
        let part = tables.indexParts[IndexPartKey(zone: scan.zone, recordType: scan.recordType)]
        return min(max, part?.found(scan).count ?? 0)
    }

    func records(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord> {
        let keys = tables.indexParts.filter { $0.key.recordType == recordType }
            .flatMap { key, part in part.entries.keys.map { RecordKey(zone: key.zone, recordName: $0) } }
            .filter { key in after.map { $0 < key } ?? true }
            .sorted()
        var page = ChangesPage<StoredRecord>(rows: [], moreComing: false)
        var bytes = 0
        for key in keys {
            guard let record = tables.records[key.zone]?[key.recordName] else { continue }
            guard page.rows.count < recordsMax, bytes < bytesMax else {
                page.moreComing = true
                break
            }
            page.rows.append(record)
            bytes += record.fields.count
        }
        return page
    }

    func entries(of key: RecordKey, recordType: String) throws -> [StoredIndexEntry]? {
        tables.indexParts[IndexPartKey(zone: key.zone, recordType: recordType)]?.entries[key.recordName]
    }

    func indexWork(typesMax: Int) throws -> [IndexWorkRow] {
        Array(tables.indexWork.values.sorted { $0.recordType < $1.recordType }.prefix(typesMax))
    }

    func loadIndexWork(_ wanted: StoreLoad, into loaded: inout StoreLoaded) {
        for type in wanted.indexWorkOf { loaded.indexWork[type] = tables.indexWork[type] }
    }

    /// Call it before the records are written, while deleted records still exist.
    func applyIndexes(_ changes: StoreChanges) {
        for zone in changes.clearedZones {
            tables.indexParts = tables.indexParts.filter { $0.key.zone != zone }
        }
        for key in changes.removedRecords {
            guard let recordType = tables.records[key.zone]?[key.recordName]?.recordType else { continue }
            dropEntries(of: key, recordType: recordType)
        }
        for row in changes.records where row.isDeleted {
            dropEntries(of: row.key, recordType: row.recordType)
        }
        for row in changes.indexes {
            let key = IndexPartKey(zone: row.key.zone, recordType: row.recordType)
            tables.indexParts[key, default: MemoryIndexPart()].set(row.entries, of: row.key.recordName)
            tables.records[row.key.zone]?[row.key.recordName]?.indexBytes = row.countedBytes
        }
        for row in changes.indexWork { tables.indexWork[row.recordType] = row.content.isEmpty ? nil : row }
    }

    private func dropEntries(of key: RecordKey, recordType: String) {
        tables.indexParts[IndexPartKey(zone: key.zone, recordType: recordType)]?.set(nil, of: key.recordName)
    }
}

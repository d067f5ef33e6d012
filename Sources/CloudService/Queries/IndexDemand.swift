import CloudStore

/// The index entries that a record must have by the schema, except those of pending work.
package struct IndexDemand {
    private static let recordsMax = 500
    private static let bytesMax = 4 << 20

    private let schema: Schema
    private let work: [String: IndexWork]

    /// - Throws: `BinaryError` if the stored work can't be read.
    package init(schema: Schema, work rows: [IndexWorkRow]) throws {
        self.schema = schema
        work = try Dictionary(rows.map { ($0.recordType, try IndexWork($0)) }) { first, _ in first }
    }

    /// Returns true if `entries` are exactly the entries that the record must have.
    package func isMet(by entries: [StoredIndexEntry], of row: StoredRecord) -> Bool {
        // An unreadable record can't be found by its fields.
        let subject = (try? QuerySubject(row: row)) ?? QuerySubject(row: row, fields: [:])
        let wanted = IndexEntries.row(subject, schema).entries
        guard entries != wanted, let work = work[row.recordType], work.isToCome(row.key),
            let type = schema.recordTypes[row.recordType]
        else { return entries == wanted }
        let finished = Set(IndexPiece.all(of: type).keys).subtracting(work.missing)
        return entries.filter { finished.contains(IndexPiece($0)) }
            == wanted.filter { finished.contains(IndexPiece($0)) }
    }

    /// Returns the number of records of a store whose entries differ from the schema's.
    ///
    /// - Throws: `CloudStoreError`, or the error of reading the schema or the pending work.
    package static func unmetCount(in reader: any CloudStoreReader) throws -> Int {
        var wanted = StoreLoad()
        wanted.schema = true
        let schema = try reader.load(wanted).schema.map { try Schema($0) } ?? .initial
        let demand = try IndexDemand(schema: schema, work: try reader.indexWork(typesMax: .max))
        var count = 0
        for recordType in schema.recordTypes.keys.sorted() {
            var after: RecordKey?
            repeat {
                let page = try reader.records(
                    ofType: recordType, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
                for row in page.rows {
                    let entries = try reader.entries(of: row.key, recordType: recordType) ?? []
                    if !demand.isMet(by: entries, of: row) { count += 1 }
                }
                after = page.moreComing ? page.rows.last?.key : nil
            } while after != nil
        }
        return count
    }
}

extension IndexWork {
    /// Returns true if the work may not have processed the record yet.
    fileprivate func isToCome(_ key: RecordKey) -> Bool { position.map { $0 < key } ?? true }
}

extension IndexPiece {
    /// The piece that the entry belongs to.
    fileprivate init(_ entry: StoredIndexEntry) {
        switch entry.kind {
        case .word: self.init(field: entry.field, kind: .words)
        case .order where entry.value == QuerySortKey.noValue: self.init(field: entry.field, kind: .nulls)
        case .order, .value, .place: self.init(field: entry.field, kind: .values)
        }
    }
}

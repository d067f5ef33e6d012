import CloudStore
import CloudWire

/// Limits for the index entries of a request. Each entry is one or two rows, written while all other writes
/// wait.
extension IndexEntries {
    /// Returns the number of entries of each field that can have many. Counting stops above `most`, since a record
    /// may have a thousand words in each of hundreds of fields.
    static func counts(
        _ subject: QuerySubject, in type: RecordType, upTo most: Int
    ) -> [(field: String, count: Int)] {
        var counts: [(field: String, count: Int)] = []
        var total = 0
        for field in QueryField.indexed(of: type) where total <= most {
            let count = count(of: field, subject)
            if count > 0 { counts.append((field.name, count)) }
            total += count
        }
        return counts
    }

    private static func count(of field: QueryField, _ subject: QuerySubject) -> Int {
        let words = field.indexes.contains(.searchable) ? subject.words(of: field).count : 0
        guard !field.indexes.isDisjoint(with: [.queryable, .sortable]) else { return words }
        return words + (kind(of: field) == .value ? subject.elementSet(of: field).count : 1)
    }
}

extension ServiceLimits {
    /// Rejects a record with more index entries than allowed.
    func checkIndexEntries(
        of subject: @autoclosure () -> QuerySubject, bytes: Int, in type: RecordType
    ) throws(WireError) {
        // An entry takes at least one byte of the record, or is the only entry of its field.
        guard bytes + type.fields.count + SystemField.allCases.count > indexEntriesMax else { return }
        let counts = IndexEntries.counts(subject(), in: type, upTo: indexEntriesMax)
        let total = counts.reduce(0) { $0 + $1.count }
        guard total > indexEntriesMax, let most = counts.max(by: { $0.count < $1.count }) else { return }
        throw ServiceError.limitExceeded(
            "the record would have \(total) index entries or more, \(most.count) of them for field "
                + "'\(most.field)'; \(indexEntriesMax) are allowed")
    }

    /// Returns an upper bound for the accounted size of the names, index entries, references and files of a
    /// request's records.
    ///
    /// - Parameter schema: the schema including the additions of the records.
    func indexBytesMax(of drafts: [RecordDraft], _ schema: Schema) -> Int64 {
        let entries = drafts.reduce(0) { sum, draft in
            // An entry takes at least one byte of the record, or is the only entry of its field.
            let fields =
                (schema.recordTypes[draft.recordType]?.fields.count ?? 0) + SystemField.allCases.count
            return sum + min(indexEntriesMax, draft.fieldBytes.count + fields)
        }
        let longest = StoredIndexEntry.countedBytes(
            fieldBytes: nameBytesMax, valueBytes: max(2 * nameBytesMax, OrderedBytes.indexedBytesMax) + 16,
            nameBytes: nameBytesMax)
        let key = longestKey
        let (names, file) = (key.countedNameBytes(recordType: key.recordName), key.countedFileBytes)
        return drafts.reduce(Int64(entries) * longest) {
            $0 + $1.references.countedBytes + names + Int64($1.assets.count) * file
        }
    }

    /// A key with each component at its maximum length.
    private var longestKey: RecordKey {
        let name = String(repeating: "n", count: nameBytesMax)
        return RecordKey(
            zone: ZoneKey(database: .privateDatabase(of: name), zoneName: name), recordName: name)
    }

    /// Rejects a request if its records have more index entries in total than allowed.
    func checkIndexEntries(of drafts: [(key: RecordKey, draft: RecordDraft)], _ schema: Schema) throws {
        guard drafts.reduce(0, { $0 + $1.draft.fieldBytes.count }) > indexEntriesOfRequestMax else { return }
        var total = 0
        for (key, draft) in drafts {
            guard let type = schema.recordTypes[draft.recordType] else { continue }
            total += IndexEntries.counts(draft.subject(key), in: type, upTo: indexEntriesOfRequestMax - total)
                .reduce(0) { $0 + $1.count }
            guard total <= indexEntriesOfRequestMax else {
                throw ServiceError.limitExceeded(
                    "the records of the request would have more than \(indexEntriesOfRequestMax) index entries"
                )
            }
        }
    }
}

extension RecordDraft {
    /// Returns the record before it has a version.
    func subject(_ key: RecordKey) -> QuerySubject {
        QuerySubject(key: key, recordType: recordType, fields: fields)
    }
}

extension QuerySubject {
    /// A record that isn't written yet. Only its fields matter.
    init(key: RecordKey, recordType: String, fields: [String: Field]) {
        let stamp = StoreStamp(timestampMilliseconds: 0, userRecordName: "", deviceID: "")
        self.init(
            row: StoredRecord(
                key: key, recordType: recordType, tagEpoch: 0, counter: 0, created: stamp, modified: stamp,
                fields: []),
            fields: fields)
    }
}

import CloudStore
import CloudWire

/// How many index entries the records of a request bring. Each is a row or two, and all are written while everybody
/// else's writes wait.
extension IndexEntries {
    /// How many entries fields bring, by field: for what can have many. Counts no further once there are more than
    /// `most`: a record has a thousand words in each of hundreds of fields.
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
    /// Rejects a record that would have more index entries than it may.
    func checkIndexEntries(
        of subject: @autoclosure () -> QuerySubject, bytes: Int, in type: RecordType
    ) throws(WireError) {
        // An entry takes a byte of the record, or is its field's only one.
        guard bytes + type.fields.count + SystemField.allCases.count > indexEntriesMax else { return }
        let counts = IndexEntries.counts(subject(), in: type, upTo: indexEntriesMax)
        let total = counts.reduce(0) { $0 + $1.count }
        guard total > indexEntriesMax, let most = counts.max(by: { $0.count < $1.count }) else { return }
        throw ServiceError.limitExceeded(
            "the record would have \(total) index entries or more, \(most.count) of them for field "
                + "'\(most.field)'; \(indexEntriesMax) are allowed")
    }

    /// The most that names, index entries, and the rows of references and files of a request's records can count as.
    ///
    /// - Parameter schema: with what the records add to it.
    func indexBytesMax(of drafts: [RecordDraft], _ schema: Schema) -> Int64 {
        let entries = drafts.reduce(0) { sum, draft in
            // An entry takes a byte of the record, or is its field's only one.
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

    /// A record's key of which no part can be longer.
    private var longestKey: RecordKey {
        let name = String(repeating: "n", count: nameBytesMax)
        return RecordKey(
            zone: ZoneKey(database: .privateDatabase(of: name), zoneName: name), recordName: name)
    }

    /// Rejects a request with more index entries over all records than allowed.
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
    /// The record before it has a version.
    func subject(_ key: RecordKey) -> QuerySubject {
        QuerySubject(key: key, recordType: recordType, fields: fields)
    }
}

extension QuerySubject {
    /// A record that isn't written yet, of which only the fields count.
    init(key: RecordKey, recordType: String, fields: [String: Field]) {
        let stamp = StoreStamp(timestampMilliseconds: 0, userRecordName: "", deviceID: "")
        self.init(
            row: StoredRecord(
                key: key, recordType: recordType, tagEpoch: 0, counter: 0, created: stamp, modified: stamp,
                fields: []),
            fields: fields)
    }
}

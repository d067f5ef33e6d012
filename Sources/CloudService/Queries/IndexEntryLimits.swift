import CloudStore
import CloudWire

/// How many index entries the records of a request bring. Each is a row or two, and all are written while everybody
/// else's writes wait.
extension IndexEntries {
    /// How many entries fields bring, by field: for what can have many.
    static func counts(_ subject: QuerySubject, in type: RecordType) -> [(field: String, count: Int)] {
        QueryField.indexed(of: type).compactMap { field in
            var count = 0
            if field.indexes.contains(.searchable) { count += subject.words(of: field).count }
            if !field.indexes.isDisjoint(with: [.queryable, .sortable]) {
                count += kind(of: field) == .value ? subject.elementSet(of: field).count : 1
            }
            return count == 0 ? nil : (field.name, count)
        }
    }
}

extension ServiceLimits {
    /// Refuses a record that would have more index entries than it may.
    func checkIndexEntries(
        of subject: @autoclosure () -> QuerySubject, bytes: Int, in type: RecordType
    ) throws(WireError) {
        // An entry takes a byte of the record, or is its field's only one.
        guard bytes + type.fields.count + SystemField.allCases.count > indexEntriesMax else { return }
        let counts = IndexEntries.counts(subject(), in: type)
        let total = counts.reduce(0) { $0 + $1.count }
        guard total > indexEntriesMax, let most = counts.max(by: { $0.count < $1.count }) else { return }
        throw ServiceError.limitExceeded(
            "the record would have \(total) index entries, \(most.count) of them for field '\(most.field)'; "
                + "\(indexEntriesMax) are allowed")
    }

    /// Refuses a request whose records together would have more than a request may.
    func checkIndexEntries(of drafts: [(key: RecordKey, draft: RecordDraft)], _ schema: Schema) throws {
        guard drafts.reduce(0, { $0 + $1.draft.fieldBytes.count }) > indexEntriesOfRequestMax else { return }
        var total = 0
        for (key, draft) in drafts {
            guard let type = schema.recordTypes[draft.recordType] else { continue }
            total += IndexEntries.counts(draft.subject(key), in: type).reduce(0) { $0 + $1.count }
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
            row: RecordRow(
                key: key, recordType: recordType, tagEpoch: 0, counter: 0, created: stamp, modified: stamp,
                fields: []),
            fields: fields)
    }
}

import CloudStore
import CloudWire

/// Computes the index entries of a record from the record and its type.
enum IndexEntries {
    /// Returns all entries of a record, sorted.
    ///
    /// A field with a value has an entry if it is queryable or sortable. A field without a value has one only
    /// if it is sortable. A list has one entry for each element, a location has one for its place, and a
    /// searchable text has one for each word.
    static func of(_ subject: QuerySubject, in type: RecordType) -> [StoredIndexEntry] {
        var entries = Set<StoredIndexEntry>()
        for field in QueryField.indexed(of: type) where field.system != .recordID {
            add(field, subject, to: &entries)
        }
        return entries.sorted()
    }

    /// Returns the kind of entry for the values of a queryable field.
    static func kind(of field: QueryField) -> StoredIndexEntry.Kind {
        field.type.isList ? .value : field.type == .location ? .place : .order
    }

    private static func add(
        _ field: QueryField, _ subject: QuerySubject, to entries: inout Set<StoredIndexEntry>
    ) {
        func add(_ kind: StoredIndexEntry.Kind, _ value: [UInt8]) {
            entries.insert(StoredIndexEntry(field: field.name, kind: kind, value: value))
        }
        if field.indexes.contains(.searchable) {
            for word in subject.words(of: field) { add(.word, OrderedBytes.text(word)) }
        }
        guard !field.indexes.isDisjoint(with: [.queryable, .sortable]) else { return }
        var hasValue = false
        switch kind(of: field) {
        case .value:
            for element in subject.elements(of: field) {
                add(.value, Array(element.prefix(OrderedBytes.indexedBytesMax)))
            }
            return
        case .place:
            if let place = subject.place(of: field) {
                add(.place, EarthCell.bytes(of: place))
                hasValue = true
            }
        case .order, .word:
            hasValue = subject.value(of: field) != nil
            if hasValue { add(.order, QuerySortKey.orderBytes(of: field, subject)) }
        }
        if !hasValue && field.indexes.contains(.sortable) { add(.order, QuerySortKey.noValue) }
    }
}

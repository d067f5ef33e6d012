/// An index entry of a record: one value of one of its fields.
///
/// The service encodes the values so that their bytes sort as the values do. The store only compares bytes.
package struct StoredIndexEntry: Hashable, Comparable, Sendable {
    /// Kind of the value. The raw value is stored on disk.
    package enum Kind: Int64, Hashable, Comparable, Sendable {
        /// An element of the field's list, for equality.
        case value = 1
        /// The field's value, for equality, ranges and sorting. Records without a value have a place in the order.
        case order = 2
        /// A word in the field.
        case word = 3
        /// The cell of the earth's surface that contains the field's location.
        case place = 4

        /// Sorts by the raw value, as the keys on disk are sorted.
        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    /// Name of the field, or of a system field (`___createTime`).
    package let field: String
    /// Kind of the value.
    package let kind: Kind
    /// Encoded value.
    package let value: [UInt8]

    /// Makes an entry.
    package init(field: String, kind: Kind, value: [UInt8]) {
        self.field = field
        self.kind = kind
        self.value = value
    }

    /// Bytes of the entry in the usage of its user. It is on the disk with the record's name, and a second time in the
    /// record's row of entries.
    ///
    /// - Parameter nameBytes: Bytes of the record's name.
    package func countedBytes(nameBytes: Int) -> Int64 {
        Self.countedBytes(
            fieldBytes: field.utf8.count, valueBytes: value.count, nameBytes: nameBytes)
    }

    /// Returns the bytes of an entry from the sizes of its parts.
    package static func countedBytes(fieldBytes: Int, valueBytes: Int, nameBytes: Int) -> Int64 {
        Int64(2 * (fieldBytes + valueBytes) + nameBytes + rowBytes)
    }

    /// Bytes of the two rows without their values: numbers, SQLite's headers, and unused space in pages.
    static let rowBytes = 48

    /// Sorts by field, kind and bytes, as the keys on disk are sorted.
    package static func < (left: StoredIndexEntry, right: StoredIndexEntry) -> Bool {
        if left.field != right.field {
            return left.field.utf8.lexicographicallyPrecedes(right.field.utf8)
        }
        if left.kind != right.kind { return left.kind < right.kind }
        return left.value.lexicographicallyPrecedes(right.value)
    }
}

/// All index entries of a record. They replace its previous entries. Deleting a record deletes its entries.
package struct RecordIndexRow: Hashable, Sendable {
    /// The record.
    package let key: RecordKey
    /// The record's type; the entries are found in its index.
    package let recordType: String
    /// The entries, sorted.
    package var entries: [StoredIndexEntry]
    /// Bytes of the rows of the record's references and files. See `ReferenceRow.countedBytes` and
    /// `RecordKey.countedFileBytes`.
    package let linkBytes: Int64

    /// Bytes of the record's names, entries, references and rows of files in the usage of its user.
    package var countedBytes: Int64 {
        let nameBytes = key.recordName.utf8.count
        return entries.reduce(key.countedNameBytes(recordType: recordType) + linkBytes) {
            $0 + $1.countedBytes(nameBytes: nameBytes)
        }
    }

    /// Makes a row.
    package init(key: RecordKey, recordType: String, entries: [StoredIndexEntry], linkBytes: Int64 = 0) {
        self.key = key
        self.recordType = recordType
        self.entries = entries
        self.linkBytes = linkBytes
    }
}

/// A scan of an index: the records of a type in a zone.
///
/// Sorted by the bytes of the values, and by the names for equal values. A descending scan has the reverse order.
package struct IndexScan: Sendable {
    /// The index.
    package enum Source: Hashable, Sendable {
        /// The record names of the type: the values are the names.
        case names
        /// The entries of one kind of a field.
        case entries(field: String, kind: StoredIndexEntry.Kind)
    }

    /// The zone.
    package let zone: ZoneKey
    /// The type.
    package let recordType: String
    /// The index.
    package let source: Source
    /// First value, included.
    package var lower: [UInt8] = []
    /// End of the values, not included. Nil for no end.
    package var upper: [UInt8]?
    /// True to start with the last value.
    package var isDescending = false
    /// Position after which the scan starts, or nil for the first page.
    package var after: IndexPosition?
    /// True to load the records' rows too.
    package var withRecords = false
    /// Maximum number of entries.
    package var rowsMax: Int
    /// Bytes of fields after which the result ends, with a whole record.
    package var bytesMax = Int.max

    /// Makes a scan over all entries of `source`.
    package init(zone: ZoneKey, recordType: String, source: Source, rowsMax: Int) {
        self.zone = zone
        self.recordType = recordType
        self.source = source
        self.rowsMax = rowsMax
    }
}

/// A position in an index.
package struct IndexPosition: Hashable, Comparable, Sendable {
    /// The value.
    package let value: [UInt8]
    /// The name of the record.
    package let recordName: String

    /// Makes a position.
    package init(value: [UInt8], recordName: String) {
        self.value = value
        self.recordName = recordName
    }

    /// Orders by the value's bytes, then the name's.
    package static func < (left: IndexPosition, right: IndexPosition) -> Bool {
        if left.value != right.value { return left.value.lexicographicallyPrecedes(right.value) }
        return left.recordName.utf8.lexicographicallyPrecedes(right.recordName.utf8)
    }
}

/// An entry that a scan has found.
package struct IndexHit: Sendable {
    /// Position of the entry.
    package let position: IndexPosition
    /// The record, if the scan loads rows.
    package let record: StoredRecord?

    /// Makes a hit.
    package init(position: IndexPosition, record: StoredRecord? = nil) {
        self.position = position
        self.record = record
    }
}

/// The pending work on the indexes of a type, until all its records have the entries that the schema requires.
package struct IndexWorkRow: Hashable, Sendable {
    /// The type.
    package let recordType: String
    /// Missing indexes and progress, in the service's encoding. Empty when the work is done, which deletes the row.
    package var content: [UInt8]

    /// Makes a row.
    package init(recordType: String, content: [UInt8]) {
        self.recordType = recordType
        self.content = content
    }
}

/// By what a record is found: one value of one of its fields.
///
/// Values are made by the service, so that their bytes order as the values do; the store compares bytes.
public struct StoredIndexEntry: Hashable, Comparable, Sendable {
    /// What the bytes stand for. The raw value is what stands on disk.
    public enum Kind: Int64, Hashable, Comparable, Sendable {
        /// An element of the field's list, for finding.
        case value = 1
        /// The field's value, for finding, for ranges and for ordering, in which those without a value have a place.
        case order = 2
        /// A word in the field.
        case word = 3
        /// The part of the earth in which the field's place lies.
        case place = 4

        /// Orders by the raw value, as the keys on disk are ordered.
        public static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    /// The field's name, or a system field's (`___createTime`).
    public let field: String
    /// What the bytes stand for.
    public let kind: Kind
    /// The bytes.
    public let value: [UInt8]

    /// Makes an entry.
    public init(field: String, kind: Kind, value: [UInt8]) {
        self.field = field
        self.kind = kind
        self.value = value
    }

    /// Bytes that the entry counts as in its user's usage: it lies on the disk with the record's name, and once more
    /// beside the record.
    ///
    /// - Parameter nameBytes: bytes of the record's name.
    public func countedBytes(nameBytes: Int) -> Int64 {
        Self.countedBytes(
            fieldBytes: field.utf8.count, valueBytes: value.count, nameBytes: nameBytes)
    }

    /// The same for an entry of which only the sizes are known.
    public static func countedBytes(fieldBytes: Int, valueBytes: Int, nameBytes: Int) -> Int64 {
        Int64(2 * (fieldBytes + valueBytes) + nameBytes + rowBytes)
    }

    /// Bytes of two rows beside their values: the numbers, SQLite's headers, and pages that aren't full.
    static let rowBytes = 48

    /// Orders by field, kind, bytes, as the keys on disk are ordered.
    public static func < (left: StoredIndexEntry, right: StoredIndexEntry) -> Bool {
        if left.field != right.field {
            return left.field.utf8.lexicographicallyPrecedes(right.field.utf8)
        }
        if left.kind != right.kind { return left.kind < right.kind }
        return left.value.lexicographicallyPrecedes(right.value)
    }
}

/// All entries of a record: they take the place of those it had. A record that goes loses them by itself.
public struct RecordIndexRow: Hashable, Sendable {
    /// The record.
    public let key: RecordKey
    /// The record's type, in which it is found.
    public let recordType: String
    /// The entries, sorted.
    public var entries: [StoredIndexEntry]
    /// Bytes that the rows of the record's references and files count as. See `ReferenceRow.countedBytes` and
    /// `RecordKey.countedFileBytes`.
    public let linkBytes: Int64

    /// Bytes that the record's names, its entries, references and files' rows count as.
    public var countedBytes: Int64 {
        let nameBytes = key.recordName.utf8.count
        return entries.reduce(key.countedNameBytes(recordType: recordType) + linkBytes) {
            $0 + $1.countedBytes(nameBytes: nameBytes)
        }
    }

    /// Makes a row.
    public init(key: RecordKey, recordType: String, entries: [StoredIndexEntry], linkBytes: Int64 = 0) {
        self.key = key
        self.recordType = recordType
        self.entries = entries
        self.linkBytes = linkBytes
    }
}

/// Which records of a type in a zone are wanted, by an index.
///
/// The order is that of the values' bytes, and of the names where values are equal; the other way round when it is
/// descending.
public struct IndexScan: Sendable {
    /// The index.
    public enum Source: Hashable, Sendable {
        /// The names of the type's records: the values are the names.
        case names
        /// The entries of a kind of a field.
        case entries(field: String, kind: StoredIndexEntry.Kind)
    }

    /// The zone.
    public let zone: ZoneKey
    /// The type.
    public let recordType: String
    /// The index.
    public let source: Source
    /// No value lies before these bytes.
    public var lower: [UInt8] = []
    /// All values lie before these bytes; nil: there is no end.
    public var upper: [UInt8]?
    /// Whether the last comes first.
    public var isDescending = false
    /// Only what lies behind this place in the scan's order.
    public var after: IndexPosition?
    /// Whether the records' rows are wanted too.
    public var withRecords = false
    /// Entries at most.
    public var rowsMax: Int
    /// The answer ends with the record whose fields cross this many bytes.
    public var bytesMax = Int.max

    /// Makes a question for all entries of `source`.
    public init(zone: ZoneKey, recordType: String, source: Source, rowsMax: Int) {
        self.zone = zone
        self.recordType = recordType
        self.source = source
        self.rowsMax = rowsMax
    }
}

/// A place in an index.
public struct IndexPosition: Hashable, Comparable, Sendable {
    /// The value.
    public let value: [UInt8]
    /// The name of the record.
    public let recordName: String

    /// Makes a place.
    public init(value: [UInt8], recordName: String) {
        self.value = value
        self.recordName = recordName
    }

    /// Orders by the value's bytes, then the name's.
    public static func < (left: IndexPosition, right: IndexPosition) -> Bool {
        if left.value != right.value { return left.value.lexicographicallyPrecedes(right.value) }
        return left.recordName.utf8.lexicographicallyPrecedes(right.recordName.utf8)
    }
}

/// An entry that a scan has found.
public struct IndexHit: Sendable {
    /// Where it stands.
    public let position: IndexPosition
    /// The record, when it was wanted.
    public let record: StoredRecord?

    /// Makes a hit.
    public init(position: IndexPosition, record: StoredRecord? = nil) {
        self.position = position
        self.record = record
    }
}

/// What is left to do on the indexes of a type until all its records have the entries that its schema asks for.
public struct IndexWorkRow: Hashable, Sendable {
    /// The type.
    public let recordType: String
    /// What is missing, and how far it has come, as the service keeps it; empty when it is done, and the row goes.
    public var content: [UInt8]

    /// Makes a row.
    public init(recordType: String, content: [UInt8]) {
        self.recordType = recordType
        self.content = content
    }
}

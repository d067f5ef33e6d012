/// By what a record is found: one value of one of its fields.
///
/// Values are made by the service, so that their bytes order as the values do; the store compares bytes.
public struct IndexEntry: Hashable, Comparable, Sendable {
    /// What the bytes stand for. The raw value is what stands on disk.
    public enum Kind: Int64, Hashable, Comparable, Sendable {
        /// The field's value, or one element of its list: for finding and for ranges.
        case value = 1
        /// The field's value for ordering, also when the record has none.
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

    /// Orders by field, kind, bytes, as the keys on disk are ordered.
    public static func < (left: IndexEntry, right: IndexEntry) -> Bool {
        if left.field != right.field { return left.field < right.field }
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
    public var entries: [IndexEntry]

    /// Makes a row.
    public init(key: RecordKey, recordType: String, entries: [IndexEntry]) {
        self.key = key
        self.recordType = recordType
        self.entries = entries
    }
}

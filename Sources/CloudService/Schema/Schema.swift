import CloudWire

/// The schema of an environment: record types with their fields, indexes and permissions.
///
/// A value type. `SchemaLanguage` is its text form.
public struct Schema: Hashable, Sendable {
    /// The record types by name.
    public var recordTypes: [String: RecordType] = [:]
    /// The custom roles, without the three system roles.
    public var roles: Set<String> = []

    /// Makes an empty schema.
    public init() {}
}

/// A record type of a schema.
public struct RecordType: Hashable, Sendable {
    /// The fields by name.
    public var fields: [String: FieldDefinition] = [:]
    /// The indexes of the system fields, by their names in the schema (`___recordID`).
    public var systemIndexes: [String: FieldIndexes] = [:]
    /// The permissions of each role in the public database, by role name.
    public var grants: [String: Permissions] = [:]

    /// Makes a type without fields, indexes and grants.
    public init() {}
}

/// A field of a record type.
public struct FieldDefinition: Hashable, Sendable {
    /// The type of the values.
    package var type: FieldType
    /// True if the values are encrypted. They are stored unchanged and never indexed.
    public var isEncrypted: Bool
    /// True if the type is an undecided number, since the field was added by saving one (`NUMBER`).
    public var isNumber: Bool
    /// The field's indexes.
    public var indexes: FieldIndexes

    /// Makes a field.
    package init(
        _ type: FieldType, isEncrypted: Bool = false, isNumber: Bool = false, indexes: FieldIndexes = []
    ) {
        self.type = type
        self.isEncrypted = isEncrypted
        self.isNumber = isNumber
        self.indexes = indexes
    }
}

/// The indexes of a field.
public struct FieldIndexes: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Records can be found by the field's exact value: `QUERYABLE`.
    public static let queryable = FieldIndexes(rawValue: 1)
    /// Records can be found by ranges of values and sorted by the field: `SORTABLE`.
    public static let sortable = FieldIndexes(rawValue: 2)
    /// Records can be found by words of the field: `SEARCHABLE`.
    public static let searchable = FieldIndexes(rawValue: 4)
}

/// Permissions of a role on records of a type.
public struct Permissions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Read records: `READ`.
    public static let read = Permissions(rawValue: 1)
    /// Create records: `CREATE`.
    public static let create = Permissions(rawValue: 2)
    /// Change and delete records: `WRITE`.
    public static let write = Permissions(rawValue: 4)
}

/// The system roles, which every schema has.
public enum SystemRole {
    /// Everyone, with or without an account.
    public static let world = "_world"
    /// Every signed-in user.
    public static let signedIn = "_icloud"
    /// The creator of the record.
    public static let creator = "_creator"
}

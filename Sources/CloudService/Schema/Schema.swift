public import CloudWire

/// The schema of an environment: record types with their fields, indexes and permissions.
///
/// A value: a change makes another one. `SchemaLanguage` is its text form.
public struct Schema: Hashable, Sendable {
    /// The record types by name.
    public var recordTypes: [String: RecordType] = [:]
    /// The custom roles, without the three that every schema has.
    public var roles: Set<String> = []

    /// A schema that knows nothing yet.
    public init() {}
}

/// A record type of a schema.
public struct RecordType: Hashable, Sendable {
    /// The fields by name.
    public var fields: [String: FieldDefinition] = [:]
    /// The indexes of the fields that every record has, by their names in the schema (`___recordID`).
    public var systemIndexes: [String: FieldIndexes] = [:]
    /// What each role may do in the public database, by the role's name.
    public var grants: [String: Permissions] = [:]

    /// A type without fields, indexes and grants.
    public init() {}
}

/// A field of a record type.
public struct FieldDefinition: Hashable, Sendable {
    /// What the field holds.
    public var type: FieldType
    /// True if its values are encrypted: kept as they come, and never indexed.
    public var isEncrypted: Bool
    /// True if the type is an undecided number: the field was made by saving one (`NUMBER`).
    public var isNumber: Bool
    /// The field's indexes.
    public var indexes: FieldIndexes

    /// Makes a field.
    public init(
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

    /// Records can be found by the field's value: `QUERYABLE`.
    public static let queryable = FieldIndexes(rawValue: 1)
    /// Records can be found by a range of values, and ordered by them: `SORTABLE`.
    public static let sortable = FieldIndexes(rawValue: 2)
    /// Records can be found by the words in the field: `SEARCHABLE`.
    public static let searchable = FieldIndexes(rawValue: 4)
}

/// What a role may do with the records of a type.
public struct Permissions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reading: `READ`.
    public static let read = Permissions(rawValue: 1)
    /// Making new ones: `CREATE`.
    public static let create = Permissions(rawValue: 2)
    /// Changing and deleting: `WRITE`.
    public static let write = Permissions(rawValue: 4)
}

/// The roles that every schema has.
public enum SystemRole {
    /// Everybody, with or without an account.
    public static let world = "_world"
    /// Every signed-in user.
    public static let signedIn = "_icloud"
    /// The creator of the record.
    public static let creator = "_creator"
}

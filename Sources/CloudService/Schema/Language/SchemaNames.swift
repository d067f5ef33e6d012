import CloudWire

/// Names of types in the schema language.
enum SchemaTypeNames {
    static let plain: [(name: String, type: FieldType)] = [
        ("ASSET", .asset), ("BYTES", .bytes), ("DOUBLE", .double), ("INT64", .int64),
        ("LOCATION", .location), ("REFERENCE", .reference), ("STRING", .string), ("TIMESTAMP", .timestamp),
    ]
    static let encrypted: [(name: String, type: FieldType)] = [
        ("BYTES", .encryptedBytes), ("STRING", .string), ("DOUBLE", .double), ("INT64", .int64),
        ("LOCATION", .location), ("TIMESTAMP", .timestamp),
    ]

    static func list(_ names: [(name: String, type: FieldType)]) -> String {
        names.map(\.name).joined(separator: ", ")
    }
}

extension FieldIndexes {
    /// Keywords of the schema language, in the order in which they are printed.
    static let names: [(name: String, index: FieldIndexes)] = [
        ("QUERYABLE", .queryable), ("SEARCHABLE", .searchable), ("SORTABLE", .sortable),
    ]

    /// The keywords, such as `QUERYABLE SORTABLE`.
    var text: String { Self.names.filter { contains($0.index) }.map(\.name).joined(separator: " ") }
}

extension Permissions {
    /// Keywords of the schema language, in the order in which they are printed.
    static let names: [(name: String, permission: Permissions)] = [
        ("READ", .read), ("CREATE", .create), ("WRITE", .write),
    ]

    /// The keywords, such as `READ, WRITE`.
    var text: String {
        Self.names.filter { contains($0.permission) }.map(\.name).joined(separator: ", ")
    }
}

extension FieldDefinition {
    /// The type in the schema language, such as `LIST<ENCRYPTED STRING>`.
    public var typeName: String {
        let element = type.elementType ?? type
        var name =
            SchemaTypeNames.plain.first { $0.type == element }?.name
            ?? SchemaTypeNames.encrypted.first { $0.type == element }?.name ?? element.rawValue
        if isNumber { name = "NUMBER PREFERRED AS \(name)" }
        if isEncrypted { name = "ENCRYPTED \(name)" }
        return type.isList ? "LIST<\(name)>" : name
    }

    /// The indexes that a field of this type supports. Empty if its values can't or must not be compared.
    var possibleIndexes: FieldIndexes {
        guard !isEncrypted else { return [] }
        switch type {
        case .string: return [.queryable, .sortable, .searchable]
        case .stringList: return [.queryable, .searchable]
        case .int64, .double, .timestamp, .location, .reference, .bytes: return [.queryable, .sortable]
        case .int64List, .doubleList, .timestampList, .locationList, .referenceList, .bytesList:
            return [.queryable]
        case .asset, .assetList, .encryptedBytes, .encryptedBytesList, .unknownList: return []
        }
    }

    /// True if the schema language can express the type. Some types can't be encrypted.
    var canBeWritten: Bool {
        guard isEncrypted else { return true }
        let element = type.elementType ?? type
        return SchemaTypeNames.encrypted.contains { $0.type == element }
    }
}

import CloudWire

/// A schema change that an administrator makes in the dashboard.
package enum SchemaOperation: Hashable, Sendable {
    /// Maximum number of operations in a request.
    package static let operationsMax = 100

    case addType(String)
    case deleteType(String)
    case addField(String, recordType: String, FieldDefinition)
    case deleteField(String, recordType: String)
    case setIndex(FieldIndexes, field: String, recordType: String, isOn: Bool)
    case addRole(String)
    case deleteRole(String)
    case setGrant(Permissions, role: String, recordType: String)

    /// Parses an operation of `docs/OPERATOR_API.md`.
    ///
    /// - Throws: a `WireError` with the reason.
    package init(_ json: JSONValue) throws(WireError) {
        let members = try Members(json)
        switch try members.text("op") {
        case "addType": self = .addType(try members.text("recordType"))
        case "deleteType": self = .deleteType(try members.text("recordType"))
        case "addField":
            let isEncrypted = try members.flag("isEncrypted") ?? false
            self = .addField(
                try members.text("field"), recordType: try members.text("recordType"),
                try FieldDefinition(typeName: try members.text("type"), isEncrypted: isEncrypted))
        case "deleteField":
            self = .deleteField(try members.text("field"), recordType: try members.text("recordType"))
        case "setIndex":
            let kind = try members.text("kind")
            guard let index = FieldIndexes.names.first(where: { $0.name == kind })?.index else {
                throw ServiceError.badRequest("kind is QUERYABLE, SORTABLE or SEARCHABLE")
            }
            guard let isOn = try members.flag("isOn") else {
                throw ServiceError.badRequest("isOn is missing")
            }
            self = .setIndex(
                index, field: try members.text("field"), recordType: try members.text("recordType"),
                isOn: isOn)
        case "addRole": self = .addRole(try members.text("role"))
        case "deleteRole": self = .deleteRole(try members.text("role"))
        case "setGrant":
            self = .setGrant(
                try members.permissions(), role: try members.text("role"),
                recordType: try members.text("recordType"))
        case let other: throw ServiceError.badRequest("there is no operation \"\(other.prefix(50))\"")
        }
    }

    /// The record type that must exist.
    private var neededType: String? {
        switch self {
        case .addType, .addRole, .deleteRole: nil
        case .deleteType(let recordType), .addField(_, let recordType, _), .deleteField(_, let recordType),
            .setIndex(_, _, let recordType, _), .setGrant(_, _, let recordType):
            recordType
        }
    }

    /// Applies the operation to a schema.
    ///
    /// - Throws: a `SchemaRefusal` with the reason.
    fileprivate func apply(to schema: inout Schema) throws(SchemaRefusal) {
        if let neededType, schema.recordTypes[neededType] == nil {
            throw SchemaRefusal(["there is no record type '\(neededType)'"])
        }
        switch self {
        case .addType(let name):
            guard schema.recordTypes[name] == nil else {
                throw SchemaRefusal(["there is a record type '\(name)' already"])
            }
            schema.recordTypes[name] = .madeJustInTime
        case .deleteType(let name):
            guard name != Schema.usersTypeName else {
                throw SchemaRefusal(["every schema has the record type '\(name)'"])
            }
            schema.recordTypes[name] = nil
        case .addField(let name, let recordType, let definition):
            guard !SystemField.isReserved(name) else {
                throw SchemaRefusal(["field names that begin with '___' are reserved"])
            }
            guard schema.recordTypes[recordType]?.fields[name] == nil else {
                throw SchemaRefusal(["record type '\(recordType)' has a field '\(name)' already"])
            }
            schema.recordTypes[recordType]?.fields[name] = definition
        case .deleteField(let name, let recordType):
            guard schema.recordTypes[recordType]?.fields.removeValue(forKey: name) != nil else {
                throw SchemaRefusal(["record type '\(recordType)' has no field '\(name)'"])
            }
        case .setIndex(let index, let field, let recordType, let isOn):
            try Self.set(index, isOn, field, recordType, &schema)
        case .addRole(let role):
            guard !role.hasPrefix("_") else {
                throw SchemaRefusal(["role names that begin with '_' are reserved"])
            }
            guard schema.roles.insert(role).inserted else {
                throw SchemaRefusal(["there is a role '\(role)' already"])
            }
        case .deleteRole(let role):
            guard schema.roles.remove(role) != nil else {
                throw SchemaRefusal(["there is no role '\(role)'"])
            }
            for name in schema.recordTypes.keys { schema.recordTypes[name]?.grants[role] = nil }
        case .setGrant(let permissions, let role, let recordType):
            guard SystemRole.all.contains(role) || schema.roles.contains(role) else {
                throw SchemaRefusal(["there is no role '\(role)'"])
            }
            schema.recordTypes[recordType]?.grants[role] = permissions.isEmpty ? nil : permissions
        }
    }

    private static func set(
        _ index: FieldIndexes, _ isOn: Bool, _ field: String, _ recordType: String, _ schema: inout Schema
    ) throws(SchemaRefusal) {
        let possible: FieldIndexes
        if let system = SystemField(rawValue: field) {
            possible = FieldDefinition(system.type).possibleIndexes
            var indexes = schema.recordTypes[recordType]?.systemIndexes[field] ?? []
            if isOn { indexes.insert(index) } else { indexes.remove(index) }
            schema.recordTypes[recordType]?.systemIndexes[field] = indexes.isEmpty ? nil : indexes
        } else {
            guard let definition = schema.recordTypes[recordType]?.fields[field] else {
                throw SchemaRefusal(["record type '\(recordType)' has no field '\(field)'"])
            }
            possible = definition.possibleIndexes
            if isOn {
                schema.recordTypes[recordType]?.fields[field]?.indexes.insert(index)
            } else {
                schema.recordTypes[recordType]?.fields[field]?.indexes.remove(index)
            }
        }
        guard !isOn || possible.contains(index) else {
            throw SchemaRefusal(["the field '\(field)' of record type '\(recordType)' can't be \(index.text)"]
            )
        }
    }

    /// The members of an operation.
    private struct Members {
        private let members: [String: JSONValue]

        init(_ json: JSONValue) throws(WireError) {
            guard case .object(let members) = json else {
                throw ServiceError.badRequest("an operation is no object")
            }
            self.members = members
        }

        func text(_ name: String) throws(WireError) -> String {
            guard case .string(let text)? = members[name], !text.isEmpty else {
                throw ServiceError.badRequest("an operation has no text \"\(name)\"")
            }
            return text
        }

        func flag(_ name: String) throws(WireError) -> Bool? {
            switch members[name] {
            case nil, .null?: return nil
            case .bool(let flag)?: return flag
            default: throw ServiceError.badRequest("\"\(name)\" of an operation is neither true nor false")
            }
        }

        func permissions() throws(WireError) -> Permissions {
            guard case .array(let values)? = members["permissions"] else {
                throw ServiceError.badRequest("an operation has no list \"permissions\"")
            }
            var permissions: Permissions = []
            for value in values {
                guard case .string(let word) = value, !Permissions(named: word).isEmpty else {
                    throw ServiceError.badRequest("permissions are CREATE, READ and WRITE")
                }
                permissions.formUnion(Permissions(named: word))
            }
            return permissions
        }
    }
}

extension Schema {
    /// Returns the schema with the operations applied, all or none.
    ///
    /// - Throws: `SchemaRefusal` if an operation is invalid, or the result exceeds a limit.
    package func applying(_ operations: [SchemaOperation]) throws -> Schema {
        var schema = self
        for operation in operations { try operation.apply(to: &schema) }
        do {
            // A schema without a text form, such as one with a name that is too long, must not be stored.
            guard try SchemaLanguage.parse(SchemaLanguage.print(schema)) == schema else {
                throw SchemaRefusal(["the schema language has no words for the result"])
            }
        } catch let error as SchemaTextError {
            throw SchemaRefusal([error.reason])
        }
        return schema
    }
}

extension FieldDefinition {
    /// A field of the type with this name in the schema language, such as `LIST<STRING>`.
    ///
    /// - Throws: a `WireError` if the type is unknown or can't be encrypted.
    init(typeName: String, isEncrypted: Bool) throws(WireError) {
        let isList = typeName.hasPrefix("LIST<") && typeName.hasSuffix(">")
        let element = isList ? String(typeName.dropFirst(5).dropLast()) : typeName
        let names = isEncrypted ? SchemaTypeNames.encrypted : SchemaTypeNames.plain
        let found = names.first { $0.name == element }?.type
        guard let found, let type = isList ? found.listType : found else {
            throw ServiceError.badRequest(
                "type is \(SchemaTypeNames.list(names)) or LIST<...> of one of them"
                    + (isEncrypted ? ", where it is encrypted" : ""))
        }
        self.init(type, isEncrypted: isEncrypted)
    }
}

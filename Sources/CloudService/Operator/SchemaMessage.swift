import CloudStore
import CloudWire

extension OperatorMessages {
    /// Returns the current schema, in the form of `docs/OPERATOR_API.md`.
    ///
    /// - Throws: `CloudStoreError`.
    package func schemaMessage(in reader: any CloudStoreReader) throws -> JSONValue {
        guard case .object(var members) = JSONValue(try schemas.schema(in: reader)) else { return .null }
        // As text, since it isn't a count and exceeds the integers of a browser.
        members["version"] = try reader.schemaVersion().map { .string(String($0, radix: 16)) } ?? .null
        return .object(members)
    }
}

extension JSONValue {
    /// A schema with its text form.
    init(_ schema: Schema) {
        let types = schema.recordTypes.sorted { $0.key < $1.key }.map { name, type -> JSONValue in
            let fields = type.fields.sorted { $0.key < $1.key }.map { JSONValue($0.key, $0.value) }
            let systemFields = type.systemIndexes.sorted { $0.key < $1.key }.map { name, indexes in
                JSONValue.object([
                    "name": .string(name), "isQueryable": .bool(indexes.contains(.queryable)),
                    "isSortable": .bool(indexes.contains(.sortable)),
                ])
            }
            return .object([
                "name": .string(name), "fields": .array(fields), "systemFields": .array(systemFields),
                "grants": JSONValue(grants: type.grants),
            ])
        }
        self = .object([
            "recordTypes": .array(types), "text": .string(SchemaLanguage.print(schema)),
            "roles": .array(schema.roles.sorted().map { .string($0) }),
        ])
    }

    /// A change with its description.
    package init(_ change: SchemaChange) {
        let members: [String: JSONValue?] = [
            "action": .string(change.action.rawValue), "kind": .string(change.kind.rawValue),
            "recordType": change.recordType.map { .string($0) }, "name": .string(change.name),
            "before": change.before.map { .string($0) }, "after": change.after.map { .string($0) },
            "text": .string(change.text),
        ]
        self = .object(members.compactMapValues(\.self))
    }

    /// The permissions of each role. The three system roles are always included.
    private init(grants: [String: Permissions]) {
        let roles = SystemRole.all.union(grants.filter { !$0.value.isEmpty }.keys).sorted()
        self = .array(
            roles.map { role in
                let permissions = grants[role] ?? []
                return .object([
                    "role": .string(role),
                    "permissions": .array(
                        ["CREATE", "READ", "WRITE"].filter { permissions.contains(Permissions(named: $0)) }
                            .map { .string($0) }),
                ])
            })
    }

    private init(_ name: String, _ field: FieldDefinition) {
        self = .object([
            "name": .string(name), "type": .string(field.type.rawValue), "typeName": .string(field.typeName),
            "isEncrypted": .bool(field.isEncrypted),
            "isQueryable": .bool(field.indexes.contains(.queryable)),
            "isSortable": .bool(field.indexes.contains(.sortable)),
            "isSearchable": .bool(field.indexes.contains(.searchable)),
        ])
    }
}

extension Permissions {
    /// The permission with this keyword of the schema language, or none for another word.
    init(named word: String) {
        self = Self.names.first { $0.name == word }?.permission ?? []
    }
}

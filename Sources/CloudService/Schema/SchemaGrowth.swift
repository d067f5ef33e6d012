import CloudWire

/// Additions to the schema that a record needs.
struct SchemaAdditions {
    let recordType: String
    var isNewType = false
    var fields: [String: FieldDefinition] = [:]

    var isEmpty: Bool { !isNewType && fields.isEmpty }
}

/// A schema that the records of a batch are checked against in order. In development it grows with them.
///
/// Each record sees the additions of earlier records, so two records of a batch can't add the same field with
/// two types.
struct SchemaGrowth {
    private let stored: Schema
    /// The schema with all accepted additions.
    private(set) var grown: Schema
    private let mayGrow: Bool
    private let limits: ServiceLimits

    init(_ schema: Schema, mayGrow: Bool, limits: ServiceLimits) {
        stored = schema
        grown = schema
        self.mayGrow = mayGrow
        self.limits = limits
    }

    /// Returns the sent fields converted to the schema's types, and the additions that a save of them needs,
    /// or the reason that they can't be saved.
    mutating func take(
        _ fields: [String: Field], recordType: String
    ) -> Result<(fields: [String: Field], additions: SchemaAdditions), WireError> {
        var taken: [String: Field] = fields
        var additions = SchemaAdditions(recordType: recordType)
        let storedType = stored.recordTypes[recordType]
        if grown.recordTypes[recordType] == nil {
            guard mayGrow else { return .failure(SchemaError.newType(recordType)) }
            if let error = refusal(ofType: recordType) { return .failure(error) }
            grown.recordTypes[recordType] = .madeJustInTime
        }
        additions.isNewType = storedType == nil
        let knownFields = grown.recordTypes[recordType]?.fields ?? [:]
        for (name, field) in fields.sorted(by: { $0.key < $1.key }) where field.value != nil {
            let definition: FieldDefinition
            if let known = knownFields[name] {
                definition = known
            } else {
                guard mayGrow else { return .failure(SchemaError.newField(name, recordType)) }
                switch newField(name, for: field, recordType: recordType) {
                case .success(let made): definition = made
                case .failure(let error): return .failure(error)
                }
                grown.recordTypes[recordType]?.fields[name] = definition
            }
            guard definition.agreesOnEncryption(with: field) else {
                return .failure(SchemaError.encryption(isEncryptedField: definition.isEncrypted, name))
            }
            guard let value = definition.value(from: field) else {
                return .failure(SchemaError.mismatch(name, field, recordType, definition))
            }
            taken[name] = Field(value, isEncrypted: field.isEncrypted)
            if storedType?.fields[name] == nil { additions.fields[name] = definition }
        }
        return .success((taken, additions))
    }

    private func newField(
        _ name: String, for field: Field, recordType: String
    ) -> Result<FieldDefinition, WireError> {
        guard !SystemField.isReserved(name) else { return .failure(SchemaError.systemName(name)) }
        guard let definition = FieldDefinition(madeFor: field) else {
            return .failure(SchemaError.emptyList(name, recordType))
        }
        guard definition.canBeWritten else {
            return .failure(SchemaError.cannotBeEncrypted(name, definition))
        }
        let fieldsCount = grown.recordTypes.values.reduce(0) { $0 + $1.fields.count }
        guard fieldsCount < limits.schemaFieldsMax else {
            return .failure(SchemaError.tooMany("fields", limits.schemaFieldsMax))
        }
        return .success(definition)
    }

    private func refusal(ofType name: String) -> WireError? {
        grown.recordTypes.count < limits.recordTypesMax
            ? nil : SchemaError.tooMany("record types", limits.recordTypesMax)
    }
}

extension Schema {
    /// Returns the schema with the additions of saved records.
    func adding(_ additions: [SchemaAdditions]) -> Schema {
        var schema = self
        for addition in additions {
            var type = schema.recordTypes[addition.recordType] ?? .madeJustInTime
            type.fields.merge(addition.fields) { old, _ in old }
            schema.recordTypes[addition.recordType] = type
        }
        return schema
    }
}

/// Reasons that a record doesn't match the schema, in Apple's words where they are known.
enum SchemaError {
    static func newType(_ recordType: String) -> WireError {
        refused("Cannot create new type \(recordType) in production schema")
    }

    static func newField(_ name: String, _ recordType: String) -> WireError {
        refused("Cannot create or modify field '\(name)' in record '\(recordType)' in production schema")
    }

    static func mismatch(
        _ name: String, _ field: Field, _ recordType: String, _ definition: FieldDefinition
    ) -> WireError {
        let sent = field.value?.type.rawValue ?? ""
        return refused(
            "invalid attempt to set value type \(sent) for field '\(name)' for type '\(recordType)', "
                + "defined to be: \(definition.type.rawValue)")
    }

    static func encryption(isEncryptedField: Bool, _ name: String) -> WireError {
        refused(
            isEncryptedField
                ? "Attempt to save non encrypted data in encrypted field type (field '\(name)')"
                : "Attempt to save encrypted data in non encrypted field type")
    }

    static func emptyList(_ name: String, _ recordType: String) -> WireError {
        refused(
            "cannot use an empty list to initialize a new field (field '\(name)' in record type "
                + "'\(recordType)' should be more precise)")
    }

    static func cannotBeEncrypted(_ name: String, _ definition: FieldDefinition) -> WireError {
        refused("field '\(name)': a value of type \(definition.type.rawValue) can't be encrypted")
    }

    static func systemName(_ name: String) -> WireError {
        refused("field '\(name)': field names that begin with '___' are reserved")
    }

    static func tooMany(_ what: String, _ max: Int) -> WireError {
        refused("the schema would have more than \(max) \(what)")
    }

    private static func refused(_ reason: String) -> WireError {
        WireError(.badRequest, reason: reason, ckErrorCode: 12)
    }
}

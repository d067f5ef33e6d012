import CloudStore
public import CloudWire

extension CloudServiceThread {
    /// Answers with the schema as it is now, in the form of `docs/OPERATOR_API.md`. `completion` is called as that of
    /// `send` is.
    public func sendSchema(
        requestID: String, completion: @escaping @Sendable (WireResponse) -> Void
    ) {
        let service = crew.service
        send(
            bytes: 0, owner: Self.operatorsOwner, wantsExtras: false, requestID: requestID,
            ServiceCancellation(),
            begin: {
                PreparedRequest(
                    work: .read { .message(JSONValue(try service.schema(in: $0))) }, bytes: 0,
                    wantsExtras: false, requestID: requestID)
            }, completion)
    }
}

extension JSONValue {
    /// A schema with its text.
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
            ])
        }
        self = .object([
            "recordTypes": .array(types), "text": .string(SchemaLanguage.print(schema)),
        ])
    }

    private init(_ name: String, _ field: FieldDefinition) {
        self = .object([
            "name": .string(name), "type": .string(field.type.rawValue),
            "isEncrypted": .bool(field.isEncrypted),
            "isQueryable": .bool(field.indexes.contains(.queryable)),
            "isSortable": .bool(field.indexes.contains(.sortable)),
            "isSearchable": .bool(field.indexes.contains(.searchable)),
        ])
    }
}

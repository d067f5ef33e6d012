import CloudService
import CloudWire

/// The operations with which an administrator changes a schema: what comes of them is a schema that can be kept, and
/// its changes tell what was made.
@Sendable func fuzzSchemaOperations(_ bytes: [UInt8]) throws {
    guard case .object(let members)? = try? JSONValue(json: bytes),
        case .array(let values)? = members["operations"],
        let operations = try? values.map({ try SchemaOperation($0) })
    else { return }
    guard let schema = try? Schema.initial.applying(operations) else { return }
    let text = SchemaLanguage.print(schema)
    try expect((try? SchemaLanguage.parse(text)) == schema, "what was made can't be kept:\n\(text)")
    let changes = Schema.initial.changes(to: schema)
    try expect(changes.isEmpty == (schema == .initial), "the changes don't tell what was made: \(changes)")
}

import CloudService
import CloudStore
import CloudWire
import SQLite

/// What records are, held against the schema.
extension StoreAudit {
    /// The schema of the file; nil before anything was saved.
    func schema() throws -> Schema? {
        try connection.withStatement("SELECT version, content FROM schema") { statement in
            guard try statement.step() else { return nil }
            return try Schema(
                SchemaRow(
                    version: UInt64(bitPattern: statement.int64(at: 0)), content: statement.bytes(at: 1)))
        }
    }

    mutating func checkSchema() throws {
        let schema = try schema() ?? .initial
        for record in records where !record.isDeleted {
            guard let type = schema.recordTypes[record.type] else {
                find(true, "\(record.place): the schema doesn't know \(record.type)")
                continue
            }
            for (name, field) in record.fields.sorted(by: { $0.key < $1.key }) {
                let definition = type.fields[name]
                find(
                    definition?.type != field.value?.type,
                    "\(record.place): field \(name) is \(field.value?.type.rawValue ?? "nothing"), and in the schema "
                        + "\(definition?.type.rawValue ?? "nothing")")
            }
        }
    }
}

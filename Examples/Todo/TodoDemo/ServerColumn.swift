import CloudStore
import CloudWire
import TodoKit

/// The list as it lies in the service's store: read there, without the framework, the service or any device.
struct ServerColumn {
    let store: any CloudStore
    let zone: ZoneKey

    func todos() throws -> [String: Todo] {
        try store.read { reader in
            var todos = [String: Todo]()
            var after: Int64 = 0
            while true {
                let page = try reader.changedRecords(
                    RecordChangesQuery(
                        zone: zone, after: after, tombstonesAfter: 0, recordsMax: 1000, bytesMax: 4 << 20))
                for row in page.rows where !row.isDeleted {
                    todos[row.key.recordName] = ServerColumn.todo(try FieldsBinary.decode(row.fields))
                }
                guard page.moreComing, let last = page.rows.last else { return todos }
                after = last.counter
            }
        }
    }

    private static func todo(_ fields: [String: Field]) -> Todo {
        func text(_ name: String) -> String? {
            guard case .string(let text)? = fields[name]?.value else { return nil }
            return text
        }
        func number(_ name: String) -> Int {
            guard case .int64(let number)? = fields[name]?.value else { return 0 }
            return Int(number)
        }
        return Todo(
            text: text("text") ?? "", isDone: number("isDone") != 0, priority: text("priority"),
            creationDay: text("creationDay"), completionDay: text("completionDay"), order: number("order"))
    }
}

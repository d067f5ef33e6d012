import CloudStore
import CloudWire

/// Reads the service's own store, without any of the devices' code.
package struct ServerColumn {
    package let store: any CloudStore
    package let zone: ZoneKey

    package init(store: any CloudStore, zone: ZoneKey) {
        (self.store, self.zone) = (store, zone)
    }

    /// Every record of the zone's change log above a counter, tombstones too, in the order of the log.
    package func rows(after counter: Int64) throws -> [StoredRecord] {
        try store.read { reader in
            var rows = [StoredRecord]()
            var after = counter
            while true {
                let page = try reader.changedRecords(
                    RecordChangesQuery(
                        zone: zone, after: after, tombstonesAfter: 0, recordsMax: 500, bytesMax: 1 << 20))
                rows += page.rows
                guard page.moreComing, let last = page.rows.last else { return rows }
                after = last.counter
            }
        }
    }

    /// The zone's live records as items.
    package func todos() throws -> [String: Todo] {
        var todos = [String: Todo]()
        for row in try rows(after: 0) where !row.isDeleted {
            todos[row.key.recordName] = try ServerColumn.todo(of: row)
        }
        return todos
    }

    package static func todo(of row: StoredRecord) throws -> Todo {
        let fields = try FieldsBinary.decode(row.fields)
        func text(_ name: String) -> String? {
            guard case .string(let text)? = fields[name]?.value else { return nil }
            return text
        }
        func number(_ name: String) -> Int {
            guard case .int64(let number)? = fields[name]?.value else { return 0 }
            return Int(number)
        }
        func fraction(_ name: String) -> Double {
            guard case .double(let number)? = fields[name]?.value else { return 0 }
            return number
        }
        var todo = Todo(
            text: text("text") ?? "", isDone: number("isDone") != 0, priority: text("priority"),
            creationDay: text("creationDay"), completionDay: text("completionDay"), order: fraction("order"),
            label: text("label"))
        if case .list(_, let tags)? = fields["tags"]?.value {
            todo.tags = tags.compactMap { if case .string(let tag) = $0 { tag } else { nil } }
        }
        if row.key.recordName.hasPrefix(Keys.sample) { todo.sample = Sample(fields) }
        todo.photo = fields["photo"]?.value?.filesText
        todo.scan = fields["scan"]?.value?.filesText
        if case .list(_, let pages)? = fields["pages"]?.value { todo.pages = pages.compactMap(\.filesText) }
        return todo
    }
}

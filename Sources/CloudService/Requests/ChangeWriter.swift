import CloudStore

/// Writes a request's changes, and notes the work that follows from them.
struct ChangeWriter: Sendable {
    let schemas: Schemas
    let answers: KeptAnswers
    let indexes: IndexBuilding
    let clearedRows: ClearedRows
    let pushes: PushDelivery

    func apply(_ changes: StoreChanges, to writer: any CloudStoreWriter) throws {
        if !changes.pushTasks.isEmpty || !changes.notifications.firedChanges.isEmpty { pushes.noteTasks() }
        if !changes.clearedZones.isEmpty { clearedRows.note() }
        let oldSchema = try changes.schema.map { _ in try schemas.schema(in: writer) }
        try writer.apply(changes)
        try answers.trim(changes.answers, writer)
        if let oldSchema, let row = changes.schema {
            try indexes.change(from: oldSchema, to: try Schema(row), written: changes.indexes, writer)
        }
    }
}

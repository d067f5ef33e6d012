import Yap

/// The rows of an app with `CloudSync`, in a version of it.
package struct CloudSyncRows: Sendable {
    private let version: Int

    package init(version: Int) {
        self.version = version
    }

    package func read(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo? {
        if key.hasPrefix(Keys.note) {
            guard version > 1 else { return nil }
            return try transaction.object(Note.self, forKey: key, inCollection: "notes")
                .map { Todo(text: $0.text) }
        }
        guard version == 1 else {
            return try transaction.object(Todo.self, forKey: key, inCollection: "todos")
        }
        return try transaction.object(EarlierTodo.self, forKey: key, inCollection: "todos")?.todo
    }

    package func write(
        _ todo: Todo, _ key: String, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        if key.hasPrefix(Keys.note) {
            try transaction.setObject(Note(text: todo.text), forKey: key, inCollection: "notes")
        } else if version == 1 {
            try transaction.setObject(EarlierTodo(todo), forKey: key, inCollection: "todos")
        } else {
            try transaction.setObject(todo, forKey: key, inCollection: "todos")
        }
    }

    package func remove(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        let collection = key.hasPrefix(Keys.note) ? "notes" : "todos"
        try transaction.removeObject(forKey: key, inCollection: collection)
    }

    /// All items by their keys, notes too.
    package func todos(_ transaction: YapDatabaseReadTransaction) throws -> [String: Todo] {
        var todos: [String: Todo] = [:]
        for collection in version > 1 ? ["todos", "notes"] : ["todos"] {
            for key in try transaction.allKeys(inCollection: collection) {
                todos[key] = try read(key, transaction)
            }
        }
        return todos
    }
}

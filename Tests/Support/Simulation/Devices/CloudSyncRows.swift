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
        if key.hasPrefix(Keys.list) { return try list(key, transaction) }
        guard version == 1 else {
            return try transaction.object(Todo.self, forKey: key, inCollection: "todos")
        }
        return try transaction.object(EarlierTodo.self, forKey: key, inCollection: "todos")?.todo
    }

    private func list(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo? {
        guard version > 1 else {
            return try transaction.object(EarlierTagList.self, forKey: key, inCollection: "lists")
                .map { Todo(text: $0.text) }
        }
        return try transaction.object(TagList.self, forKey: key, inCollection: "lists").map { list in
            var todo = Todo(text: list.text)
            todo.tags = list.tags
            return todo
        }
    }

    package func write(
        _ todo: Todo, _ key: String, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        if key.hasPrefix(Keys.note) {
            try transaction.setObject(Note(text: todo.text), forKey: key, inCollection: "notes")
        } else if key.hasPrefix(Keys.list) {
            if version > 1 {
                let list = TagList(text: todo.text, tags: todo.tags)
                try transaction.setObject(list, forKey: key, inCollection: "lists")
            } else {
                try transaction.setObject(EarlierTagList(text: todo.text), forKey: key, inCollection: "lists")
            }
        } else if version == 1 {
            try transaction.setObject(EarlierTodo(todo), forKey: key, inCollection: "todos")
        } else {
            try transaction.setObject(todo, forKey: key, inCollection: "todos")
        }
    }

    package func remove(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        let collection =
            key.hasPrefix(Keys.note) ? "notes" : key.hasPrefix(Keys.list) ? "lists" : "todos"
        try transaction.removeObject(forKey: key, inCollection: collection)
    }

    /// All items by their keys, notes and lists too.
    package func todos(_ transaction: YapDatabaseReadTransaction) throws -> [String: Todo] {
        var todos: [String: Todo] = [:]
        for collection in version > 1 ? ["todos", "lists", "notes"] : ["todos", "lists"] {
            for key in try transaction.allKeys(inCollection: collection) {
                todos[key] = try read(key, transaction)
            }
        }
        return todos
    }
}

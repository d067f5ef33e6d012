import Yap
import YapCloudKit

/// The rows of an app with `CloudSync`, in a version of it.
package struct CloudSyncRows: Sendable {
    /// What an app may have beside its todos.
    package struct Parts: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Notes, in the versions that have them.
        package static let notes = Parts(rawValue: 1)
        package static let lists = Parts(rawValue: 2)
        /// Albums, in the versions that have them.
        package static let albums = Parts(rawValue: 4)
        package static let samples = Parts(rawValue: 8)
    }

    private let version: Int
    private let parts: Parts
    /// The zone of notes and lists; nil: that of all others.
    private let secondZone: String?

    package init(version: Int, _ parts: Parts, secondZone: String? = nil) {
        self.version = version
        self.parts = parts
        self.secondZone = secondZone
    }

    private var isEarlier: Bool { version == 1 }
    private var hasNotes: Bool { parts.contains(.notes) && !isEarlier }
    private var hasLists: Bool { parts.contains(.lists) }
    private var hasSamples: Bool { parts.contains(.samples) }
    private var hasAlbums: Bool { parts.contains(.albums) && !isEarlier }

    /// Registers the version's types.
    package func register(in configuration: inout YapDatabaseConfiguration) {
        if isEarlier {
            configuration.register(EarlierTodo.self, inCollection: "todos")
            if hasLists { configuration.register(EarlierTagList.self, inCollection: "lists") }
        } else {
            configuration.register(Todo.self, inCollection: "todos")
            if hasLists { configuration.register(TagList.self, inCollection: "lists") }
        }
        if hasNotes { configuration.register(Note.self, inCollection: "notes") }
        if hasAlbums { configuration.register(Album.self, inCollection: "albums") }
        if hasSamples { configuration.register(Sample.self, inCollection: "samples") }
    }

    /// What the version syncs.
    package var models: [CloudSyncModel] {
        var models: [CloudSyncModel] = []
        if isEarlier {
            models.append(.model(EarlierTodo.self, collection: "todos"))
            if hasLists { models.append(.model(EarlierTagList.self, collection: "lists", zone: secondZone)) }
        } else {
            models.append(.model(Todo.self, collection: "todos"))
            if hasLists { models.append(.model(TagList.self, collection: "lists", zone: secondZone)) }
        }
        if hasNotes { models.append(.model(Note.self, collection: "notes", zone: secondZone)) }
        if hasAlbums { models.append(.model(Album.self, collection: "albums")) }
        if hasSamples { models.append(.model(Sample.self, collection: "samples")) }
        return models
    }

    package func read(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo? {
        if key.hasPrefix(Keys.note) {
            guard !isEarlier else { return nil }
            return try transaction.object(Note.self, forKey: key, inCollection: "notes")
                .map { Todo(text: $0.text) }
        }
        if key.hasPrefix(Keys.list) { return try list(key, transaction) }
        if key.hasPrefix(Keys.album) { return try album(key, transaction)?.todo }
        if key.hasPrefix(Keys.sample) { return try sample(key, transaction) }
        guard isEarlier else {
            return try transaction.object(Todo.self, forKey: key, inCollection: "todos")
        }
        return try transaction.object(EarlierTodo.self, forKey: key, inCollection: "todos")?.todo
    }

    /// An album, in the versions that have them.
    package func album(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Album? {
        guard hasAlbums else { return nil }
        return try transaction.object(Album.self, forKey: key, inCollection: "albums")
    }

    private func sample(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo? {
        try transaction.object(Sample.self, forKey: key, inCollection: "samples").map { sample in
            var todo = Todo(text: sample.text)
            todo.sample = sample
            return todo
        }
    }

    private func list(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo? {
        guard !isEarlier else {
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
        } else if key.hasPrefix(Keys.sample) {
            var sample = todo.sample ?? Sample()
            sample.text = todo.text
            try transaction.setObject(sample, forKey: key, inCollection: "samples")
        } else if key.hasPrefix(Keys.album) {
            try transaction.setObject(Album(todo), forKey: key, inCollection: "albums")
        } else if key.hasPrefix(Keys.list) {
            if !isEarlier {
                let list = TagList(text: todo.text, tags: todo.tags)
                try transaction.setObject(list, forKey: key, inCollection: "lists")
            } else {
                try transaction.setObject(EarlierTagList(text: todo.text), forKey: key, inCollection: "lists")
            }
        } else if isEarlier {
            try transaction.setObject(EarlierTodo(todo), forKey: key, inCollection: "todos")
        } else {
            try transaction.setObject(todo, forKey: key, inCollection: "todos")
        }
    }

    package func remove(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        let later = [Keys.note: "notes", Keys.list: "lists", Keys.album: "albums", Keys.sample: "samples"]
        let collection = later.first { key.hasPrefix($0.key) }?.value ?? "todos"
        try transaction.removeObject(forKey: key, inCollection: collection)
    }

    /// All items by their keys, notes and lists too.
    package func todos(_ transaction: YapDatabaseReadTransaction) throws -> [String: Todo] {
        var todos: [String: Todo] = [:]
        var collections = isEarlier ? ["todos", "lists"] : ["todos", "lists", "notes"]
        if hasAlbums { collections.append("albums") }
        if hasSamples { collections.append("samples") }
        for collection in collections {
            for key in try transaction.allKeys(inCollection: collection) {
                todos[key] = try read(key, transaction)
            }
        }
        return todos
    }
}

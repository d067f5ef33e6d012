import Testing
import Yap

/// An index, a view, a full-text search and hooks that are registered beside the sync. What they have is compared with
/// the rows when the device ends.
struct OtherExtensions {
    private static let collection = "todos"

    private let index = YapDatabaseSecondaryIndex(
        "otherIndex", of: Todo.self, in: Self.collection, version: "1"
    ) {
        $0.column(\.title)
    }
    private let view = YapDatabaseAutoView(
        "otherView", of: Todo.self, in: Self.collection, version: "1", group: { _ in 0 },
        sort: [.by(\.title)])
    private let search = YapDatabaseFullTextSearch(
        "otherSearch", of: Todo.self, in: Self.collection, version: "1"
    ) {
        $0.column(\.title)
    }
    private let hooks = YapDatabaseHooks(
        "otherHooks", of: Todo.self, in: Self.collection, didModify: { change, _ in _ = try change.object })

    func register(in database: YapDatabase) throws {
        try database.blocking.register(index)
        try database.blocking.register(view)
        try database.blocking.register(search)
        try database.blocking.register(hooks)
    }

    /// What an extension has and the rows don't, or the other way round.
    func differences(in database: YapDatabase) throws -> [String] {
        try database.newConnection().blocking.read { transaction in
            var titles: [String: String] = [:]
            for (key, todo) in try transaction.objects(Todo.self, inCollection: Self.collection) {
                titles[key] = todo.title
            }
            let indexed = try transaction[index].rows().map { ($0.key, $0.object.title) }
            let viewed = try transaction[view].keys(in: 0)
            var differences: [String] = []
            if Dictionary(indexed, uniquingKeysWith: { $1 }) != titles {
                differences.append("index: \(indexed)")
            }
            if viewed.sorted() != titles.keys.sorted()
                || viewed.map({ titles[$0] ?? "" }) != titles.values.sorted()
            {
                differences.append("view: \(viewed)")
            }
            for (key, title) in titles where title.contains(where: \.isLetter) {
                let found = try transaction[search].keys(.words(title))
                if !found.contains(key) { differences.append("search: \(key) \"\(title)\"") }
            }
            return differences
        }
    }

    /// Records what differs. A database that can't be read any more is skipped: tests damage some.
    func check(_ database: YapDatabase) {
        guard let differences = try? differences(in: database) else { return }
        if !differences.isEmpty { Issue.record("other extensions differ from the rows: \(differences)") }
    }
}

import Foundation
import Testing
import Yap

private typealias OpenTodos = YapDatabaseAutoView<Todo, String>
private typealias FoundTodos = YapDatabaseSearchResultsView<Todo, String>

private struct Song: Codable, Sendable {}

private func ext(_ transaction: YapDatabaseReadTransaction) throws -> Int {
    let view = try transaction.ext("byDate", as: YapDatabaseView<Todo, String>.self)
    return try view.count()
}

private func filter(
    _ open: OpenTodos, _ database: YapDatabase, _ connection: YapDatabaseConnection
) async throws -> (view: YapDatabaseFilteredView<Todo, String>, keys: [String]) {
    let urgent = YapDatabaseFilteredView("urgent", of: open, version: "1") { _, todo in todo.priority >= 3 }
    try await database.register(open)
    try await database.register(urgent)
    let rows = try await connection.read { try $0[urgent].rows(in: "home") }
    return (urgent, rows.map(\.key))
}

@Suite struct ViewExamples {
    @Test func aViewSortsAndAFilterNarrows() async throws {
        let example = try await ExampleDatabase()
        let (database, connection) = (example.database, example.connection)
        let open = YapDatabaseAutoView(
            "open", of: Todo.self, in: "todos", version: "1",
            group: { $0.isDone ? nil : $0.list },
            sort: [.by(\.priority, .descending), .by(\.title)])
        let (urgent, keys) = try await filter(open, database, connection)
        #expect(keys == ["1"])
        try await connection.readWrite { transaction in
            try transaction[urgent].setFilter(version: "from 4") { _, todo in todo.priority >= 4 }
        }
        let count = try await connection.read { try $0[urgent].count() }
        #expect(count == 0)
    }

    @Test func aViewIsFoundByItsName() async throws {
        let example = try await ExampleDatabase()
        let byDate = YapDatabaseAutoView(
            "byDate", of: Todo.self, in: "todos", version: "1", group: { $0.list }, sort: [.by(\.due)])
        try await example.database.register(byDate)
        let count = try await example.connection.read { try ext($0) }
        #expect(count == 2)
    }

    private func autoView(_ database: YapDatabase, _ connection: YapDatabaseConnection) async throws {
        var sections = YapDatabaseViewSections<String, Todo>()
        let open = YapDatabaseAutoView(
            "open", of: Todo.self, in: "todos", version: "1",
            group: { $0.isDone ? nil : $0.list },
            sort: [.by(\.priority, .descending), .by(\.title)])
        try await database.register(open)
        let top = try await connection.read { try $0[open].rows(in: "home", 0..<20) }
        for try await change in connection.changes(of: open) { sections.apply(change) }
        show(top.count)
    }

    private func withMetadata(_ monday: Date) -> [any YapDatabaseNamedExtension] {
        let downloads = YapDatabaseAutoView(
            "downloads", of: Note.self, metadata: NoteInfo.self, in: "notes", version: "1",
            group: { _, note, info in info == nil ? nil : note.folder },
            sort: [.by(metadata: \NoteInfo.downloadedAt, .descending)])
        let open = downloads
        let recent = YapDatabaseFilteredView("recent", of: open, metadata: NoteInfo.self, version: "1") {
            _, _, _, info in info?.openedAt ?? .distantPast > monday
        }
        return [downloads, recent]
    }

    private func setting(_ open: OpenTodos, _ connection: YapDatabaseConnection) async throws {
        try await connection.readWrite { try $0[open].setSort(version: "by title", [.by(\.title)]) }
        try await connection.readWrite { transaction in
            try transaction[open].setGrouping(version: "by year", sort: [.by(\.due)]) { "\($0.year)" }
        }
    }

    @Test func aManualViewIsAPlaylist() async throws {
        let example = try await ExampleDatabase { $0.register(Song.self, inCollection: "songs") }
        let (database, connection) = (example.database, example.connection)
        try await connection.readWrite { try $0.setObject(Song(), forKey: "song-7", inCollection: "songs") }
        let playlist = YapDatabaseManualView(
            "playlist", of: Song.self, in: "songs", groups: String.self, version: "1")
        try await database.register(playlist)
        try await connection.readWrite { _ = try $0[playlist].append("song-7", to: "favourites") }
        let count = try await connection.read { try $0[playlist].count() }
        #expect(count == 1)
    }

    @Test func mappingsOrderGroups() {
        let mappings = YapDatabaseViewMappings.only(["inbox", "archive"])
            .rows(.last(50), in: "archive")
            .reversed("inbox")
        #expect(mappings.sections.map(\.group) == ["inbox", "archive"])
    }

    private func shown() -> YapDatabaseViewMappings<String> {
        let mappings = YapDatabaseViewMappings<String>.where({ $0 != "trash" }, sortedBy: { $0 > $1 })
        return mappings
    }

    private func sections(
        _ mappings: YapDatabaseViewMappings<String>, _ changes: YapDatabaseViewMappings<String>.Changes,
        note find: (YapDatabaseViewPath) -> Note
    ) -> Int {
        func note(at path: YapDatabaseViewPath) -> Note { find(path) }
        var list = YapDatabaseViewSections(mappings) { path in note(at: path) }
        // After each commit, with the mappings' changes:
        list.apply(sections: changes.sections, rows: changes.rows) { path in note(at: path) }
        return list.sections.count
    }

    private func sorting() -> [YapDatabaseViewSort<Todo>] {
        let sort: [YapDatabaseViewSort<Todo>] = [.by(\.priority, .descending), .by { $0.title.lowercased() }]
        return sort
    }

    private func sortingByMetadata() -> [YapDatabaseViewSort<Note>] {
        let sort: [YapDatabaseViewSort<Note>] = [.by(metadata: \NoteInfo.downloadedAt, .descending)]
        return sort
    }

    private func comparing() -> [YapDatabaseViewSort<Todo>] {
        let sort: [YapDatabaseViewSort<Todo>] = [
            .by { $0.title.localizedStandardCompare($1.title) == .orderedAscending }
        ]
        return sort
    }

    private func state(_ open: OpenTodos, _ list: YapDatabaseLongLivedRead) async throws {
        var state = YapDatabaseViewState(open, sections: .sorted)
        var sections = YapDatabaseViewSections<String, Todo>()
        sections.apply(try await list.changes(of: &state))
        try await list.moveToNewest()
        sections.apply(try await list.changes(of: &state))
    }

    private func reading(_ open: OpenTodos, _ connection: YapDatabaseConnection) async throws -> Int {
        let first = try await connection.read { try $0[open].rows(in: "home", 0..<20) }
        return first.count
    }

    private func searching(
        _ open: OpenTodos, _ transaction: YapDatabaseReadTransaction, june: Date, july: Date
    ) throws -> Range<Int> {
        let inJune = try transaction[open].indexes(in: "home") {
            $0.due < june ? .before : $0.due < july ? .within : .after
        }
        return inJune
    }

    private func changes(_ open: OpenTodos, _ connection: YapDatabaseConnection) async throws {
        var list = YapDatabaseViewSections<String, Todo>()
        for try await change in connection.changes(of: open, sections: .sorted.rows(.first(50))) {
            list.apply(change)
        }
    }

    private func results(
        _ open: OpenTodos, _ text: YapDatabaseFullTextSearch<Todo>, typed: String, _ database: YapDatabase,
        _ connection: YapDatabaseConnection
    ) async throws {
        var list = YapDatabaseViewSections<String, Todo>()
        let found = YapDatabaseSearchResultsView("found", of: open, matching: text)
        try await database.register(found)
        try await connection.readWrite { try $0[found].search(.prefix(typed)) }
        for try await change in connection.changes(of: found) { list.apply(change) }
    }

    private func queue(_ found: FoundTodos, typed: String, _ connection: YapDatabaseConnection) {
        let searches = YapDatabaseSearchQueue(found, connection)
        // For each character:
        searches.enqueue(.prefix(typed))
    }
}

private let unread = YapDatabaseAutoView<Todo, String>(
    "unread", of: Todo.self, in: "todos", version: "1", group: { $0.list }, sort: [.by(\.title)])

@MainActor final class InboxModel {
    let unreadCount: YapDatabaseObservedValue<Int>

    init(_ connection: YapDatabaseConnection) {
        unreadCount = YapDatabaseObservedValue(0, following: connection.observe { try $0[unread].count() })
    }
}

@MainActor private func observed(_ open: OpenTodos, _ connection: YapDatabaseConnection) -> Int {
    let list = YapDatabaseObservedValue(
        YapDatabaseViewSections<String, Todo>(), following: connection.changes(of: open)
    ) { $0.apply($1) }
    return list.value.sections.count
}

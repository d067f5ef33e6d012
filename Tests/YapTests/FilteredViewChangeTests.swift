import Testing

@testable import Yap

/// What a list that follows filtered views gets by changes that don't concern the filter, or concern it twice.
@Suite struct FilteredViewChangeTests {
    private typealias Auto = YapDatabaseAutoView<Todo, String>
    private typealias Filtered = YapDatabaseFilteredView<Todo, String>
    private typealias View = YapDatabaseView<Todo, String>

    private let folder: TestFolder
    private let database: YapDatabase
    private let parent: Auto
    private let urgent: Filtered
    private let last: Filtered

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        parent = Auto(
            "open", of: Todo.self, in: "todos", version: "1", group: { $0.isDone ? nil : "open" },
            sort: [.by(\.priority)])
        urgent = Filtered("urgent", of: parent, version: "1") { _, todo in todo.priority >= 50 }
        last = Filtered("last", of: urgent, version: "1") { _, todo in todo.priority < 80 }
        for view in [parent, urgent, last] as [View] { try database.blocking.register(view) }
        try database.write { transaction in
            for number in 0..<10 { try set("k\(number)", number * 10, transaction) }
            try set("done", 70, isDone: true, transaction)
        }
    }

    private func set(
        _ key: String, _ priority: Int, isDone: Bool = false, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try transaction.setObject(
            Todo(title: key, isDone: isDone, priority: priority), forKey: key, inCollection: "todos")
    }

    private func keys(_ view: View) throws -> [String] {
        try database.read { try $0[view].keys(in: "open") }
    }

    /// The changes of each view's list by a transaction: parent, filtered view, and filtered view of it.
    private func changes(
        _ mappings: YapDatabaseViewMappings<String> = .only(["open"]),
        _ body: (YapDatabaseReadWriteTransaction) throws -> Void
    ) throws -> [[String]] {
        var readers = [parent, urgent, last].map { ViewReader($0, mappings, log: database.log) }
        for index in readers.indices { _ = try database.read { try readers[index].read($0) } }
        try database.write(body)
        return try readers.indices.map { index in
            let change = try database.read { try readers[index].read($0) }
            #expect(!change.isReset)
            return ViewStage.words(change.sectionChanges) + ViewStage.words(change.rowChanges)
        }
    }

    /// The original's issue 186.
    @Test func replacingMetadataUpdatesARowWhereItIsShown() throws {
        func replace(_ key: String) throws -> [[String]] {
            try changes {
                try $0.replaceMetadata(Stamp(milliseconds: 1), forKey: key, inCollection: "todos")
            }
        }
        #expect(
            try replace("k6") == [["update 0.6 metadata"], ["update 0.1 metadata"], ["update 0.1 metadata"]])
        #expect(try replace("k9") == [["update 0.9 metadata"], ["update 0.4 metadata"], []])
        #expect(try replace("k1") == [["update 0.1 metadata"], [], []])
        #expect(try replace("done") == [[], [], []])
        #expect(try keys(urgent) == (5..<10).map { "k\($0)" } && keys(last) == ["k5", "k6", "k7"])
    }

    /// The original's issue 327.
    @Test func aRowThatLeavesTheParentAndComesBackInATransactionIsInTheFilteredViewsToo() throws {
        let found = try changes { transaction in
            try set("k6", 60, isDone: true, transaction)
            #expect(try transaction[urgent].keys(in: "open") == ["k5", "k7", "k8", "k9"])
            try set("k6", 60, transaction)
        }
        #expect(
            found == [
                ["move 0.6>0.6 object metadata"], ["move 0.1>0.1 object metadata"],
                ["move 0.1>0.1 object metadata"],
            ])
        #expect(try keys(urgent) == (5..<10).map { "k\($0)" } && keys(last) == ["k5", "k6", "k7"])
        // Also one that fails the filter in between.
        _ = try changes { transaction in
            try set("k6", 1, transaction)
            try set("k6", 60, transaction)
        }
        #expect(try keys(urgent) == (5..<10).map { "k\($0)" } && keys(last) == ["k5", "k6", "k7"])
    }

    @Test func aListOfWhichAllRowsAreFilteredHasEmptySections() throws {
        let none = Filtered("none", of: urgent, version: "1") { _, _ in false }
        try database.blocking.register(none)
        for (mappings, groups) in [
            (YapDatabaseViewMappings.only(["open", "other"]), ["open", "other"]), (.sorted, []),
        ] {
            var reader = ViewReader(none, mappings, log: database.log)
            _ = try database.read { try reader.read($0) }
            #expect(reader.mappings.sections.map(\.group) == groups && reader.mappings.isEmpty)
            try database.write { transaction in
                try set("k5", 55, transaction)
                try set("k0", 65, transaction)
                try set("k0", 0, transaction)
            }
            #expect(try database.read { try reader.read($0) }.isEmpty)
            try database.write { transaction in
                try transaction[none].setFilter(version: "some") { _, todo in todo.priority > 60 }
            }
            let change = try database.read { try reader.read($0) }
            #expect(change.rowChanges.map(\.kind) == [.insert, .insert, .insert])
            #expect(change.sectionChanges == (groups.isEmpty ? [.insert(section: 0, group: "open")] : []))
            try database.write { try $0[none].setFilter(version: "1") { _, _ in false } }
        }
    }
}

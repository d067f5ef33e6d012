import Testing

@testable import Yap

/// A manual view in a file, on which operations are played in one commit or in a commit each, and a list that follows
/// it.
private struct ViewCommitStage {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let view = YapDatabaseManualView(
        "list", of: Todo.self, in: "todos", groups: String.self, version: "1")
    private var reader: ViewReader<Todo, String>
    private var list = YapDatabaseViewSections<String, Todo>()

    init(_ mappings: YapDatabaseViewMappings<String>, _ groups: [String: String]) throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
        reader = ViewReader(view, mappings, log: database.log)
        try database.blocking.register(view)
        try connection.blocking.readWrite { transaction in
            for key in "abcdefghijxyz".map(String.init) { try transaction.set(key, key) }
            for (group, keys) in groups {
                for key in keys { try transaction[view].append(String(key), to: group) }
            }
        }
        _ = try read()
    }

    /// The titles that the list shows, by sections.
    var titles: [String] { list.sections.map { $0.rows.map(\.title).joined() } }

    mutating func read() throws -> YapDatabaseViewChange<Todo, String> {
        let change = try connection.blocking.read { try reader.read($0) }
        list.apply(change)
        return change
    }

    /// The keys of the view's groups.
    func keys(_ group: String) throws -> String {
        try connection.blocking.read { try $0[view].keys(in: group).joined() }
    }

    /// Plays the operations, and returns the change that a single read after them gives.
    mutating func play(
        _ operations: [ViewStage.Operation], inOneCommit: Bool
    ) throws -> YapDatabaseViewChange<Todo, String> {
        for commit in inOneCommit ? [operations] : operations.map({ [$0] }) {
            try connection.blocking.readWrite { transaction in
                for operation in commit { try play(operation, transaction) }
            }
        }
        return try read()
    }

    private func play(
        _ operation: ViewStage.Operation, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        let part = try transaction[view]
        switch operation {
        case .insert(let key, let index, let group): #expect(try part.insert(key, at: index, in: group))
        case .delete(let key, let index, let group):
            #expect(try part.keys(in: group, index..<index + 1) == [key])
            #expect(try part.remove(at: index, in: group))
        case .update(let key, let index, let group, let flags):
            #expect(try part.keys(in: group, index..<index + 1) == [key])
            if flags.contains(.object) { try transaction.touchObject(forKey: key, inCollection: "todos") }
            if flags.contains(.metadata) { try transaction.touchMetadata(forKey: key, inCollection: "todos") }
        case .reset(let group): try part.removeAll(in: group)
        }
    }
}

/// The cases of `ViewChangeTests` and `ViewChangeSectionTests` on a view in a file. A list that reads after several
/// commits gets the same changes as one that reads after a single commit.
@Suite struct ViewCommitChangeTests {
    private static let ofOneGroup =
        (ViewChangeVector.deletesAndInserts + ViewChangeVector.movesAndUpdates + ViewChangeVector.sameRow)
        .filter { $0.name != "update of nothing" }

    @Test(arguments: ofOneGroup, [true, false])
    func operationsOnOneGroupAmountToTheSameInOneCommitAndInSeveral(
        vector: ViewChangeVector, inOneCommit: Bool
    ) throws {
        var stage = try ViewCommitStage(.only([""]), ["": "abcdefgh"])
        let change = try stage.play(vector.operations, inOneCommit: inOneCommit)
        #expect(!change.isReset && change.sectionChanges.isEmpty)
        #expect(ViewStage.words(change.rowChanges) == vector.changes)
        #expect(try stage.titles == [stage.keys("")])
    }

    @Test(arguments: ViewSectionVector.all, [true, false])
    func operationsOnSeveralGroupsAmountToTheSameInOneCommitAndInSeveral(
        vector: ViewSectionVector, inOneCommit: Bool
    ) throws {
        let groups = ["a", "b", "c", "d"]
        var stage = try ViewCommitStage(.only(groups).dynamic(), ["a": "ab", "b": "cd", "c": "e"])
        let change = try stage.play(vector.operations, inOneCommit: inOneCommit)
        #expect(!change.isReset)
        #expect(ViewStage.words(change.sectionChanges) == vector.sections)
        #expect(ViewStage.words(change.rowChanges) == vector.rows)
        #expect(try stage.titles == groups.map { try stage.keys($0) }.filter { !$0.isEmpty })
    }
}

import Testing

@testable import Yap

/// Operations on one static group of the rows a to h, and the changes that they amount to.
struct ViewChangeVector: Sendable, CustomTestStringConvertible {
    let name: String
    let operations: [ViewStage.Operation]
    let changes: [String]

    init(_ name: String, _ operations: [ViewStage.Operation], _ changes: [String]) {
        self.name = name
        self.operations = operations
        self.changes = changes
    }

    var testDescription: String { name }

    static let deletesAndInserts: [Self] = [
        .init("two deletes at 2", [.delete("c", at: 2), .delete("d", at: 2)], ["delete 0.3", "delete 0.2"]),
        .init("delete 2, 0", [.delete("c", at: 2), .delete("a", at: 0)], ["delete 0.2", "delete 0.0"]),
        .init("delete 2, 3", [.delete("c", at: 2), .delete("e", at: 3)], ["delete 0.4", "delete 0.2"]),
        .init("delete 0, 6", [.delete("a", at: 0), .delete("h", at: 6)], ["delete 0.7", "delete 0.0"]),
        .init("delete the last", [.delete("h", at: 7)], ["delete 0.7"]),
        .init("insert 2, 0", [.insert("x", at: 2), .insert("y", at: 0)], ["insert 0.0", "insert 0.3"]),
        .init("two inserts at 2", [.insert("x", at: 2), .insert("y", at: 2)], ["insert 0.2", "insert 0.3"]),
        .init("insert 2, 6", [.insert("x", at: 2), .insert("y", at: 6)], ["insert 0.2", "insert 0.6"]),
        .init(
            "insert at both ends", [.insert("x", at: 8), .insert("y", at: 0)], ["insert 0.0", "insert 0.9"]),
        .init("append two", [.insert("x", at: 8), .insert("y", at: 9)], ["insert 0.8", "insert 0.9"]),
        .init(
            "insert 2, delete 0", [.insert("x", at: 2), .delete("a", at: 0)], ["delete 0.0", "insert 0.1"]),
        .init(
            "insert 2, delete 3", [.insert("x", at: 2), .delete("c", at: 3)], ["delete 0.2", "insert 0.2"]),
        .init(
            "insert 2, delete 4", [.insert("x", at: 2), .delete("d", at: 4)], ["delete 0.3", "insert 0.2"]),
        .init(
            "delete 0, insert 2", [.delete("a", at: 0), .insert("x", at: 2)], ["delete 0.0", "insert 0.2"]),
        .init(
            "delete 4, insert 2", [.delete("e", at: 4), .insert("x", at: 2)], ["delete 0.4", "insert 0.2"]),
        .init(
            "delete 2, insert 2", [.delete("c", at: 2), .insert("x", at: 2)], ["delete 0.2", "insert 0.2"]),
        .init(
            "delete, insert, delete", [.delete("a", at: 0), .insert("x", at: 0), .delete("b", at: 1)],
            ["delete 0.1", "delete 0.0", "insert 0.0"]),
    ]

    static let movesAndUpdates: [Self] = [
        .init("update", [.update("d", at: 3)], ["update 0.3 object"]),
        .init("update of metadata", [.update("d", at: 3, .metadata)], ["update 0.3 metadata"]),
        .init("update of nothing", [.update("d", at: 3, [])], ["update 0.3"]),
        .init(
            "updates of two", [.update("h", at: 7), .update("a", at: 0)],
            ["update 0.0 object", "update 0.7 object"]),
        .init(
            "update, delete after", [.update("d", at: 3), .delete("e", at: 4)],
            ["delete 0.4", "update 0.3 object"]),
        .init(
            "update, delete before", [.update("d", at: 3), .delete("a", at: 0)],
            ["delete 0.0", "move 0.3>0.2 object"]),
        .init(
            "delete before, update", [.delete("a", at: 0), .update("d", at: 2)],
            ["delete 0.0", "move 0.3>0.2 object"]),
        .init(
            "update, insert before", [.update("d", at: 3), .insert("x", at: 3)],
            ["insert 0.3", "move 0.3>0.4 object"]),
        .init(
            "insert before, update", [.insert("x", at: 0), .update("d", at: 4)],
            ["insert 0.0", "move 0.3>0.4 object"]),
        .init(
            "insert after, update", [.insert("x", at: 4), .update("d", at: 3)],
            ["insert 0.4", "update 0.3 object"]),
        .init(
            "update, insert and delete before",
            [.update("d", at: 3), .insert("x", at: 0), .delete("a", at: 1)],
            ["delete 0.0", "insert 0.0", "update 0.3 object"]),
        .init(
            "move over an updated row", [.delete("a", at: 0), .insert("a", at: 7), .update("d", at: 2)],
            ["move 0.3>0.2 object", "move 0.0>0.7"]),
        .init("move down", [.delete("a", at: 0), .insert("a", at: 2)], ["move 0.0>0.2"]),
        .init("move up", [.delete("h", at: 7), .insert("h", at: 0)], ["move 0.7>0.0"]),
        .init(
            "swap", [.delete("a", at: 0), .insert("a", at: 7), .delete("h", at: 6), .insert("h", at: 0)],
            ["move 0.7>0.0", "move 0.0>0.7"]),
        .init(
            "move and insert before", [.delete("a", at: 0), .insert("a", at: 2), .insert("x", at: 0)],
            ["insert 0.0", "move 0.0>0.3"]),
        .init(
            "two moves to one place",
            [.delete("a", at: 0), .insert("a", at: 4), .delete("b", at: 0), .insert("b", at: 4)],
            ["move 0.0>0.3", "move 0.1>0.4"]),
    ]

    static let sameRow: [Self] = [
        .init("delete…insert", [.delete("c", at: 2), .insert("c", at: 5)], ["move 0.2>0.5"]),
        .init("delete…insert at its place", [.delete("c", at: 2), .insert("c", at: 2)], ["move 0.2>0.2"]),
        .init(
            "delete…update", [.delete("c", at: 2), .insert("c", at: 5), .update("c", at: 5)],
            ["move 0.2>0.5 object"]),
        .init(
            "delete…delete",
            [.insert("x", at: 0), .delete("c", at: 3), .insert("c", at: 5), .delete("c", at: 5)],
            ["delete 0.2", "insert 0.0"]),
        .init(
            "delete, insert, delete, insert",
            [.delete("c", at: 2), .insert("c", at: 5), .delete("c", at: 5), .insert("c", at: 0)],
            ["move 0.2>0.0"]),
        .init("insert…delete", [.insert("x", at: 2), .delete("x", at: 2)], []),
        .init("insert, update, delete", [.insert("x", at: 2), .update("x", at: 2), .delete("x", at: 2)], []),
        .init(
            "insert…delete around another", [.insert("x", at: 2), .insert("y", at: 0), .delete("x", at: 3)],
            ["insert 0.0"]),
        .init(
            "insert…insert", [.insert("x", at: 2), .delete("x", at: 2), .insert("x", at: 6)], ["insert 0.6"]),
        .init("insert…update", [.insert("x", at: 2), .update("x", at: 2)], ["insert 0.2 object"]),
        .init(
            "insert, insert before, update", [.insert("x", at: 2), .insert("y", at: 0), .update("x", at: 3)],
            ["insert 0.0", "insert 0.3 object"]),
        .init(
            "update…delete", [.update("c", at: 2), .delete("a", at: 0), .delete("c", at: 1)],
            ["delete 0.2 object", "delete 0.0"]),
        .init(
            "update…insert", [.update("c", at: 2), .delete("c", at: 2), .insert("c", at: 4)],
            ["move 0.2>0.4 object"]),
        .init(
            "update, delete, insert, update",
            [.update("c", at: 2), .delete("c", at: 2), .insert("c", at: 2), .update("c", at: 2, .metadata)],
            ["move 0.2>0.2 object metadata"]),
        .init(
            "update…update", [.update("c", at: 2), .update("c", at: 2, .metadata)],
            ["update 0.2 object metadata"]),
        .init(
            "update…update of a shifted row",
            [.update("c", at: 2), .insert("x", at: 0), .update("c", at: 3)],
            ["insert 0.0", "move 0.2>0.3 object"]),
    ]
}

struct ViewChangeTests {
    private func check(_ vector: ViewChangeVector) {
        var stage = ViewStage(.only([""]), ["": "abcdefgh"])
        let changes = stage.play(vector.operations)
        #expect(ViewStage.words(changes.rows) == vector.changes)
        #expect(changes.sections.isEmpty)
    }

    @Test(arguments: ViewChangeVector.deletesAndInserts)
    func deletesHaveIndexesBeforeAndInsertsIndexesAfterTheWholeBatch(vector: ViewChangeVector) {
        check(vector)
    }

    @Test(arguments: ViewChangeVector.movesAndUpdates)
    func onlyARowThatNeverMovedIsReportedAsAnUpdate(vector: ViewChangeVector) { check(vector) }

    @Test(arguments: ViewChangeVector.sameRow)
    func severalOperationsOnOneRowAreOneChangeAtMost(vector: ViewChangeVector) { check(vector) }

    @Test func aResetGroupDeletesItsRowsFromTheLastToTheFirst() {
        var stage = ViewStage(.only([""]), ["": "abc"])
        let changes = stage.play([.insert("x", at: 0), .reset()])
        #expect(ViewStage.words(changes.rows) == ["delete 0.2", "delete 0.1", "delete 0.0"])
        #expect(changes.sections.isEmpty)
    }

    @Test func rowsThatComeBackAfterAResetMove() {
        var stage = ViewStage(.only([""]), ["": "abc"])
        let changes = stage.play([.reset(), .insert("b", at: 0), .insert("x", at: 1), .insert("a", at: 2)])
        #expect(
            ViewStage.words(changes.rows) == ["delete 0.2", "insert 0.1", "move 0.1>0.0", "move 0.0>0.2"])
    }

    @Test func noOperationsGiveNoChanges() {
        var stage = ViewStage(.only([""]), ["": "abc"])
        let changes = stage.play([])
        #expect(changes.rows.isEmpty && changes.sections.isEmpty)
    }

    @Test func changesNameTheRowsThatChanged() {
        var mappings = YapDatabaseViewMappings<String>.only(["a"])
        mappings.reset(to: ["a": 3])
        let place = { ViewRowDelta<String>.Place(group: "a", index: $0) }
        let changes = mappings.apply(
            [
                ViewRowDelta(rowID: 17, original: place(0), final: nil, keptPlace: false, flags: []),
                ViewRowDelta(rowID: 18, original: nil, final: place(1), keptPlace: false, flags: .object),
            ], counts: ["a": 3])
        #expect(changes.rows.map(\.rowID) == [17, 18])
    }
}

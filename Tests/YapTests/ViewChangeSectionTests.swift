import Testing

@testable import Yap

/// Operations on the dynamic groups a ("ab"), b ("cd") and c ("e"), and the changes that they amount to. Group d is
/// shown too, and u isn't.
struct ViewSectionVector: Sendable, CustomTestStringConvertible {
    let name: String
    let operations: [ViewStage.Operation]
    let sections: [String]
    let rows: [String]

    init(_ name: String, _ operations: [ViewStage.Operation], _ sections: [String], _ rows: [String]) {
        self.name = name
        self.operations = operations
        self.sections = sections
        self.rows = rows
    }

    var testDescription: String { name }

    static let all: [Self] = [
        .init("last row deleted", [.delete("e", at: 0, in: "c")], ["delete 2 c"], ["delete 2.0"]),
        .init("first row inserted", [.insert("x", at: 0, in: "d")], ["insert 3 d"], ["insert 3.0"]),
        .init(
            "group deleted and inserted", [.delete("e", at: 0, in: "c"), .insert("x", at: 0, in: "c")], [],
            ["delete 2.0", "insert 2.0"]),
        .init(
            "group deleted and inserted with the same row",
            [.delete("e", at: 0, in: "c"), .insert("e", at: 0, in: "c")], [], ["move 2.0>2.0"]),
        .init(
            "group inserted and deleted", [.insert("x", at: 0, in: "d"), .delete("x", at: 0, in: "d")], [], []
        ),
        .init(
            "one group for another", [.delete("e", at: 0, in: "c"), .insert("x", at: 0, in: "d")],
            ["delete 2 c", "insert 2 d"], ["delete 2.0", "insert 2.0"]),
        .init(
            "first group for the last", [.reset("a"), .insert("x", at: 0, in: "d")],
            ["delete 0 a", "insert 2 d"], ["delete 0.1", "delete 0.0", "insert 2.0"]),
        .init(
            "all groups deleted", [.reset("a"), .reset("b"), .reset("c")],
            ["delete 2 c", "delete 1 b", "delete 0 a"],
            ["delete 2.0", "delete 1.1", "delete 1.0", "delete 0.1", "delete 0.0"]),
        .init(
            "row moved to another group", [.delete("a", at: 0, in: "a"), .insert("a", at: 1, in: "b")], [],
            ["move 0.0>1.1"]),
        .init(
            "only row moved to another group", [.delete("e", at: 0, in: "c"), .insert("e", at: 1, in: "a")],
            ["delete 2 c"], ["move 2.0>0.1"]),
        .init(
            "row moved to a new group", [.delete("a", at: 0, in: "a"), .insert("a", at: 0, in: "d")],
            ["insert 3 d"], ["move 0.0>3.0"]),
        .init(
            "only row moved to a new group", [.delete("e", at: 0, in: "c"), .insert("e", at: 0, in: "d")],
            ["delete 2 c", "insert 2 d"], ["move 2.0>2.0"]),
        .init(
            "row moved to another group and back",
            [
                .delete("a", at: 0, in: "a"), .insert("a", at: 0, in: "b"), .delete("a", at: 0, in: "b"),
                .insert("a", at: 1, in: "a"),
            ], [], ["move 0.0>0.1"]),
        .init(
            "update after a section that disappeared",
            [.reset("b"), .update("e", at: 0, in: "c")], ["delete 1 b"],
            ["delete 1.1", "delete 1.0", "move 2.0>1.0 object"]),
        .init(
            "update before a section that disappeared",
            [.reset("b"), .update("a", at: 0, in: "a")], ["delete 1 b"],
            ["delete 1.1", "delete 1.0", "update 0.0 object"]),
        .init(
            "row of an unmapped group", [.insert("x", at: 0, in: "u"), .update("x", at: 0, in: "u")], [], []),
        .init(
            "row moved to an unmapped group", [.delete("a", at: 0, in: "a"), .insert("a", at: 0, in: "u")],
            [],
            ["delete 0.0"]),
        .init(
            "only row moved to an unmapped group",
            [.delete("e", at: 0, in: "c"), .insert("e", at: 0, in: "u")], ["delete 2 c"], ["delete 2.0"]),
        .init("reset", [.reset("b")], ["delete 1 b"], ["delete 1.1", "delete 1.0"]),
        .init(
            "reset and filled", [.reset("b"), .insert("x", at: 0, in: "b")], [],
            ["delete 1.1", "delete 1.0", "insert 1.0"]),
    ]
}

struct ViewChangeSectionTests {
    @Test(arguments: ViewSectionVector.all)
    func dynamicSectionsComeAndGoWithTheirRows(vector: ViewSectionVector) {
        var stage = ViewStage(.only(["a", "b", "c", "d"]).dynamic(), ["a": "ab", "b": "cd", "c": "e"])
        let changes = stage.play(vector.operations)
        #expect(ViewStage.words(changes.sections) == vector.sections)
        #expect(ViewStage.words(changes.rows) == vector.rows)
    }

    @Test(arguments: ViewSectionVector.all)
    func staticSectionsNeverChange(vector: ViewSectionVector) {
        var stage = ViewStage(.only(["a", "b", "c", "d"]), ["a": "ab", "b": "cd", "c": "e"])
        let changes = stage.play(vector.operations)
        #expect(changes.sections.isEmpty)
        #expect(stage.mappings.sections.map(\.group) == ["a", "b", "c", "d"])
    }

    /// The appendix's vector: delete section 1, move (1, 0) to (0, 1).
    @Test func theOnlyRowOfASectionMovesToAnother() {
        var stage = ViewStage(.only(["a", "b"]).dynamic(), ["a": "x", "b": "y"])
        let changes = stage.play([.delete("y", at: 0, in: "b"), .insert("y", at: 1, in: "a")])
        #expect(changes.sections == [.delete(section: 1, group: "b")])
        #expect(ViewStage.words(changes.rows) == ["move 1.0>0.1"])
    }

    @Test func anUpdateInASectionThatShiftedIsAMove() {
        var stage = ViewStage(.sorted, ["b": "x"])
        let changes = stage.play([.insert("y", at: 0, in: "a"), .update("x", at: 0, in: "b")])
        #expect(changes.sections == [.insert(section: 0, group: "a")])
        #expect(ViewStage.words(changes.rows) == ["insert 0.0", "move 0.0>1.0 object"])
    }

    /// Rows pass through a mapped group to one that isn't, while others are inserted (the original's issue 125).
    @Test(arguments: [2, 3, 4])
    func rowsThatPassThroughAMappedGroupAreReportedByTheirOriginalPlacesOnly(count: Int) {
        var stage = ViewStage(.only(["a"]), ["a": "ab"])
        let passing = ["x", "y"].prefix(count - 2).flatMap { key in
            [
                ViewStage.Operation.insert(key, at: 0, in: "a"), .delete(key, at: 0, in: "a"),
                .insert(key, at: 0, in: "u"),
            ]
        }
        let changes = stage.play(
            [.delete("b", at: 1, in: "a"), .insert("b", at: 0, in: "u")] + passing
                + [.update("a", at: 0, in: "a"), .delete("a", at: 0, in: "a"), .insert("a", at: 0, in: "u")])
        #expect(changes.sections.isEmpty)
        #expect(changes.rows.map(\.kind) == [.delete, .delete])
        #expect(changes.rows.map(\.original?.row) == [1, 0])
    }
}

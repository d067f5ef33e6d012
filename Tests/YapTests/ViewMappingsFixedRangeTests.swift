import Testing

@testable import Yap

/// Operations on one group, of which a range is shown.
struct ViewRangeVector: Sendable, CustomTestStringConvertible {
    let name: String
    var range: YapDatabaseViewRange?
    let operations: [ViewStage.Operation]
    let changes: [String]
    let shown: String

    init(
        _ name: String, _ operations: [ViewStage.Operation], _ changes: [String], shown: String
    ) {
        self.name = name
        self.operations = operations
        self.changes = changes
        self.shown = shown
    }

    init(
        _ name: String, _ range: YapDatabaseViewRange, _ operations: [ViewStage.Operation],
        _ changes: [String], shown: String
    ) {
        self.init(name, operations, changes, shown: shown)
        self.range = range
    }

    var testDescription: String { name }

    func check(_ range: YapDatabaseViewRange = .all, of rows: String = "abcdefghij") {
        var stage = ViewStage(.only([""]).rows(self.range ?? range), ["": rows])
        let changes = stage.play(operations)
        #expect(ViewStage.words(changes.rows) == self.changes)
        #expect(stage.keys == [shown])
    }
}

struct ViewMappingsFixedRangeTests {
    private static let fromBeginning: [ViewRangeVector] = [
        .init("insert inside", [.insert("x", at: 1)], ["delete 0.3", "insert 0.1"], shown: "axbc"),
        .init("insert first", [.insert("x", at: 0)], ["delete 0.3", "insert 0.0"], shown: "xabc"),
        .init("insert as the last", [.insert("x", at: 3)], ["delete 0.3", "insert 0.3"], shown: "abcx"),
        .init("insert after", [.insert("x", at: 4)], [], shown: "abcd"),
        .init("append", [.insert("x", at: 10)], [], shown: "abcd"),
        .init(
            "insert two", [.insert("x", at: 0), .insert("y", at: 2)],
            ["delete 0.3", "delete 0.2", "insert 0.0", "insert 0.2"], shown: "xayb"),
        .init(
            "insert more than it holds", "uvwxyz".map { .insert(String($0), at: 0) },
            ["delete 0.3", "delete 0.2", "delete 0.1", "delete 0.0"] + (0..<4).map { "insert 0.\($0)" },
            shown: "zyxw"),
        .init("delete inside", [.delete("b", at: 1)], ["delete 0.1", "insert 0.3"], shown: "acde"),
        .init("delete first", [.delete("a", at: 0)], ["delete 0.0", "insert 0.3"], shown: "bcde"),
        .init("delete the last shown", [.delete("d", at: 3)], ["delete 0.3", "insert 0.3"], shown: "abce"),
        .init("delete after", [.delete("e", at: 4)], [], shown: "abcd"),
        .init("delete the group's last", [.delete("j", at: 9)], [], shown: "abcd"),
        .init(
            "delete across the edge", [.delete("d", at: 3), .delete("e", at: 3)],
            ["delete 0.3", "insert 0.3"],
            shown: "abcf"),
        .init(
            "insert and delete inside", [.insert("x", at: 1), .delete("c", at: 3)],
            ["delete 0.2", "insert 0.1"],
            shown: "axbd"),
        .init("insert and delete after", [.insert("x", at: 6), .delete("e", at: 4)], [], shown: "abcd"),
        .init("update inside", [.update("b", at: 1)], ["update 0.1 object"], shown: "abcd"),
        .init("update after", [.update("e", at: 4)], [], shown: "abcd"),
        .init(
            "update of a row that leaves", [.update("d", at: 3), .insert("x", at: 0)],
            ["delete 0.3 object", "insert 0.0"], shown: "xabc"),
        .init(
            "update of a row that enters", [.update("e", at: 4), .delete("a", at: 0)],
            ["delete 0.0", "insert 0.3 object"], shown: "bcde"),
        .init("move inside", [.delete("a", at: 0), .insert("a", at: 2)], ["move 0.0>0.2"], shown: "bcad"),
        .init(
            "move out", [.delete("a", at: 0), .insert("a", at: 8)], ["delete 0.0", "insert 0.3"],
            shown: "bcde"),
        .init(
            "move in", [.delete("j", at: 9), .insert("j", at: 0)], ["delete 0.3", "insert 0.0"], shown: "jabc"
        ),
        .init("move outside", [.delete("j", at: 9), .insert("j", at: 5)], [], shown: "abcd"),
        .init("reset", [.reset()], (0..<4).reversed().map { "delete 0.\($0)" }, shown: ""),
        .init(
            "reset and filled", [.reset(), .insert("x", at: 0), .insert("b", at: 1)],
            ["delete 0.3", "delete 0.2", "delete 0.0", "insert 0.0", "move 0.1>0.1"], shown: "xb"),
    ]

    @Test(arguments: fromBeginning)
    func aRangeFromTheBeginningKeepsTheFirstRows(vector: ViewRangeVector) { vector.check(.first(4)) }

    private static let fromEnd: [ViewRangeVector] = [
        .init("insert inside", [.insert("x", at: 8)], ["delete 0.0", "insert 0.1"], shown: "hxij"),
        .init("append", [.insert("x", at: 10)], ["delete 0.0", "insert 0.3"], shown: "hijx"),
        .init("insert before its first row", [.insert("x", at: 6)], [], shown: "ghij"),
        .init(
            "insert after its first row", [.insert("x", at: 7)], ["delete 0.0", "insert 0.0"], shown: "xhij"),
        .init("insert first", [.insert("x", at: 0)], [], shown: "ghij"),
        .init(
            "insert more than it holds", (0..<6).map { .insert("\($0)", at: 10 + $0) },
            ["delete 0.3", "delete 0.2", "delete 0.1", "delete 0.0"] + (0..<4).map { "insert 0.\($0)" },
            shown: "2345"),
        .init("delete inside", [.delete("h", at: 7)], ["delete 0.1", "insert 0.0"], shown: "fgij"),
        .init("delete the last", [.delete("j", at: 9)], ["delete 0.3", "insert 0.0"], shown: "fghi"),
        .init("delete its first row", [.delete("g", at: 6)], ["delete 0.0", "insert 0.0"], shown: "fhij"),
        .init("delete before", [.delete("f", at: 5)], [], shown: "ghij"),
        .init("delete the group's first", [.delete("a", at: 0)], [], shown: "ghij"),
        .init("update inside", [.update("h", at: 7)], ["update 0.1 object"], shown: "ghij"),
        .init(
            "update inside, insert before", [.insert("x", at: 0), .update("h", at: 8)], ["update 0.1 object"],
            shown: "ghij"),
        .init("update before", [.update("f", at: 5)], [], shown: "ghij"),
        .init(
            "update of a row that shifts", [.update("h", at: 7), .insert("x", at: 10)],
            ["delete 0.0", "insert 0.3", "move 0.1>0.0 object"], shown: "hijx"),
        .init("move inside", [.delete("j", at: 9), .insert("j", at: 6)], ["move 0.3>0.0"], shown: "jghi"),
        .init(
            "move out", [.delete("j", at: 9), .insert("j", at: 0)], ["delete 0.3", "insert 0.0"],
            shown: "fghi"),
        .init(
            "move in", [.delete("a", at: 0), .insert("a", at: 9)], ["delete 0.0", "insert 0.3"], shown: "hija"
        ),
        .init("reset", [.reset()], (0..<4).reversed().map { "delete 0.\($0)" }, shown: ""),
        .init(
            "reset and filled", [.reset(), .insert("x", at: 0), .insert("j", at: 1)],
            ["delete 0.2", "delete 0.1", "delete 0.0", "insert 0.0", "move 0.3>0.1"], shown: "xj"),
    ]

    @Test(arguments: fromEnd)
    func aRangeFromTheEndKeepsTheLastRows(vector: ViewRangeVector) { vector.check(.last(4)) }

    private static let beginning = YapDatabaseViewRange.window(length: 3, offset: 2, from: .beginning)
    private static let end = YapDatabaseViewRange.window(length: 3, offset: 2, from: .end)
    private static let withOffset: [ViewRangeVector] = [
        .init("insert before", beginning, [.insert("x", at: 0)], ["delete 0.2", "insert 0.0"], shown: "bcd"),
        .init(
            "insert at its start", beginning, [.insert("x", at: 2)], ["delete 0.2", "insert 0.0"],
            shown: "xcd"),
        .init("insert after", beginning, [.insert("x", at: 5)], [], shown: "cde"),
        .init("delete before", beginning, [.delete("a", at: 0)], ["delete 0.0", "insert 0.2"], shown: "def"),
        .init("delete inside", beginning, [.delete("d", at: 3)], ["delete 0.1", "insert 0.2"], shown: "cef"),
        .init(
            "move over", beginning, [.delete("a", at: 0), .insert("a", at: 9)], ["delete 0.0", "insert 0.2"],
            shown: "def"),
        .init(
            "shrink to nothing", beginning, [.reset(), .insert("x", at: 0)],
            ["delete 0.2", "delete 0.1", "delete 0.0"], shown: ""),
        .init("append", end, [.insert("x", at: 10)], ["delete 0.0", "insert 0.2"], shown: "ghi"),
        .init("insert at its end", end, [.insert("x", at: 8)], ["delete 0.0", "insert 0.2"], shown: "ghx"),
        .init("insert before the start", end, [.insert("x", at: 5)], [], shown: "fgh"),
        .init("delete the last", end, [.delete("j", at: 9)], ["delete 0.2", "insert 0.0"], shown: "efg"),
        .init(
            "delete inside, from the end", end, [.delete("g", at: 6)], ["delete 0.1", "insert 0.0"],
            shown: "efh"),
    ]

    @Test(arguments: withOffset)
    func anOffsetIsKeptFromTheEndThatTheRangeIsPinnedTo(vector: ViewRangeVector) { vector.check() }

    private static let longerThanTheGroup: [ViewRangeVector] = [
        .init("insert", .first(20), [.insert("x", at: 1)], ["insert 0.1"], shown: "axbc"),
        .init("append", .last(20), [.insert("x", at: 3)], ["insert 0.3"], shown: "abcx"),
        .init("delete", .first(20), [.delete("b", at: 1)], ["delete 0.1"], shown: "ac"),
        .init("delete all", .last(20), [.reset()], ["delete 0.2", "delete 0.1", "delete 0.0"], shown: ""),
        .init(
            "grow past the length", .first(4), [.insert("x", at: 0), .insert("y", at: 0)],
            ["delete 0.2", "insert 0.0", "insert 0.1"], shown: "yxab"),
        .init(
            "grow past the length at the end", .last(4), [.insert("x", at: 3), .insert("y", at: 4)],
            ["delete 0.0", "insert 0.2", "insert 0.3"], shown: "bcxy"),
        .init(
            "grow to the offset", .window(length: 2, offset: 3, from: .beginning), [.insert("x", at: 0)],
            ["insert 0.0"], shown: "c"),
        .init(
            "stay below the offset", .window(length: 2, offset: 9, from: .end), [.insert("x", at: 0)], [],
            shown: ""),
        .init("no length", .first(0), [.insert("x", at: 0)], [], shown: ""),
        .init("a negative length", .last(-3), [.insert("x", at: 0)], [], shown: ""),
        .init(
            "the greatest length", .window(length: .max, offset: 1, from: .end), [.insert("x", at: 0)],
            ["insert 0.0"], shown: "xab"),
    ]

    @Test(arguments: longerThanTheGroup)
    func aRangeLongerThanItsGroupFillsAsTheGroupGrows(vector: ViewRangeVector) { vector.check(of: "abc") }

    @Test func groupsHaveRangesOfTheirOwn() {
        var stage = ViewStage(
            .only(["a", "b", "c"]).rows(.first(2)).rows(.last(1), in: "b").rows(.all, in: "c"),
            ["a": "123", "b": "456", "c": "789"])
        #expect(stage.keys == ["12", "6", "789"])
        let changes = stage.play([
            .insert("x", at: 0, in: "a"), .delete("6", at: 2, in: "b"), .insert("6", at: 0, in: "c"),
            .delete("9", at: 3, in: "c"), .insert("9", at: 0, in: "b"),
        ])
        #expect(stage.keys == ["x1", "5", "678"])
        #expect(
            ViewStage.words(changes.rows) == [
                "delete 2.2", "delete 0.1", "insert 0.0", "insert 1.0", "move 1.0>2.0",
            ])
    }

    @Test func aChangedRangeReportsTheRowsThatEnterAndLeave() {
        var stage = ViewStage(.only([""]).rows(.last(3)), ["": "abcdefghij"])
        #expect(ViewStage.words(stage.change(to: .last(5)).rows) == ["insert 0.0", "insert 0.1"])
        #expect(stage.keys == ["fghij"])
        #expect(
            ViewStage.words(stage.change(to: .last(1)).rows) == (0..<4).reversed().map { "delete 0.\($0)" })
        let changes = stage.change(to: .first(2), in: "")
        #expect(ViewStage.words(changes.rows) == ["delete 0.0", "insert 0.0", "insert 0.1"])
        #expect(stage.keys == ["ab"])
        #expect(ViewStage.words(stage.play([.insert("x", at: 0)]).rows) == ["delete 0.1", "insert 0.0"])
    }

    @Test func aDynamicSectionIsRemovedWhenItsRangeIsEmpty() {
        var stage = ViewStage(
            YapDatabaseViewMappings.sorted.rows(.window(length: 2, offset: 1, from: .end)),
            ["a": "123", "b": "45"])
        let changes = stage.play([.delete("5", at: 1, in: "b")])
        #expect(ViewStage.words(changes.sections) == ["delete 1 b"])
        #expect(ViewStage.words(changes.rows) == ["delete 1.0"])
        #expect(stage.mappings.section(of: "b") == nil)
    }
}

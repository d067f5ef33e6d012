import Testing

@testable import Yap

/// Sides at which a range grows, with the end that it is pinned to.
struct ViewGrowth: Sendable, CustomTestStringConvertible {
    let edge: YapDatabaseViewRange.Edge
    let growth: YapDatabaseViewRange.Growth
    let growsLow: Bool
    let growsHigh: Bool

    var testDescription: String { "from the \(edge), low \(growsLow), high \(growsHigh)" }

    static let all: [Self] = [
        Self(edge: .beginning, growth: .inRangeOnly, growsLow: false, growsHigh: false),
        Self(edge: .beginning, growth: .pinSide, growsLow: true, growsHigh: false),
        Self(edge: .beginning, growth: .nonPinSide, growsLow: false, growsHigh: true),
        Self(edge: .beginning, growth: .bothSides, growsLow: true, growsHigh: true),
        Self(edge: .end, growth: .inRangeOnly, growsLow: false, growsHigh: false),
        Self(edge: .end, growth: .pinSide, growsLow: false, growsHigh: true),
        Self(edge: .end, growth: .nonPinSide, growsLow: true, growsHigh: false),
        Self(edge: .end, growth: .bothSides, growsLow: true, growsHigh: true),
    ]
}

/// Ranges that show "defg" of "abcdefghij" to begin with.
struct ViewMappingsFlexibleRangeTests {
    private func stage(_ growth: ViewGrowth, min: Int = 0, max: Int = .max) -> ViewStage {
        let range = YapDatabaseViewRange.flexible(
            length: 4, offset: 3, from: growth.edge, min: min, max: max, growing: growth.growth)
        let stage = ViewStage(.only([""]).rows(range), ["": "abcdefghij"])
        #expect(stage.keys == ["defg"])
        return stage
    }

    private func shown(_ growth: ViewGrowth, _ operations: ViewStage.Operation...) -> String {
        var stage = stage(growth)
        _ = stage.play(operations)
        return stage.keys[0]
    }

    @Test(arguments: ViewGrowth.all)
    func rowsInsertedInsideAreShownAndThoseApartAreNot(growth: ViewGrowth) {
        #expect(shown(growth, .insert("x", at: 4)) == "dxefg")
        #expect(shown(growth, .insert("x", at: 6)) == "defxg")
        #expect(shown(growth, .insert("x", at: 0)) == "defg")
        #expect(shown(growth, .insert("x", at: 2)) == "defg")
        #expect(shown(growth, .insert("x", at: 8)) == "defg")
        #expect(shown(growth, .insert("x", at: 10)) == "defg")
    }

    @Test(arguments: ViewGrowth.all)
    func rowsInsertedDirectlyBesideAreShownWhereTheRangeGrows(growth: ViewGrowth) {
        #expect(shown(growth, .insert("x", at: 3)) == (growth.growsLow ? "xdefg" : "defg"))
        #expect(shown(growth, .insert("x", at: 7)) == (growth.growsHigh ? "defgx" : "defg"))
        #expect(
            shown(growth, .insert("x", at: 3), .insert("y", at: 3)) == (growth.growsLow ? "yxdefg" : "defg"))
        #expect(
            shown(growth, .insert("x", at: 7), .insert("y", at: 8)) == (growth.growsHigh ? "defgxy" : "defg"))
        #expect(
            shown(growth, .insert("x", at: 3), .insert("y", at: 8), .insert("z", at: 5))
                == (growth.growsLow ? "x" : "") + "dzefg" + (growth.growsHigh ? "y" : ""))
    }

    @Test(arguments: ViewGrowth.all)
    func theRangeShrinksByTheRowsThatAreDeleted(growth: ViewGrowth) {
        #expect(shown(growth, .delete("e", at: 4)) == "dfg")
        #expect(shown(growth, .delete("d", at: 3)) == "efg")
        #expect(shown(growth, .delete("g", at: 6)) == "def")
        #expect(shown(growth, .delete("c", at: 2)) == "defg")
        #expect(shown(growth, .delete("h", at: 7)) == "defg")
        #expect(shown(growth, .delete("a", at: 0), .delete("j", at: 8), .delete("f", at: 4)) == "deg")
    }

    @Test(arguments: ViewGrowth.all)
    func rowsMoveIntoTheRangeOutOfItAndPastIt(growth: ViewGrowth) {
        #expect(shown(growth, .delete("a", at: 0), .insert("a", at: 4)) == "deafg")
        #expect(shown(growth, .delete("e", at: 4), .insert("e", at: 0)) == "dfg")
        #expect(shown(growth, .delete("e", at: 4), .insert("e", at: 5)) == "dfeg")
        #expect(shown(growth, .delete("a", at: 0), .insert("a", at: 9)) == "defg")
    }

    @Test(arguments: ViewGrowth.all)
    func anEmptyRangeGrowsOnBothSides(growth: ViewGrowth) {
        var stage = stage(growth)
        let deletes = stage.play("defg".map { .delete(String($0), at: 3) })
        #expect(ViewStage.words(deletes.rows) == (0..<4).reversed().map { "delete 0.\($0)" })
        #expect(stage.keys == [""])
        #expect(stage.play([.insert("x", at: 2), .insert("y", at: 5)]).rows.isEmpty)
        #expect(ViewStage.words(stage.play([.insert("z", at: 4)]).rows) == ["insert 0.0"])
        #expect(stage.keys == ["z"])
    }

    @Test(arguments: ViewGrowth.all)
    func aRangeLongerThanItsMaximumIsCutAwayFromThePinnedEnd(growth: ViewGrowth) {
        var stage = stage(growth, max: 5)
        #expect(ViewStage.words(stage.play([.insert("x", at: 4)]).rows) == ["insert 0.1"])
        let rows = stage.play([.insert("y", at: 5)]).rows
        let isFromBeginning = growth.edge == .beginning
        #expect(
            ViewStage.words(rows)
                == (isFromBeginning ? ["delete 0.4", "insert 0.2"] : ["delete 0.0", "insert 0.1"]))
        #expect(stage.keys == [isFromBeginning ? "dxyef" : "xyefg"])
    }

    @Test(arguments: ViewGrowth.all)
    func aRangeShorterThanItsMinimumIsExtendedTowardsThePinnedEndFirst(growth: ViewGrowth) {
        var stage = stage(growth, min: 3)
        #expect(ViewStage.words(stage.play([.delete("e", at: 4)]).rows) == ["delete 0.1"])
        _ = stage.play([.delete("f", at: 4)])
        let isFromBeginning = growth.edge == .beginning
        #expect(stage.keys == [isFromBeginning ? "cdg" : "dgh"])
        _ = stage.play("abc".map { .delete(String($0), at: 0) } + "hij".map { .delete(String($0), at: 2) })
        #expect(stage.keys == ["dg"])
        _ = stage.play([.insert("x", at: 0), .insert("y", at: 3)])
        #expect(stage.keys[0].count >= 3)
    }

    @Test(arguments: ViewGrowth.all)
    func aGroupOfNewRowsBeginsAgainWithTheLengthAndTheOffset(growth: ViewGrowth) {
        var stage = stage(growth)
        let rows = "klmnopqrst".enumerated().map { ViewStage.Operation.insert(String($1), at: $0) }
        let changes = stage.play([.reset()] + rows)
        #expect(stage.keys == ["nopq"])
        #expect(changes.rows.count == 8)
        _ = stage.play([.reset()])
        #expect(stage.keys == [""])
        _ = stage.play(rows)
        #expect(stage.keys == ["nopq"])
    }

    @Test func theOffsetFollowsTheRows() {
        var stage = stage(ViewGrowth.all[1])
        #expect(stage.play([.insert("x", at: 0), .delete("j", at: 10)]).rows.isEmpty)
        #expect(stage.mappings.shownIndexes(in: "") == 4..<8)
        #expect(ViewStage.words(stage.play([.update("f", at: 6)]).rows) == ["update 0.2 object"])
    }

    @Test func aConversationGrowsByNewMessages() {
        let range = YapDatabaseViewRange.flexible(length: 3, from: .end)
        var stage = ViewStage(.only([""]).rows(range), ["": "abcde"])
        #expect(ViewStage.words(stage.play([.insert("x", at: 5)]).rows) == ["insert 0.3"])
        #expect(stage.play([.insert("y", at: 0)]).rows.isEmpty)
        #expect(ViewStage.words(stage.play([.delete("d", at: 4)]).rows) == ["delete 0.1"])
        #expect(stage.keys == ["cex"])
        let longer = YapDatabaseViewRange.flexible(length: 5, from: .end)
        #expect(ViewStage.words(stage.change(to: longer).rows) == ["insert 0.0", "insert 0.1"])
        #expect(stage.keys == ["abcex"])
    }

    @Test func lengthsAndLimitsAreOfTheGroupsRows() {
        let shown = { (range: YapDatabaseViewRange) in
            ViewStage(.only([""]).rows(range), ["": "abcde"]).keys[0]
        }
        #expect(shown(.flexible(length: 9)) == "abcde")
        #expect(shown(.flexible(length: 4, max: 2)) == "ab")
        #expect(shown(.flexible(length: 4, from: .end, max: 2)) == "de")
        #expect(shown(.flexible(length: 1, offset: 2, min: 2)) == "bc")
        #expect(shown(.flexible(length: 1, offset: 2, min: 9)) == "abcde")
        #expect(shown(.flexible(length: 1, min: 4, max: 2)) == "ab")
        #expect(shown(.flexible(length: 2, offset: 9)) == "")
        #expect(shown(.flexible(length: -2, offset: -9, min: -1, max: -1)) == "")
    }
}

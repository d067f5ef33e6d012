import Testing

@testable import Yap

struct ViewMappingsReversedTests {
    @Test func aReversedGroupIsShownFromItsLastRow() {
        var stage = ViewStage(YapDatabaseViewMappings.only(["", "b"]).reversed(""), ["": "abcd", "b": "12"])
        #expect(stage.keys == ["dcba", "12"])
        let changes = stage.play([.insert("x", at: 4), .delete("b", at: 1), .update("a", at: 0)])
        #expect(ViewStage.words(changes.rows) == ["delete 0.2", "insert 0.0", "update 0.3 object"])
        #expect(stage.keys == ["xdca", "12"])
        #expect(
            ViewStage.words(stage.play([.delete("x", at: 3), .insert("x", at: 0)]).rows) == ["move 0.0>0.3"])
    }

    @Test func aRangeOfAGroupThatIsReversedAlreadyCountsFromItsLastRow() {
        let shown = { (mappings: YapDatabaseViewMappings<String>) in
            ViewStage(mappings, ["": "abcdef"]).keys[0]
        }
        #expect(shown(.only([""]).rows(.first(2)).reversed()) == "ba")
        #expect(shown(.only([""]).reversed().rows(.first(2))) == "fe")
        #expect(shown(.only([""]).reversed("").rows(.last(2))) == "ba")
        #expect(shown(.only([""]).reversed("").rows(.window(length: 2, offset: 1, from: .beginning))) == "ed")
        #expect(shown(.only([""]).reversed().rows(.flexible(length: 2, offset: 1), in: "")) == "ed")
    }

    @Test func aRangeOfAllGroupsFollowsTheDirectionOfEach() {
        let mappings = YapDatabaseViewMappings.only(["a", "b"]).reversed("b").rows(.first(2))
        #expect(ViewStage(mappings, ["a": "123", "b": "456"]).keys == ["12", "65"])
    }

    @Test func aReversedRangeKeepsTheNewestRowsOnTop() {
        var stage = ViewStage(YapDatabaseViewMappings.only([""]).reversed().rows(.first(3)), ["": "abcde"])
        #expect(stage.keys == ["edc"])
        #expect(ViewStage.words(stage.play([.insert("x", at: 5)]).rows) == ["delete 0.2", "insert 0.0"])
        #expect(ViewStage.words(stage.play([.delete("d", at: 3)]).rows) == ["delete 0.2", "insert 0.2"])
        #expect(stage.keys == ["xec"])
    }

    @Test func aReversedFlexibleRangeGrowsAtTheSideThatIsShownFirst() {
        var stage = ViewStage(
            YapDatabaseViewMappings.only([""]).reversed().rows(.flexible(length: 2)), ["": "abc"])
        #expect(
            ViewStage.words(stage.play([.insert("x", at: 3), .insert("y", at: 0)]).rows) == ["insert 0.0"])
        #expect(stage.keys == ["xcb"])
    }
}

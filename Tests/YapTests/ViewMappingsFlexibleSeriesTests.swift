import Testing

@testable import Yap

/// Flexible ranges that are pinned to either end and grow at no, one or both sides. Goes on from
/// `ViewMappingsFlexibleRangeTests`.
struct ViewMappingsFlexibleSeriesTests {
    private typealias Mappings = YapDatabaseViewMappings<String>

    private func range(_ growth: ViewGrowth, _ length: Int, offset: Int) -> YapDatabaseViewRange {
        .flexible(length: length, offset: offset, from: growth.edge, growing: growth.growth)
    }

    /// Shows "defg" of "abcdefghij".
    private func stage(_ growth: ViewGrowth, _ mappings: Mappings = .only([""])) -> ViewStage {
        ViewStage(mappings.rows(range(growth, 4, offset: 3)), ["": "abcdefghij"])
    }

    private func words(_ growth: ViewGrowth, _ operations: ViewStage.Operation...) -> [String] {
        var stage = stage(growth)
        return ViewStage.words(stage.play(operations).rows)
    }

    @Test(arguments: ViewGrowth.all) func updatesAreReportedOfShownRowsAlone(growth: ViewGrowth) {
        #expect(words(growth, .update("d", at: 3)) == ["update 0.0 object"])
        #expect(words(growth, .update("g", at: 6, .metadata)) == ["update 0.3 metadata"])
        #expect(words(growth, .update("c", at: 2)) == [])
        #expect(words(growth, .update("h", at: 7)) == [])
        // The row stays at its path when rows come before the range, and doesn't when they come into it.
        #expect(words(growth, .update("f", at: 5), .insert("x", at: 0)) == ["update 0.2 object"])
        #expect(words(growth, .update("f", at: 5), .delete("a", at: 0)) == ["update 0.2 object"])
        #expect(
            words(growth, .update("f", at: 5), .insert("x", at: 4))
                == ["insert 0.1", "move 0.2>0.3 object"])
        #expect(
            words(growth, .update("f", at: 5), .delete("d", at: 3)) == ["delete 0.0", "move 0.2>0.1 object"])
    }

    @Test(arguments: ViewGrowth.all) func aRangeAtAnEndOfItsGroupGrowsAtTheSidesOfItsOptions(
        growth: ViewGrowth
    ) {
        let isFromBeginning = growth.edge == .beginning
        let rows = isFromBeginning ? "abcd" : "cdef"
        let (low, high) = isFromBeginning ? (0, 4) : (2, 6)
        func stage() -> ViewStage {
            ViewStage(Mappings.only([""]).rows(range(growth, 4, offset: 0)), ["": "abcdef"])
        }
        #expect(stage().keys == [rows])
        var atLow = stage()
        #expect(
            ViewStage.words(atLow.play([.insert("x", at: low)]).rows)
                == (growth.growsLow ? ["insert 0.0"] : []))
        #expect(atLow.keys == [growth.growsLow ? "x" + rows : rows])
        var atHigh = stage()
        #expect(
            ViewStage.words(atHigh.play([.insert("x", at: high)]).rows)
                == (growth.growsHigh ? ["insert 0.4"] : []))
        #expect(atHigh.keys == [growth.growsHigh ? rows + "x" : rows])
        var atBoth = stage()
        _ = atBoth.play([.insert("x", at: low), .insert("y", at: high + 1)])
        #expect(atBoth.keys == [(growth.growsLow ? "x" : "") + rows + (growth.growsHigh ? "y" : "")])
    }

    @Test(arguments: ViewGrowth.all) func aRangeGrowsAndShrinksOverSeveralBatches(growth: ViewGrowth) {
        let (low, high) = (growth.growsLow ? "x" : "", growth.growsHigh ? "y" : "")
        var stage = stage(growth)
        _ = stage.play([.insert("x", at: 3), .insert("y", at: 8)])
        #expect(stage.keys == [low + "defg" + high])
        _ = stage.play("defg".map { .delete(String($0), at: 4) })
        #expect(stage.keys == [low + high])
        // Now a row between the two: inside, beside one of them, or in a range without rows.
        _ = stage.play([.insert("z", at: 4)])
        let isInside = growth.growsLow == growth.growsHigh
        #expect(stage.keys == [isInside ? low + "z" + high : low + high])
    }

    @Test(arguments: ViewGrowth.all) func aRangeThatIsChangedGrowsFromItsNewRows(growth: ViewGrowth) {
        let isFromBeginning = growth.edge == .beginning
        let rows = isFromBeginning ? "bc" : "hi"
        let low = isFromBeginning ? 1 : 7
        var stage = stage(growth)
        _ = stage.play([.insert("w", at: 4), .delete("w", at: 4), .delete("f", at: 5), .insert("f", at: 5)])
        let changes = stage.change(to: range(growth, 2, offset: 1), in: "")
        #expect(stage.keys == [rows])
        #expect(changes.rows.filter { $0.kind == .insert }.count == 2)
        #expect(changes.rows.filter { $0.kind == .delete }.count == 4)
        _ = stage.play([.insert("x", at: low), .insert("y", at: low + 3)])
        #expect(stage.keys == [(growth.growsLow ? "x" : "") + rows + (growth.growsHigh ? "y" : "")])
    }

    /// The sides are those of the rows as they are shown.
    @Test(arguments: ViewGrowth.all) func aReversedRangeGrowsAtTheSidesThatAreShown(growth: ViewGrowth) {
        func shown(_ operations: ViewStage.Operation...) -> String {
            var stage = stage(growth, .only([""]).reversed())
            #expect(stage.keys == ["gfed"])
            _ = stage.play(operations)
            return stage.keys[0]
        }
        #expect(shown(.insert("x", at: 7)) == (growth.growsLow ? "xgfed" : "gfed"))
        #expect(shown(.insert("x", at: 3)) == (growth.growsHigh ? "gfedx" : "gfed"))
        #expect(shown(.insert("x", at: 5)) == "gfxed")
        #expect(shown(.insert("x", at: 0), .insert("y", at: 11)) == "gfed")
        #expect(shown(.delete("e", at: 4)) == "gfd")
    }

    @Test(arguments: ViewGrowth.all) func aDynamicSectionIsRemovedWithTheLastRowOfItsRangeAndReturns(
        growth: ViewGrowth
    ) {
        var stage = stage(growth, .only([""]).dynamic())
        let deletes = stage.play("defg".map { .delete(String($0), at: 3) })
        #expect(ViewStage.words(deletes.sections) == ["delete 0 "])
        #expect(stage.keys == [])
        #expect(stage.play([.insert("w", at: 0)]).sections.isEmpty)
        let insert = stage.play([.insert("x", at: 4)])
        #expect(ViewStage.words(insert.sections) == ["insert 0 "])
        #expect(ViewStage.words(insert.rows) == ["insert 0.0"])
        #expect(stage.keys == ["x"])
    }
}

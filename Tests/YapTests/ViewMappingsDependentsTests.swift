import Testing

@testable import Yap

struct ViewMappingsDependentsTests {
    private func words(
        _ offsets: [Int], _ mappings: YapDatabaseViewMappings<String> = .only([""]),
        _ operations: ViewStage.Operation...
    ) -> [String] {
        var stage = ViewStage(mappings.dependents(at: offsets), ["": "abcdef"])
        return ViewStage.words(stage.play(operations).rows)
    }

    @Test func theRowAfterAChangedRowIsReported() {
        #expect(
            words([1], .only([""]), .update("b", at: 1)) == ["update 0.1 object", "update 0.2 dependency"])
        #expect(words([1], .only([""]), .update("f", at: 5)) == ["update 0.5 object"])
        #expect(words([1], .only([""]), .insert("x", at: 2)) == ["insert 0.2", "move 0.2>0.3 dependency"])
        #expect(words([1], .only([""]), .insert("x", at: 6)) == ["insert 0.6"])
        #expect(words([1], .only([""]), .delete("b", at: 1)) == ["delete 0.1", "move 0.2>0.1 dependency"])
        #expect(words([1], .only([""]), .delete("f", at: 5)) == ["delete 0.5"])
    }

    @Test func theRowBeforeAChangedRowIsReported() {
        #expect(
            words([-1], .only([""]), .update("b", at: 1)) == ["update 0.0 dependency", "update 0.1 object"])
        #expect(words([-1], .only([""]), .update("a", at: 0)) == ["update 0.0 object"])
        #expect(words([-1], .only([""]), .insert("x", at: 2)) == ["insert 0.2", "update 0.1 dependency"])
        #expect(words([-1], .only([""]), .delete("b", at: 1)) == ["delete 0.1", "update 0.0 dependency"])
    }

    @Test func aMovedRowsOldAndNewNeighboursAreReported() {
        #expect(
            words([1], .only([""]), .delete("b", at: 1), .insert("b", at: 3))
                == ["move 0.2>0.1 dependency", "move 0.1>0.3", "update 0.4 dependency"])
    }

    @Test func aRowWithSeveralReasonsIsReportedOnce() {
        #expect(
            words([1, -1], .only([""]), .update("b", at: 1), .update("c", at: 2)) == [
                "update 0.0 dependency", "update 0.1 object dependency", "update 0.2 object dependency",
                "update 0.3 dependency",
            ])
        #expect(words([1, 0, 1], .only([""]), .update("b", at: 1)).count == 2)
        #expect(words([], .only([""]), .update("b", at: 1)) == ["update 0.1 object"])
    }

    @Test func dependentsFartherAwayAreReportedAlsoWhenARowComesBetween() {
        #expect(
            words([2], .only([""]), .update("b", at: 1)) == ["update 0.1 object", "update 0.3 dependency"])
        #expect(
            words([2], .only([""]), .insert("x", at: 3))
                == ["insert 0.3", "move 0.3>0.4 dependency", "move 0.4>0.5 dependency"])
        #expect(
            words([-2], .only([""]), .delete("c", at: 2))
                == ["delete 0.2", "update 0.0 dependency", "update 0.1 dependency"])
    }

    @Test func neighboursAreThoseOfTheShownRows() {
        #expect(
            words([1], .only([""]).reversed(), .update("b", at: 1)) == [
                "update 0.4 object", "update 0.5 dependency",
            ])
        #expect(words([1], .only([""]).rows(.first(2)), .update("b", at: 1)) == ["update 0.1 object"])
        // The first row shown loses its neighbour.
        #expect(
            words([1], .only([""]).rows(.last(2)), .insert("x", at: 6))
                == ["delete 0.0", "insert 0.1", "move 0.1>0.0 dependency"])
    }

    @Test func neighboursAreInOneSection() {
        var stage = ViewStage(YapDatabaseViewMappings.sorted.dependents(at: [1]), ["a": "12", "b": "34"])
        #expect(ViewStage.words(stage.play([.update("2", at: 1, in: "a")]).rows) == ["update 0.1 object"])
    }

    @Test func insertedAndDeletedRowsAreNoDependents() {
        #expect(
            words([1], .only([""]), .update("b", at: 1), .insert("x", at: 2))
                == ["insert 0.2", "move 0.2>0.3 dependency", "update 0.1 object"])
        #expect(
            words([1], .only([""]), .update("b", at: 1), .delete("c", at: 2), .delete("d", at: 2))
                == ["delete 0.3", "delete 0.2", "move 0.4>0.2 dependency", "update 0.1 object"])
    }
}

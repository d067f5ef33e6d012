import Testing

@testable import Yap

struct ViewMappingsConsolidationTests {
    private typealias Mappings = YapDatabaseViewMappings<String>

    private func stage(_ groups: [String: String], _ mappings: Mappings = .sorted) -> ViewStage {
        ViewStage(mappings.consolidated(under: 6, as: "all"), groups)
    }

    @Test func fewRowsAreOneSection() {
        let few = stage(["a": "12", "b": "3", "c": "45"]).mappings
        #expect(few.isConsolidated)
        #expect(few.sections.map(\.group) == ["all"] && few.sections.map(\.rowCount) == [5])
        #expect(few.sections.first?.isConsolidated == true)
        #expect(few.place(of: YapDatabaseViewPath(section: 0, row: 2))?.group == "b")
        #expect(
            few.place(of: YapDatabaseViewPath(section: 0, row: 4)).map { "\($0)" }
                == "(group: \"c\", index: 1)")
        #expect(few.place(of: YapDatabaseViewPath(section: 0, row: 5)) == nil)
        #expect(few.path(of: 1, in: "c") == YapDatabaseViewPath(section: 0, row: 4))
        #expect(few.section(of: "b") == 0 && few.section(of: "none") == nil)
    }

    @Test func theThresholdItselfIsMany() {
        let many = stage(["a": "12", "b": "3456"]).mappings
        #expect(!many.isConsolidated)
        #expect(many.sections.map(\.group) == ["a", "b"])
        #expect(
            !ViewStage(Mappings.sorted.consolidated(under: 0, as: "all"), ["a": "1"]).mappings.isConsolidated)
    }

    @Test func changesBelowTheThresholdAreInTheOneSection() {
        var stage = stage(["a": "12", "c": "3"])
        let changes = stage.play([
            .insert("x", at: 0, in: "b"), .update("3", at: 0, in: "c"), .delete("1", at: 0, in: "a"),
        ])
        #expect(changes.sections.isEmpty)
        #expect(ViewStage.words(changes.rows) == ["delete 0.0", "insert 0.1", "update 0.2 object"])
        #expect(stage.keys == ["2x3"])
        let move = stage.play([.delete("2", at: 0, in: "a"), .insert("2", at: 1, in: "c")])
        #expect(move.sections.isEmpty && ViewStage.words(move.rows) == ["move 0.0>0.2"])
    }

    @Test func changesAboveTheThresholdAreInTheirSections() {
        var stage = stage(["a": "123", "b": "4567"])
        let changes = stage.play([.delete("7", at: 3, in: "b")])
        #expect(changes.sections.isEmpty)
        #expect(ViewStage.words(changes.rows) == ["delete 1.3"])
    }

    @Test func growingToTheThresholdReplacesTheOneSection() {
        var stage = stage(["a": "123", "b": "45"])
        let changes = stage.play([.insert("x", at: 0, in: "b")])
        #expect(
            changes.sections == [
                .delete(section: 0, group: "all"), .insert(section: 0, group: "a"),
                .insert(section: 1, group: "b"),
            ])
        #expect(
            ViewStage.words(changes.rows) == [
                "insert 1.0", "move 0.0>0.0", "move 0.1>0.1", "move 0.2>0.2", "move 0.3>1.1", "move 0.4>1.2",
            ])
        #expect(stage.keys == ["123", "x45"])
    }

    @Test func shrinkingBelowTheThresholdReplacesTheSections() {
        var stage = stage(["a": "123", "b": "456"])
        let changes = stage.play([.delete("1", at: 0, in: "a"), .update("5", at: 1, in: "b")])
        #expect(
            changes.sections == [
                .delete(section: 1, group: "b"), .delete(section: 0, group: "a"),
                .insert(section: 0, group: "all"),
            ])
        #expect(
            ViewStage.words(changes.rows) == [
                "delete 0.0", "move 0.1>0.0", "move 0.2>0.1", "move 1.0>0.2", "move 1.1>0.3 object",
                "move 1.2>0.4",
            ])
        #expect(stage.keys == ["23456"])
    }

    @Test func anUpdateWhileSectionsAreReplacedIsAMove() {
        var stage = stage(["a": "12345"])
        let changes = stage.play([.insert("x", at: 5, in: "a"), .update("1", at: 0, in: "a")])
        #expect(changes.rows.allSatisfy { $0.kind != .update })
        #expect(changes.rows.count == 6)
    }

    @Test func theThresholdIsCrossedBackAndForth() {
        var stage = stage(["a": "12345"])
        for _ in 0..<3 {
            #expect(stage.play([.insert("x", at: 0, in: "b")]).sections.count == 3)
            #expect(stage.keys == ["12345", "x"])
            #expect(stage.play([.delete("x", at: 0, in: "b")]).sections.count == 3)
            #expect(stage.keys == ["12345"])
        }
    }

    @Test func crossingWithinABatchAndBackIsNoCrossing() {
        var stage = stage(["a": "12345"])
        let changes = stage.play([.insert("x", at: 5, in: "a"), .delete("1", at: 0, in: "a")])
        #expect(changes.sections.isEmpty)
        #expect(ViewStage.words(changes.rows) == ["delete 0.0", "insert 0.4"])
    }

    @Test func theOneSectionExistsWhileItHasRowsOrAStaticGroup() {
        var stage = stage(["a": "1"])
        #expect(stage.play([.reset("a")]).sections == [.delete(section: 0, group: "all")])
        #expect(stage.play([.insert("2", at: 0, in: "b")]).sections == [.insert(section: 0, group: "all")])
        var fixed = self.stage(["a": "1"], .only(["a", "b"]))
        #expect(fixed.play([.reset("a")]).sections.isEmpty)
        #expect(fixed.mappings.sections.map(\.group) == ["all"])
    }

    @Test func theOneSectionMayBeNamedAsAGroupIs() {
        var stage = ViewStage(.sorted.consolidated(under: 2, as: "a"), ["a": "1"])
        let changes = stage.play([.insert("2", at: 1, in: "a")])
        #expect(changes.sections == [.delete(section: 0, group: "a"), .insert(section: 0, group: "a")])
    }

    @Test func onlyShownRowsCount() {
        var stage = ViewStage(
            YapDatabaseViewMappings.sorted.rows(.last(2)).reversed("b").consolidated(under: 6, as: "all"),
            ["a": "123", "b": "456"])
        #expect(stage.keys == ["2365"])
        let changes = stage.play([
            .insert("7", at: 0, in: "c"), .insert("8", at: 1, in: "c"), .update("2", at: 1, in: "a"),
        ])
        #expect(changes.sections.count == 4)
        #expect(stage.keys == ["23", "65", "78"])
        let range = stage.change(to: .first(1))
        #expect(stage.keys == ["167"])
        #expect(range.sections.count == 4)
    }

    @Test func dependentsInTheOneSectionAreAcrossGroups() {
        var stage = stage(["a": "12", "b": "3"], .sorted.dependents(at: [1]))
        let changes = stage.play([.update("2", at: 1, in: "a")])
        #expect(ViewStage.words(changes.rows) == ["update 0.1 object", "update 0.2 dependency"])
    }
}

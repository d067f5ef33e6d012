import Testing

@testable import Yap

struct ViewMappingsTests {
    private typealias Mappings = YapDatabaseViewMappings<String>

    private func path(_ section: Int, _ row: Int) -> YapDatabaseViewPath {
        YapDatabaseViewPath(section: section, row: row)
    }

    private func mappings(_ mappings: Mappings, _ counts: [String: Int]) -> Mappings {
        var mappings = mappings
        mappings.reset(to: counts)
        return mappings
    }

    // MARK: Groups and sections

    @Test func groupsAreSortedInTheOrderThatWasChosen() {
        let counts = ["b": 1, "c": 2, "a": 3, "empty": 0]
        let groups = { (chosen: Mappings) in mappings(chosen, counts).sections.map(\.group) }
        #expect(groups(.sorted) == ["a", "b", "c"])
        #expect(groups(.sorted { $0 > $1 }) == ["c", "b", "a"])
        // Equal groups are ascending.
        #expect(groups(.sorted { _, _ in false }) == ["a", "b", "c"])
        #expect(groups(.where { $0 != "b" }) == ["a", "c"])
        #expect(groups(.only(["c", "empty", "a", "c"])) == ["c", "empty", "a"])
        #expect(groups(.only(["c", "empty", "none"]).dynamic()) == ["c"])
        #expect(groups(.only(["none", "empty", "a"]).dynamic(["none"])) == ["empty", "a"])
        #expect(groups(.only([])) == [])
    }

    @Test func mappingsWithoutAStateHaveNoRows() {
        #expect(Mappings.sorted.sections.isEmpty)
        let chosen = Mappings.only(["a", "b"])
        #expect(chosen.sections.map(\.rowCount) == [0, 0])
        #expect(chosen.isEmpty && chosen.totalCount == 0)
        #expect(chosen.place(of: path(0, 0)) == nil)
    }

    @Test func groupsThatAppearAndDisappearAreSections() {
        var stage = ViewStage(.sorted, ["m": "12"])
        let first = stage.play([.insert("a", at: 0, in: "b"), .insert("z", at: 0, in: "y")])
        #expect(first.sections == [.insert(section: 0, group: "b"), .insert(section: 2, group: "y")])
        #expect(ViewStage.words(first.rows) == ["insert 0.0", "insert 2.0"])
        let second = stage.play([.reset("m"), .insert("x", at: 0, in: "x")])
        #expect(second.sections == [.delete(section: 1, group: "m"), .insert(section: 1, group: "x")])
        #expect(stage.keys == ["a", "x", "z"])
    }

    @Test func groupsThatDoNotSatisfyTheConditionAreLeftOut() {
        var stage = ViewStage(.where { $0 < "m" }, ["a": "1", "z": "2"])
        #expect(stage.keys == ["1"])
        let changes = stage.play([
            .insert("3", at: 0, in: "y"), .insert("4", at: 0, in: "b"), .delete("2", at: 0, in: "z"),
            .insert("2", at: 1, in: "a"),
        ])
        #expect(changes.sections == [.insert(section: 1, group: "b")])
        #expect(ViewStage.words(changes.rows) == ["insert 0.1", "insert 1.0"])
    }

    @Test func someGroupsAreDynamicAndOthersStatic() {
        var stage = ViewStage(.only(["a", "b", "c"]).dynamic(["b"]), ["a": "1", "b": "2", "c": "3"])
        let changes = stage.play([.reset("a"), .reset("b"), .reset("c")])
        #expect(changes.sections == [.delete(section: 1, group: "b")])
        #expect(stage.keys == ["", ""])
    }

    @Test func optionsChosenBeforeTheFirstStateAndAfterItAreTheSame() {
        let counts = ["a": 9, "b": 4, "c": 0]
        let options = { (mappings: Mappings) in
            mappings.dynamic().rows(.last(3)).rows(.first(1), in: "b").reversed("a")
        }
        let before = mappings(options(.only(["a", "b", "c"])), counts)
        let after = options(mappings(.only(["a", "b", "c"]), counts))
        #expect(before.sections == after.sections)
        #expect(before.sections.map(\.rowCount) == [3, 1])
        #expect(after.place(of: path(0, 0))?.index == 8)
        #expect(before.place(of: path(0, 0))?.index == 8)
    }

    @Test func aSettingForAllGroupsReplacesThoseForSingleOnes() {
        let chosen = Mappings.sorted.rows(.first(1), in: "a").rows(.first(2)).rows(.first(3), in: "b")
        #expect(mappings(chosen, ["a": 9, "b": 9, "c": 9]).sections.map(\.rowCount) == [2, 3, 2])
    }

    // MARK: Paths and places

    @Test func pathsAreMappedToPlacesAndBack() {
        let chosen = Mappings.only(["a", "none", "b"]).rows(
            .window(length: 3, offset: 1, from: .end), in: "a"
        )
        .reversed("b")
        let shown = mappings(chosen, ["a": 10, "b": 2])
        #expect(shown.place(of: path(0, 0)).map { "\($0)" } == "(group: \"a\", index: 6)")
        #expect(shown.place(of: path(0, 2))?.index == 8)
        #expect(shown.place(of: path(2, 0)).map { "\($0)" } == "(group: \"b\", index: 1)")
        #expect(shown.place(of: path(2, 1))?.index == 0)
        #expect(shown.path(of: 6, in: "a") == path(0, 0))
        #expect(shown.path(of: 8, in: "a") == path(0, 2))
        #expect(shown.path(of: 1, in: "b") == path(2, 0))
        #expect(shown.shownIndexes(in: "a") == 6..<9)
        #expect(shown.section(of: "b") == 2)
        #expect(shown.totalCount == 5 && !shown.isEmpty)
    }

    @Test func whatIsNotShownHasNoPathAndNoPlace() {
        let shown = mappings(.only(["a", "none"]).rows(.first(2)), ["a": 3, "b": 1])
        let outside = [path(0, 2), path(0, -1), path(1, 0), path(2, 0), path(-1, 0)]
        #expect(outside.allSatisfy { shown.place(of: $0) == nil })
        #expect(shown.path(of: 2, in: "a") == nil && shown.path(of: -1, in: "a") == nil)
        #expect(shown.path(of: 0, in: "b") == nil && shown.path(of: 0, in: "none") == nil)
        #expect(shown.section(of: "b") == nil && shown.shownIndexes(in: "b").isEmpty)
        #expect(shown.group(ofSection: 1) == "none" && shown.group(ofSection: 2) == nil)
        #expect(shown.group(ofSection: -1) == nil)
        #expect(shown.rowCount(inSection: 0) == 2 && shown.rowCount(inSection: 9) == 0)
    }

    @Test func pathsAreComparedBySectionFirst() {
        #expect(path(0, 9) < path(1, 0) && path(1, 0) < path(1, 1) && !(path(1, 1) < path(1, 1)))
        #expect("\(path(1, 2))" == "(1, 2)")
    }

    @Test func changesCostNothingForRowsThatAreNotConcerned() {
        // A step for each row would never end.
        let count = 1 << 60
        var shown = mappings(
            Mappings.sorted.rows(.flexible(length: 5, from: .end), in: "b"), ["a": count, "b": count])
        let place = { ViewRowDelta<String>.Place(group: $0, index: $1) }
        let changes = shown.apply(
            [
                ViewRowDelta(
                    rowID: 1, original: place("a", 7), final: place("a", count / 2), keptPlace: false,
                    flags: []),
                ViewRowDelta(rowID: 2, original: nil, final: place("b", count), keptPlace: false, flags: []),
                ViewRowDelta(
                    rowID: 3, original: place("a", 3), final: place("a", 3), keptPlace: true, flags: .object),
            ], counts: ["a": count, "b": count + 1])
        #expect(
            ViewStage.words(changes.rows) == ["insert 1.5", "move 0.7>0.\(count / 2)", "update 0.3 object"])
    }
}

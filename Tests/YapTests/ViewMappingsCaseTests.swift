import Testing

@testable import Yap

/// Cases of neighbours that are drawn again, of groups that a condition chooses, of paths and places, and of options.
struct ViewMappingsCaseTests {
    typealias Mappings = YapDatabaseViewMappings<String>

    // MARK: Neighbours

    /// Offsets, what is shown, and a vector on "abcdef".
    private static let neighbours: [(offsets: [Int], mappings: Mappings, vector: ViewListVector)] = [
        (
            [1], .only([""]),
            .init(
                "updates of rows in a row", [.update("a", at: 0), .update("b", at: 1), .update("c", at: 2)],
                [
                    "update 0.0 object", "update 0.1 object dependency", "update 0.2 object dependency",
                    "update 0.3 dependency",
                ], shown: ["abcdef"])
        ),
        (
            [1], .only([""]),
            .init(
                "update of metadata", [.update("b", at: 1, .metadata)],
                ["update 0.1 metadata", "update 0.2 dependency"], shown: ["abcdef"])
        ),
        (
            [1], .only([""]),
            .init(
                "insert first", [.insert("x", at: 0)], ["insert 0.0", "move 0.0>0.1 dependency"],
                shown: ["xabcdef"])
        ),
        (
            [1], .only([""]),
            .init(
                "insert two apart", [.insert("x", at: 1), .insert("y", at: 5)],
                ["insert 0.1", "insert 0.5", "move 0.1>0.2 dependency", "move 0.4>0.6 dependency"],
                shown: ["axbcdyef"])
        ),
        (
            [1], .only([""]),
            .init(
                "delete first", [.delete("a", at: 0)], ["delete 0.0", "move 0.1>0.0 dependency"],
                shown: ["bcdef"])
        ),
        (
            [1], .only([""]),
            .init(
                "delete two in a row", [.delete("b", at: 1), .delete("c", at: 1)],
                ["delete 0.2", "delete 0.1", "move 0.3>0.1 dependency"], shown: ["adef"])
        ),
        (
            [1], .only([""]),
            .init(
                "delete two apart", [.delete("a", at: 0), .delete("d", at: 2)],
                ["delete 0.3", "delete 0.0", "move 0.1>0.0 dependency", "move 0.4>0.2 dependency"],
                shown: ["bcef"])
        ),
        (
            [1], .only([""]),
            .init(
                "move to the end", [.delete("a", at: 0), .insert("a", at: 5)],
                ["move 0.1>0.0 dependency", "move 0.0>0.5"], shown: ["bcdefa"])
        ),
        (
            [1], .only([""]),
            .init(
                "move to the beginning", [.delete("f", at: 5), .insert("f", at: 0)],
                ["move 0.5>0.0", "move 0.0>0.1 dependency"], shown: ["fabcde"])
        ),
        (
            [-1, 1], .only([""]),
            .init(
                "insert between two neighbours", [.insert("x", at: 3)],
                ["insert 0.3", "move 0.3>0.4 dependency", "update 0.2 dependency"], shown: ["abcxdef"])
        ),
        (
            [-1, 1], .only([""]),
            .init(
                "delete between two neighbours", [.delete("c", at: 2)],
                ["delete 0.2", "move 0.3>0.2 dependency", "update 0.1 dependency"], shown: ["abdef"])
        ),
        (
            [1], .only([""]).rows(.last(3)),
            .init(
                "append to a range of the last rows", [.insert("x", at: 6)],
                ["delete 0.0", "insert 0.2", "move 0.1>0.0 dependency"], shown: ["efx"])
        ),
        (
            [1], .only([""]).rows(.first(2)),
            .init(
                "delete from a range of the first rows", [.delete("a", at: 0)],
                ["delete 0.0", "insert 0.1", "move 0.1>0.0 dependency"], shown: ["bc"])
        ),
        (
            [1], .only([""]).reversed(),
            .init(
                "append to a reversed group", [.insert("x", at: 6)],
                ["insert 0.0", "move 0.0>0.1 dependency"], shown: ["xfedcba"])
        ),
    ]

    @Test(arguments: neighbours.indices) func neighboursOfChangedRowsAreReported(index: Int) {
        let (offsets, mappings, vector) = Self.neighbours[index]
        vector.check(mappings.dependents(at: offsets), ["": "abcdef"])
    }

    // MARK: Groups by a condition and an order

    private static let conditioned: [ViewListVector] = [
        .init(
            "a group at the beginning", [.insert("x", at: 0, in: "t")], sections: ["insert 0 t"],
            ["insert 0.0"], shown: ["x", "1", "23"]),
        .init(
            "a group in between", [.insert("x", at: 0, in: "n")], sections: ["insert 1 n"], ["insert 1.0"],
            shown: ["1", "x", "23"]),
        .init(
            "a group at the end", [.insert("x", at: 0, in: "b")], sections: ["insert 2 b"], ["insert 2.0"],
            shown: ["1", "23", "x"]),
        .init(
            "a group that goes", [.delete("1", at: 0, in: "p")], sections: ["delete 0 p"], ["delete 0.0"],
            shown: ["23"]),
        .init(
            "one group for another", [.delete("1", at: 0, in: "p"), .insert("x", at: 0, in: "b")],
            sections: ["delete 0 p", "insert 1 b"], ["delete 0.0", "insert 1.0"], shown: ["23", "x"]),
        .init(
            "two groups at once", [.insert("x", at: 0, in: "t"), .insert("y", at: 0, in: "b")],
            sections: ["insert 0 t", "insert 3 b"], ["insert 0.0", "insert 3.0"],
            shown: ["x", "1", "23", "y"]),
        .init(
            "all groups go", [.reset("p"), .reset("c")], sections: ["delete 1 c", "delete 0 p"],
            ["delete 1.1", "delete 1.0", "delete 0.0"], shown: []),
        .init("a group that isn't shown", [.insert("x", at: 0, in: "z")], [], shown: ["1", "23"]),
        .init(
            "a row from a group that isn't shown",
            [.delete("h", at: 0, in: "y"), .insert("h", at: 1, in: "p")],
            ["insert 0.1"], shown: ["1h", "23"]),
        .init(
            "a row to a group that isn't shown",
            [.delete("2", at: 0, in: "c"), .insert("2", at: 0, in: "y")],
            ["delete 1.0"], shown: ["1", "3"]),
        .init(
            "a row to a new group", [.delete("2", at: 0, in: "c"), .insert("2", at: 0, in: "t")],
            sections: ["insert 0 t"], ["move 1.0>0.0"], shown: ["2", "1", "3"]),
        .init(
            "an update after a new group", [.insert("x", at: 0, in: "n"), .update("3", at: 1, in: "c")],
            sections: ["insert 1 n"], ["insert 1.0", "move 1.1>2.1 object"], shown: ["1", "x", "23"]),
        .init(
            "an update after a group that goes",
            [.delete("1", at: 0, in: "p"), .update("3", at: 1, in: "c")],
            sections: ["delete 0 p"], ["delete 0.0", "move 1.1>0.1 object"], shown: ["23"]),
    ]

    /// Groups before "u" in descending order: p has "1" and c "23". y has "h" and isn't shown.
    @Test(arguments: conditioned) func groupsOfAConditionAreSectionsInTheirOrder(vector: ViewListVector) {
        vector.check(.where({ $0 < "u" }, sortedBy: { $0 > $1 }), ["p": "1", "c": "23", "y": "h"])
    }

    // MARK: Paths and places

    private struct Place: Sendable, CustomTestStringConvertible {
        let name: String
        let mappings: Mappings
        let path: YapDatabaseViewPath
        let group: String
        let index: Int

        init(
            _ name: String, _ mappings: Mappings, _ section: Int, _ row: Int, _ group: String, _ index: Int
        ) {
            (self.name, self.mappings, self.group, self.index) = (name, mappings, group, index)
            path = YapDatabaseViewPath(section: section, row: row)
        }

        var testDescription: String { name }
    }

    /// Of the groups a with 10 rows, b with none and c with 4.
    private static let places: [Place] = [
        Place("first row", .sorted, 0, 0, "a", 0),
        Place("last row", .sorted, 0, 9, "a", 9),
        Place("second section", .sorted, 1, 3, "c", 3),
        Place("other order", .sorted { $0 > $1 }, 0, 1, "c", 1),
        Place("after an empty static section", .only(["a", "b", "c"]), 2, 0, "c", 0),
        Place("after an empty dynamic section", .only(["a", "b", "c"]).dynamic(), 1, 0, "c", 0),
        Place("range of the first rows", .sorted.rows(.first(3)), 0, 2, "a", 2),
        Place("range of the last rows", .sorted.rows(.last(3)), 0, 2, "a", 9),
        Place(
            "range with an offset from the beginning",
            .sorted.rows(.window(length: 2, offset: 1, from: .beginning)), 1, 1, "c", 2),
        Place(
            "range with an offset from the end", .sorted.rows(.window(length: 2, offset: 1, from: .end)), 1,
            0, "c", 1),
        Place(
            "flexible range", .sorted.rows(.flexible(length: 3, offset: 2, from: .end), in: "a"), 0, 0, "a", 5
        ),
        Place("reversed", .sorted.reversed(), 0, 0, "a", 9),
        Place("reversed range of the first rows", .sorted.rows(.first(3)).reversed(), 0, 0, "a", 2),
        Place("range of the first rows reversed", .sorted.reversed().rows(.first(3)), 0, 2, "a", 7),
        Place("one reversed group of two", .sorted.reversed("c"), 1, 0, "c", 3),
        Place("one section for all", .sorted.consolidated(under: 20, as: "all"), 0, 12, "c", 2),
        Place(
            "one section for the ranges of all",
            .sorted.rows(.last(2)).consolidated(under: 20, as: "all"), 0, 3, "c", 3),
    ]

    @Test(arguments: places) private func aPathLeadsToAPlaceAndBack(place: Place) {
        var mappings = place.mappings
        mappings.reset(to: ["a": 10, "c": 4])
        let found = mappings.place(of: place.path)
        #expect(found?.group == place.group && found?.index == place.index)
        #expect(mappings.path(of: place.index, in: place.group) == place.path)
        // Each shown row has a path of its own, and each path a row.
        var paths: Set<YapDatabaseViewPath> = []
        for group in ["a", "b", "c"] {
            for index in 0..<10 {
                guard let path = mappings.path(of: index, in: group) else { continue }
                #expect(mappings.shownIndexes(in: group).contains(index))
                let back = mappings.place(of: path)
                #expect(back?.group == group && back?.index == index)
                #expect(paths.insert(path).inserted)
            }
        }
        #expect(paths.count == mappings.totalCount)
    }

    // MARK: Options

    private static let options: [(name: String, set: @Sendable (Mappings) -> Mappings)] = [
        ("dynamic", { $0.dynamic() }),
        ("dynamic groups", { $0.dynamic(["b"]) }),
        ("range of all groups", { $0.rows(.last(2)) }),
        ("range of a group", { $0.rows(.first(1), in: "a") }),
        ("flexible range", { $0.rows(.flexible(length: 2, offset: 1, from: .end, growing: .bothSides)) }),
        ("reversed", { $0.reversed() }),
        ("reversed group", { $0.reversed("c") }),
        ("neighbours", { $0.dependents(at: [1, -1]) }),
        ("one section for few rows", { $0.consolidated(under: 9, as: "all") }),
        ("all", { $0.dynamic(["b"]).rows(.last(2)).reversed("a").dependents(at: [1]) }),
    ]

    /// An option that is set before the first state counts from it on, and stays when the state changes.
    @Test(arguments: options.indices) func anOptionCountsFromTheFirstStateOn(index: Int) {
        let set = Self.options[index].set
        let groups = ["a": "123", "c": "4567"]
        let chosen = Mappings.only(["a", "b", "c"])
        var before = ViewStage(set(chosen), groups)
        var after = chosen
        after.reset(to: groups.mapValues(\.count))
        after = set(after)
        #expect(before.mappings.sections == after.sections)
        #expect(before.mappings.dependentOffsets == after.dependentOffsets)
        for (section, shown) in after.sections.enumerated() {
            for row in 0..<shown.rowCount {
                let path = YapDatabaseViewPath(section: section, row: row)
                let (one, other) = (before.mappings.place(of: path), after.place(of: path))
                #expect(one?.group == other?.group && one?.index == other?.index)
            }
        }
        let operations: [ViewStage.Operation] = [
            .insert("x", at: 1, in: "c"), .insert("y", at: 0, in: "b"), .update("2", at: 1, in: "a"),
        ]
        var later = ViewStage(after, groups)
        let (one, other) = (before.play(operations), later.play(operations))
        #expect(ViewStage.words(one.rows) == ViewStage.words(other.rows))
        #expect(one.sections == other.sections)
        #expect(before.keys == later.keys)
    }
}

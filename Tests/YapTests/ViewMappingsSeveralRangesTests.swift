import Testing

@testable import Yap

/// Three groups of which each shows a range of its own: "123" of "123456", "rs" of "pqrs" and "vw" of "uvwxy".
struct ViewMappingsSeveralRangesTests {
    private static let mappings = YapDatabaseViewMappings.only(["a", "b", "c"])
        .rows(.first(3), in: "a").rows(.last(2), in: "b")
        .rows(.window(length: 2, offset: 1, from: .beginning), in: "c")

    private static let groups = ["a": "123456", "b": "pqrs", "c": "uvwxy"]

    private static let vectors: [ViewListVector] = [
        .init(
            "insert at the start of the first", [.insert("X", at: 0, in: "a")], ["delete 0.2", "insert 0.0"],
            shown: ["X12", "rs", "vw"]),
        .init(
            "append to the second", [.insert("X", at: 4, in: "b")], ["delete 1.0", "insert 1.1"],
            shown: ["123", "sX", "vw"]),
        .init(
            "insert before the offset of the third", [.insert("X", at: 0, in: "c")],
            ["delete 2.1", "insert 2.0"], shown: ["123", "rs", "uv"]),
        .init(
            "insert into all",
            [.insert("X", at: 0, in: "a"), .insert("Y", at: 4, in: "b"), .insert("Z", at: 0, in: "c")],
            ["delete 2.1", "delete 1.0", "delete 0.2", "insert 0.0", "insert 1.1", "insert 2.0"],
            shown: ["X12", "sY", "uv"]),
        .init(
            "delete from all",
            [.delete("2", at: 1, in: "a"), .delete("s", at: 3, in: "b"), .delete("v", at: 1, in: "c")],
            ["delete 2.0", "delete 1.1", "delete 0.1", "insert 0.2", "insert 1.0", "insert 2.1"],
            shown: ["134", "qr", "wx"]),
        .init(
            "change outside of all",
            [
                .insert("X", at: 4, in: "a"), .delete("p", at: 0, in: "b"), .insert("Y", at: 4, in: "c"),
                .update("y", at: 5, in: "c"),
            ], [], shown: ["123", "rs", "vw"]),
        .init(
            "move from range to range", [.delete("1", at: 0, in: "a"), .insert("1", at: 4, in: "b")],
            ["delete 1.0", "insert 0.2", "move 0.0>1.1"], shown: ["234", "s1", "vw"]),
        .init(
            "move out of a range to a hidden place",
            [.delete("1", at: 0, in: "a"), .insert("1", at: 0, in: "b")], ["delete 0.0", "insert 0.2"],
            shown: ["234", "rs", "vw"]),
        .init(
            "move from a hidden place into a range",
            [.delete("6", at: 5, in: "a"), .insert("6", at: 1, in: "c")], ["delete 2.1", "insert 2.0"],
            shown: ["123", "rs", "6v"]),
        .init(
            "move between hidden places", [.delete("6", at: 5, in: "a"), .insert("6", at: 0, in: "b")], [],
            shown: ["123", "rs", "vw"]),
        .init(
            "clear one", [.reset("b")], ["delete 1.1", "delete 1.0"], shown: ["123", "", "vw"]),
        .init(
            "clear all", [.reset("a"), .reset("b"), .reset("c")],
            [
                "delete 2.1", "delete 2.0", "delete 1.1", "delete 1.0", "delete 0.2", "delete 0.1",
                "delete 0.0",
            ], shown: ["", "", ""]),
        .init(
            "update shown and hidden rows",
            [.update("1", at: 0, in: "a"), .update("p", at: 0, in: "b"), .update("w", at: 2, in: "c")],
            ["update 0.0 object", "update 2.1 object"], shown: ["123", "rs", "vw"]),
    ]

    @Test(arguments: vectors) func eachGroupKeepsItsOwnRange(vector: ViewListVector) {
        vector.check(Self.mappings, Self.groups)
    }

    private static let dynamicVectors: [ViewListVector] = [
        .init(
            "clear one", [.reset("a")], sections: ["delete 0 a"], ["delete 0.2", "delete 0.1", "delete 0.0"],
            shown: ["rs", "vw"]),
        .init(
            "shrink to the offset", [.reset("c"), .insert("u", at: 0, in: "c")], sections: ["delete 2 c"],
            ["delete 2.1", "delete 2.0"], shown: ["123", "rs"]),
        .init(
            "clear and fill one", [.reset("b"), .insert("X", at: 0, in: "b")],
            ["delete 1.1", "delete 1.0", "insert 1.0"], shown: ["123", "X", "vw"]),
    ]

    @Test(arguments: dynamicVectors) func sectionsGoWithTheLastRowOfTheirRange(vector: ViewListVector) {
        vector.check(Self.mappings.dynamic(), Self.groups)
    }
}

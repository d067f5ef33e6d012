import Testing

@testable import Yap

/// Search results of each kind of parent, kept in the file or not, on two connections.
@Suite struct SearchResultsParentTests {
    private typealias Stage = SearchResultsStage
    private typealias Errand = SearchResultsStage.Errand

    struct Case: Sendable, CustomTestStringConvertible {
        enum Parent: CaseIterable { case auto, manual, filtered }

        let parent: Parent
        let isPersistent: Bool
        let readsSnippets: Bool

        var testDescription: String {
            "\(parent)\(isPersistent ? ", persistent" : "")\(readsSnippets ? ", with snippets" : "")"
        }

        static let all = Parent.allCases.flatMap { parent in
            [false, true].flatMap { isPersistent in
                [false, true].map {
                    Case(parent: parent, isPersistent: isPersistent, readsSnippets: $0)
                }
            }
        }
    }

    private static let titles = [
        "a": "the milk", "b": "bread", "c": "the bread", "d": "tea", "e": "milk and the tea",
    ]

    /// The parent, registered in a database; the app places the rows of a manual one.
    private func parent(_ kind: Case.Parent, _ stage: Stage, _ database: YapDatabase) throws -> Stage.View {
        try database.add(stage.parent)
        switch kind {
        case .auto: return stage.parent
        case .manual:
            let board = YapDatabaseManualView(
                "board", of: Errand.self, in: Stage.collection, groups: String.self, version: "1")
            try database.add(board)
            try database.write { transaction in
                for key in Self.titles.keys.sorted() { try transaction[board].append(key, to: "home") }
            }
            return board
        case .filtered:
            let filtered = YapDatabaseFilteredView("some", of: stage.parent, version: "1") {
                $1.priority == 0
            }
            try database.add(filtered)
            return filtered
        }
    }

    @Test(arguments: Case.all) func aSearchFindsTheSameOnEachConnection(_ kind: Case) throws {
        let stage = try Stage()
        let database = try stage.openWithout()
        try database.set(Self.titles)
        try database.write { try $0.set(Errand(title: "the end", list: nil), "f") }
        let parent = try parent(kind.parent, stage, database)
        try database.add(stage.search)
        let found = Stage.Found("found", of: parent, matching: stage.search, isPersistent: kind.isPersistent)
        try database.add(found)
        let connections = [database.newConnection(), database.newConnection()]
        var readers = connections.map { _ in ViewReader(found, .only(["home"]), log: database.log) }

        func check(_ keys: [String], _ texts: [String]?) throws {
            for (index, connection) in connections.enumerated() {
                try connection.blocking.read { transaction in
                    let part = try transaction[found]
                    #expect(try part.keys(in: "home").sorted() == keys && part.count() == keys.count)
                    #expect(try part.query?.texts == texts)
                    let change = try readers[index].read(transaction)
                    #expect(change.mappings.rowCount(inSection: 0) == keys.count)
                    guard kind.readsSnippets else { return }
                    for key in Self.titles.keys.sorted() {
                        let snippet = try part.snippet(forKey: key, .whole(\.title))
                        #expect((snippet != nil) == keys.contains(key))
                        #expect(snippet.map { $0.matches.map(String.init) } == (snippet == nil ? nil : texts))
                    }
                }
            }
        }
        try check([], nil)
        try database.write { try $0[found].search(.words("the")) }
        try check(["a", "c", "e"], ["the"])
        try database.write { try $0[found].search(.words("bread")) }
        try check(["b", "c"], ["bread"])
        // Rows that are written later, and one that is no longer found.
        try database.set(["d": "brown bread", "b": "rolls"])
        try check(["c", "d"], ["bread"])
        try database.write { try $0.removeErrand("c") }
        try check(["d"], ["bread"])
        try database.write { try $0[found].search(nil) }
        try check([], nil)
    }
}

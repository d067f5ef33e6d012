import SQLiteTestSupport
import System
import TestSeed
import Testing

@testable import Yap

/// Views whose rows are sorted by closures that compare two of them.
@Suite struct ComparedViewTests {
    struct Song: Codable, Sendable, Equatable {
        var title: String
        var rank = 0
        var list: String? = "all"

        init(_ title: String, _ rank: Int = 0, list: String? = "all") {
            (self.title, self.rank, self.list) = (title, rank, list)
        }
    }

    private typealias Auto = YapDatabaseAutoView<Song, String>
    private typealias View = YapDatabaseView<Song, String>
    private typealias Filtered = YapDatabaseFilteredView<Song, String>
    private typealias Sort = YapDatabaseViewSort<Song>

    private let folder: TestFolder
    private let byRank = Self.view([.by { $0.rank < $1.rank }])

    init() throws { folder = try TestFolder() }

    private static func view(
        _ sort: [Sort], name: String = "songs", version: String = "1",
        group: @escaping @Sendable (Song) -> String? = { $0.list }
    ) -> Auto {
        Auto(name, of: Song.self, in: "songs", version: version, group: group, sort: sort)
    }

    private func open(_ views: [any YapDatabaseNamedExtension] = []) throws -> YapDatabase {
        let database = try folder.open { $0.register(Song.self, metadata: Int.self, inCollection: "songs") }
        for view in views { try database.blocking.register(view) }
        return database
    }

    private func keys(_ view: View, _ database: YapDatabase, in group: String = "all") throws -> [String] {
        try database.read { try $0[view].keys(in: group) }
    }

    private func set(_ ranks: [String: Int], _ database: YapDatabase) throws {
        try database.write { transaction in
            for (key, rank) in ranks.sorted(by: { $0.key < $1.key }) {
                try transaction.set(Song(key, rank), key)
            }
        }
    }

    // MARK: Order

    @Test func rowsAreInTheOrderOfAComparison() throws {
        let caseless = Self.view([.by { $0.title.lowercased() < $1.title.lowercased() }], name: "caseless")
        let byKey = Self.view([.byKey { $0 > $1 }], name: "byKey")
        let byMetadata = Self.view(
            [.by(metadata: Int.self) { ($0 ?? 0) > ($1 ?? 0) }, .by(\.title)], name: "byMetadata")
        let byRow = Self.view(
            [
                .byRow(metadata: Int.self) { first, second in
                    (first.object.rank + (first.metadata ?? 0), first.key)
                        < (second.object.rank + (second.metadata ?? 0), second.key)
                }
            ], name: "byRow")
        let database = try open([caseless, byKey, byMetadata, byRow])
        try database.write { transaction in
            for (key, title) in [("a", "c"), ("b", "B"), ("c", "b"), ("d", "A"), ("e", "C")] {
                try transaction.set(Song(title, 5), key)
            }
            try transaction.setObject(Song("d", 1), metadata: 7, forKey: "f", inCollection: "songs")
            // The same transaction sees it.
            #expect(try transaction[caseless].keys(in: "all") == ["d", "b", "c", "a", "e", "f"])
        }
        #expect(try keys(byKey, database) == ["f", "e", "d", "c", "b", "a"])
        #expect(try keys(byMetadata, database) == ["f", "d", "b", "e", "c", "a"])
        #expect(try keys(byRow, database) == ["a", "b", "c", "d", "e", "f"])
        try database.write { transaction in
            try transaction.set(Song("C", 9), "d")
            try transaction.removeObject(forKey: "b", inCollection: "songs")
        }
        // Equal rows are in the order in which they were inserted, also those that move.
        #expect(try keys(caseless, database) == ["c", "a", "d", "e", "f"])
        #expect(try keys(byRow, database) == ["a", "c", "e", "f", "d"])
        try database.blocking.close()
    }

    @Test func aViewThatComparesIsFilledInItsOrder() throws {
        let database = try open()
        let random = SeededRandomSource(seed: TestSeed.value)
        let ranks = (0..<1_500).map { _ in random.next(in: 0..<400) }
        try database.write { transaction in
            for (number, rank) in ranks.enumerated() { try transaction.set(Song("", rank), "\(number)") }
        }
        try database.blocking.register(byRank)
        let expected = ranks.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }.map(String.init)
        #expect(try keys(byRank, database) == expected)
        try database.blocking.close()
    }

    @Test func thousandsOfRowsFitBetweenTwoOthers() throws {
        let database = try open([byRank])
        // Each belongs directly before the last row: the distance between the keys is halved each time.
        try database.write { transaction in
            try transaction.set(Song("", 10_000), "last")
            for number in 0..<2_000 { try transaction.set(Song("", number), "\(number)") }
        }
        let expected = (0..<2_000).map(String.init)
        #expect(try keys(byRank, database) == expected + ["last"])
        try database.blocking.close()
    }

    // MARK: Metadata

    @Test func aChangeOfTheMetadataPlacesARowOnlyIfTheComparisonGetsThem() throws {
        let calls = Lock(0)
        let byTitle = Self.view(
            [
                .by { first, second in
                    calls.withLock { $0 += 1 }
                    return first.title < second.title
                }
            ], name: "byTitle")
        let byMetadata = Self.view(
            [.by(metadata: Int.self) { ($0 ?? 0) < ($1 ?? 0) }], name: "byMetadata")
        let database = try open([byTitle, byMetadata])
        try set(["a": 1, "b": 2, "c": 3], database)
        calls.withLock { $0 = 0 }
        try database.write { transaction in
            try transaction.replaceMetadata(5, forKey: "a", inCollection: "songs")
            try transaction.replaceMetadata(3, forKey: "b", inCollection: "songs")
            #expect(try transaction[byMetadata].keys(in: "all") == ["c", "b", "a"])
            try transaction.replaceMetadata(Int?.none, forKey: "a", inCollection: "songs")
        }
        #expect(calls.withLock { $0 } == 0)
        #expect(try keys(byMetadata, database) == ["a", "c", "b"])
        #expect(try keys(byTitle, database) == ["a", "b", "c"])
        try database.blocking.close()
    }

    @Test func aComparisonOfMetadataOfAnotherTypeIsRefused() throws {
        let database = try open()
        let view = Self.view([.by(metadata: String.self) { ($0 ?? "") < ($1 ?? "") }])
        #expect(code { try database.blocking.register(view) } == .typeMismatch)
        try database.blocking.close()
    }

    // MARK: Other runs and processes

    @Test func aViewThatComparesIsFilledAnewWhenItMissedWrites() throws {
        let calls = Lock(0)
        let view = Self.view([.by { $0.rank < $1.rank }]) { song in
            calls.withLock { $0 += 1 }
            return song.list
        }
        let low = Filtered("low", of: view, version: "1") { _, song in song.rank < 50 }
        var database = try open([view, low])
        try set(["a": 10, "b": 20, "c": 30, "d": 90], database)
        try database.blocking.close()
        calls.withLock { $0 = 0 }
        database = try open([view, low])
        #expect(calls.withLock { $0 } == 0)
        try database.blocking.close()
        // All of them change places with each other: placed one by one, they would be compared with rows that have left
        // the places that they still have.
        let lacking = try open()
        try set(["a": 40, "b": 30, "c": 20, "d": 10], lacking)
        try lacking.blocking.close()
        database = try open([view, low])
        #expect(calls.withLock { $0 } == 4)
        #expect(try keys(view, database) == ["d", "c", "b", "a"])
        #expect(try keys(low, database) == ["d", "c", "b", "a"])
        try database.blocking.close()
    }

    @Test func aViewThatComparesIsNotReadAfterAnotherProcessWroteWithoutIt() throws {
        let low = Filtered("low", of: byRank, version: "1") { _, song in song.rank < 50 }
        var database = try open([byRank, low])
        try set(["a": 10, "b": 20], database)
        let lacking = try open()
        try set(["a": 30], lacking)
        #expect(code { _ = try keys(byRank, database) } == .extensionNotRegistered)
        // It isn't caught up by a write either.
        try set(["c": 1], database)
        #expect(code { _ = try keys(byRank, database) } == .extensionNotRegistered)
        #expect(code { _ = try keys(low, database) } == .extensionNotRegistered)
        try database.blocking.close()
        try lacking.blocking.close()
        let again = Self.view([.by { $0.rank < $1.rank }])
        let lowAgain = Filtered("low", of: again, version: "1") { _, song in song.rank < 50 }
        database = try open([again, lowAgain])
        #expect(try keys(again, database) == ["c", "b", "a"])
        #expect(try keys(lowAgain, database) == ["c", "b", "a"])
        try database.blocking.close()
    }

    @Test func twoProcessesThatCompareAlikeShareTheView() throws {
        let (database, otherView) = (try open([byRank]), Self.view([.by { $0.rank < $1.rank }]))
        let other = try open([otherView])
        for round in 0..<20 {
            let (first, second) = (round * 7 % 20, round * 11 % 20)
            try set(["a\(first)": second], database)
            try set(["a\(second)": first], other)
            let read = try keys(byRank, database)
            #expect(try keys(otherView, other) == read)
            let ranks = try database.read { transaction in
                try transaction.objects(Song.self, forKeys: read, inCollection: "songs")
                    .map { $0?.rank ?? -1 }
            }
            #expect(ranks == ranks.sorted())
        }
        try database.blocking.close()
        try other.blocking.close()
    }

    @Test func anotherKindOfSortFillsTheViewAnew() throws {
        var database = try open([Self.view([.by(\.rank)])])
        try set(["a": 1, "b": 2], database)
        try database.blocking.close()
        let view = Self.view([.by { $0.rank > $1.rank }])
        database = try open([view])
        #expect(try keys(view, database) == ["b", "a"])
        try database.blocking.close()
    }
}

extension ComparedViewTests {
    // MARK: Faults

    @Test func aComparisonThatContradictsItselfEndsInSomeOrder() throws {
        let answers = Lock(SeededRandomSource(seed: TestSeed.value))
        @Sendable func answer(_ first: Song, _ second: Song) -> Bool {
            answers.withLock { $0.next(in: 0..<2) == 0 }
        }
        let view = Self.view([.by { answer($0, $1) }])
        let database = try open([view])
        let random = SeededRandomSource(seed: TestSeed.value)
        for step in 0..<8 {
            try database.write { transaction in
                for _ in 0..<200 {
                    let key = "\(random.next(in: 0..<900))"
                    if random.next(in: 0..<4) == 0 {
                        try transaction.removeObject(forKey: key, inCollection: "songs")
                    } else {
                        try transaction.set(Song("", list: "\(random.next(in: 0..<2))"), key)
                    }
                }
                if step % 3 == 2 {
                    try transaction[view].setSort(version: "\(step)", [.by { answer($0, $1) }, .byKey()])
                }
            }
            try database.read { transaction in
                let songs = try transaction.objects(Song.self, inCollection: "songs")
                for group in ["0", "1"] {
                    let expected = songs.filter { $0.object.list == group }.map(\.key).sorted()
                    #expect(try transaction[view].keys(in: group).sorted() == expected)
                    #expect(try transaction[view].count(in: group) == expected.count)
                }
            }
        }
        try database.blocking.close()
    }

    @Test func anErrorOfAComparisonEndsTheWrite() throws {
        let isRefused = Lock(false)
        @Sendable func compare(_ first: Song, _ second: Song) throws -> Bool {
            if isRefused.withLock({ $0 }) { throw Refused() }
            return first.rank < second.rank
        }
        let view = Self.view([.by { try compare($0, $1) }])
        let database = try open([view])
        try set(["a": 1, "b": 2], database)
        isRefused.withLock { $0 = true }
        #expect(throws: Refused.self) { try set(["c": 3], database) }
        #expect(throws: Refused.self) {
            try database.write { transaction in
                // Catching the error doesn't keep half of the write.
                try? transaction.set(Song("", 9), "a")
            }
        }
        #expect(throws: Refused.self) {
            try database.write { try $0[view].setSort(version: "2", [.by { try compare($1, $0) }]) }
        }
        let other = Self.view([.by { try compare($0, $1) }], name: "other")
        #expect(throws: Refused.self) { try database.blocking.register(other) }
        isRefused.withLock { $0 = false }
        #expect(try keys(view, database) == ["a", "b"])
        try set(["c": 0], database)
        #expect(try keys(view, database) == ["c", "a", "b"])
        try database.blocking.register(other)
        #expect(try keys(other, database) == ["c", "a", "b"])
        try database.blocking.close()
    }

    /// An object that can't be decoded while its type refuses its title.
    private struct Fussy: Codable, Sendable {
        static let refused = Lock("")
        var title: String
        var rank: Int

        init(_ title: String, _ rank: Int) { (self.title, self.rank) = (title, rank) }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            (title, rank) = try (
                values.decode(String.self, forKey: .title), values.decode(Int.self, forKey: .rank)
            )
            if title == Self.refused.withLock({ $0 }) { throw Refused() }
        }
    }

    @Test func rowsAreWrittenInOrderBesideOneThatCannotBeDecoded() throws {
        func opened() throws -> (YapDatabase, YapDatabaseAutoView<Fussy, Int>) {
            let view = YapDatabaseAutoView<Fussy, Int>(
                "fussy", of: Fussy.self, in: "songs", version: "1", group: { _ in 0 },
                sort: [.by { $0.rank < $1.rank }])
            let database = try folder.open { $0.register(Fussy.self, inCollection: "songs") }
            try database.blocking.register(view)
            return (database, view)
        }
        defer { Fussy.refused.withLock { $0 = "" } }
        for refused in 0..<7 {
            Fussy.refused.withLock { $0 = "" }
            var (database, view) = try opened()
            try database.write { transaction in
                try transaction.removeAllObjects(inCollection: "songs")
                for rank in 0..<7 {
                    let song = Fussy("\(rank)", 10 * rank)
                    try transaction.setObject(song, forKey: "\(10 * rank)", inCollection: "songs")
                }
            }
            try database.blocking.close()
            Fussy.refused.withLock { $0 = "\(refused)" }
            (database, view) = try opened()
            let ranks = [35, 5, 65, 55, 15, 45, 25, -5, 12, 38]
            try database.write { transaction in
                for rank in ranks {
                    try transaction.setObject(Fussy("new", rank), forKey: "\(rank)", inCollection: "songs")
                }
            }
            let keys = try database.read { try $0[view].keys(in: 0) }
            let others = keys.compactMap(Int.init).filter { $0 != 10 * refused }
            #expect(keys.count == 17 && others.count == 16)
            #expect(others == others.sorted(), "\(keys)")
            try database.blocking.close()
        }
    }

    @Test func aTransactionThatFailsLeavesTheFormerOrder() throws {
        let database = try open([byRank])
        try set(["a": 1, "b": 2, "c": 3], database)
        #expect(throws: Refused.self) {
            try database.write { transaction in
                try transaction.set(Song("", 9), "a")
                throw Refused()
            }
        }
        try database.write { transaction in
            try? transaction.savepoint {
                for number in 0..<3_000 { try transaction.set(Song("", -number), "n\(number)") }
                throw Refused()
            }
            try transaction.set(Song("", 0), "c")
        }
        #expect(try keys(byRank, database) == ["c", "a", "b"])
        try database.blocking.close()
    }

    // MARK: Setting a sort

    @Test func aComparisonThatIsSetCountsFromItsTransactionOn() throws {
        let view = Self.view([.by(\.title)])
        let low = Filtered("low", of: view, version: "1") { _, song in song.rank < 8 }
        var database = try open([view, low])
        try set(["a": 2, "b": 9, "c": 1, "d": 5], database)
        try database.write { transaction in
            try transaction[view].setSort(version: "rank", [.by { $0.rank < $1.rank }])
            #expect(try transaction[view].keys(in: "all") == ["c", "a", "d", "b"])
            #expect(try transaction[low].keys(in: "all") == ["c", "a", "d"])
            try transaction.set(Song("", 3), "e")
            #expect(try transaction[low].keys(in: "all") == ["c", "a", "e", "d"])
        }
        try database.write { transaction in
            try transaction[view].setGrouping(
                version: "parts",
                sort: [.by(metadata: Int.self) { ($0 ?? 0) < ($1 ?? 0) }, .by { $0.rank > $1.rank }]
            ) { $0.rank > 4 ? "high" : nil }
            try transaction.replaceMetadata(-1, forKey: "d", inCollection: "songs")
        }
        #expect(try keys(view, database, in: "high") == ["d", "b"])
        #expect(try keys(low, database, in: "high") == ["d"])
        try database.write { try $0[view].setGrouping(version: "2", sort: [.byKey()]) { _ in "all" } }
        #expect(try keys(view, database) == ["a", "b", "c", "d", "e"])
        #expect(try keys(low, database) == ["a", "c", "d", "e"])
        // The next run knows it by its version, and that it can't catch up.
        try database.write { try $0[view].setSort(version: "rank", [.by { $0.rank < $1.rank }]) }
        try database.blocking.close()
        let lacking = try open()
        try set(["a": 9, "b": 2], lacking)
        try lacking.blocking.close()
        let again = Self.view([.by { $0.rank < $1.rank }], version: "rank", group: { _ in "all" })
        database = try open([again])
        #expect(try keys(again, database) == ["c", "b", "e", "d", "a"])
        try database.blocking.close()
    }

    @Test func aListFollowsAComparisonRowByRow() async throws {
        let database = try open([byRank])
        try set(["a": 1, "b": 2, "c": 3, "d": 4, "e": 5], database)
        let connection = database.newConnection()
        var changes = connection.changes(of: byRank).makeAsyncIterator()
        var list = YapDatabaseViewSections<String, Song>()
        func next() async throws -> [YapDatabaseViewRowChange] {
            let change = try #require(try await changes.next())
            #expect(list.sections.isEmpty || !change.isReset)
            list.apply(change)
            return change.rowChanges
        }
        func titles() -> [String] { list.sections.flatMap { $0.rows.map(\.title) } }
        _ = try await next()
        try await connection.readWrite { try $0.set(Song("a", 9), "a") }
        #expect(try await next().map(\.kind) == [.move])
        #expect(titles() == ["b", "c", "d", "e", "a"])
        // Only the row whose place among the others differs is a change.
        try await connection.readWrite { transaction in
            try transaction[byRank].setSort(
                version: "2",
                [.by { ($0.title == "d" ? 0 : 1, $0.rank) < ($1.title == "d" ? 0 : 1, $1.rank) }])
        }
        #expect(try await next().map(\.kind) == [.move])
        #expect(titles() == ["d", "b", "c", "e", "a"])
        try await connection.readWrite { try $0[byRank].setSort(version: "3", [.by(\.title)]) }
        _ = try await next()
        #expect(titles() == ["a", "b", "c", "d", "e"])
        try await database.close()
    }

    @Test func listsFollowEachComparisonThatIsSet() async throws {
        let low = Filtered("low", of: byRank, version: "1") { _, song in song.rank % 3 > 0 }
        let database = try open([byRank, low])
        try set(Dictionary(uniqueKeysWithValues: (1...8).map { ("\($0)", $0) }), database)
        let connection = database.newConnection()
        let views: [View] = [byRank, low]
        var changes = views.map { connection.changes(of: $0).makeAsyncIterator() }
        var lists = views.map { _ in YapDatabaseViewSections<String, Song>() }
        func titles(_ index: Int) -> [String] { lists[index].sections.flatMap { $0.rows.map(\.title) } }
        let random = SeededRandomSource(seed: TestSeed.value)
        for step in 0..<40 {
            let order = (0...8).map { _ in random.next(in: 0..<100) }
            try await connection.readWrite { transaction in
                try transaction[byRank].setSort(
                    version: "step \(step)",
                    [.by { (order[$0.rank], $0.rank) < (order[$1.rank], $1.rank) }])
            }
            let expected = (1...8).sorted { (order[$0], $0) < (order[$1], $1) }.map(String.init)
            for (index, view) in views.enumerated() {
                let keys = try await connection.read { try $0[view].keys(in: "all") }
                #expect(keys == expected.filter { index == 0 || (Int($0) ?? 0) % 3 > 0 })
                if titles(index) == keys { continue }
                let change = try #require(try await changes[index].next())
                #expect(lists[index].sections.isEmpty || !change.isReset)
                lists[index].apply(change)
                // A list that is wrong would wait for a change that may not come.
                try #require(titles(index) == keys)
            }
        }
        try await database.close()
    }

    @Test func aComparisonThatIsSetWritesNoRowOfAGroupThatKeepsItsOrder() throws {
        let database = try open([byRank])
        try set(["a": 1, "b": 2, "c": 3], database)
        let seen = CommitList()
        database.addInlineCommitObserver { seen.add($0) }
        try database.write { try $0[byRank].setSort(version: "2", [.by { $0.title < $1.title }]) }
        #expect(seen.commits.last?.changes(ofExtension: "songs") == nil)
        try database.blocking.close()
    }
}

extension YapDatabaseReadWriteTransaction {
    fileprivate func set(_ song: ComparedViewTests.Song, _ key: String) throws {
        try setObject(song, forKey: key, inCollection: "songs")
    }
}

import Testing

@testable import Yap

/// Full-text searches of texts of the rows' metadata.
struct MetadataSearchTests {
    typealias Book = MetadataStage.Book
    typealias Reading = MetadataStage.Reading
    typealias Search = YapDatabaseFullTextSearch<Book>

    private let stage: MetadataStage
    private let search = Search("text", of: Book.self, in: "books", version: "1") {
        $0.column(\.title)
        $0.column(metadata: \Reading.lender)
        $0.column(metadata: \Reading.tags)
        $0.column("both", metadata: Reading.self) { book, reading in
            reading.map { "\(book.title)\($0.rating)" }
        }
    }

    init() throws {
        stage = try MetadataStage()
        try stage.setFour()
        try stage.database.blocking.register(search)
    }

    private func keys(_ query: YapDatabaseTextQuery<Book>) throws -> [String] {
        try stage.connection.blocking.read { try $0[search].keys(query).sorted() }
    }

    @Test func textsOfTheMetadataAreFoundAndFollowed() throws {
        #expect(try keys(.words("ann")) == ["a"])
        #expect(try keys(.words("bees5")) == ["b"])
        #expect(try keys(.prefix("c").in(column: "lender")) == ["c"])
        try stage.connection.blocking.readWrite { transaction in
            try transaction.setReading(Reading(lender: "Bob", tags: ["blue moon", "red"]), "a")
            try transaction.setReading(nil, "c")
            try transaction.setReading(Reading(lender: "Dan"), "d")
            #expect(try transaction[search].keys(.words("dan")) == ["d"])
        }
        #expect(try keys(.words("ann")) == [])
        #expect(try keys(.phrase("blue moon")) == ["a"])
        #expect(try keys(.words("carl")) == [])
        #expect(try keys(.words("cats")) == ["c"])
        // The metadata stays with another object.
        try stage.connection.blocking.readWrite { try $0.replaceBook("Ants", "a") }
        #expect(try keys(.words("ants bob ants0")) == ["a"])
        try stage.connection.blocking.readWrite { try $0.set(Book(title: "Ants"), nil, "a") }
        #expect(try keys(.words("bob")) == [])
    }

    @Test func matchesAreReadWithTheirMetadata() throws {
        let matches = try stage.connection.blocking.read {
            try $0[search].matches(
                .words("ann"), metadata: Reading.self, snippets: [.whole(column: "lender"), .whole(\.title)])
        }
        #expect(matches.map(\.match.object.title) == ["Apples"])
        #expect(matches.first?.match.snippets.map(\.text) == ["Ann", "Apples"])
        #expect(matches.map(\.metadata) == [Reading(rating: 3, lender: "Ann")])
        let found = try stage.database.newConnection().blocking.read { transaction in
            _ = stage.decoded.take()
            return try transaction[search].metadata(
                Reading.self, .anyWord("apples dogs"), order: .oldestFirst, limit: 5)
        }
        #expect(found.map(\.key) == ["a", "d"])
        #expect(found.map(\.metadata?.rating) == [3, nil])
        #expect(stage.decoded.lines == [])
    }

    @Test func aSearchIsObservedByTextsOfTheMetadata() throws {
        func isObserved(
            _ read: (YapDatabaseFullTextSearchTransaction<Book>) throws -> Void, _ reading: Reading
        )
            throws -> Bool
        {
            try stage.isObserved({ try read($0[search]) }, whenWriting: { try $0.setReading(reading, "a") })
        }
        #expect(try isObserved({ _ = try $0.count(.words("eve")) }, Reading(lender: "Eve")))
        #expect(try !isObserved({ _ = try $0.count(.words("eve")) }, Reading(lender: "Eve", page: 2)))
        #expect(
            try isObserved(
                { _ = try $0.matches(.words("eve"), metadata: Reading.self) }, Reading(lender: "Eve", page: 3)
            ))
        #expect(
            try isObserved(
                { _ = try $0.metadata(Reading.self, .words("eve")) }, Reading(lender: "Eve", page: 4)))
    }

    @Test func aSearchWithoutMetadataIsNotConcernedByIt() throws {
        let asked = Log()
        try stage.database.blocking.unregister(search.name)
        let plain = Search("plain", of: Book.self, in: "books", version: "1") {
            $0.column("title") { book in
                asked.add(book.title)
                return book.title
            }
        }
        try stage.database.blocking.register(plain)
        _ = (asked.take(), stage.decoded.take())
        try stage.connection.blocking.readWrite { try $0.setReading(Reading(rating: 4), "a") }
        #expect(asked.lines == [] && stage.decoded.lines == [])
    }

    @Test func metadataDecidesWhichRowsAreSearched() throws {
        let lent = Search(
            "lent", of: Book.self, metadata: Reading.self, in: "books", version: "1",
            including: { _, reading in reading?.lender != nil }
        ) { $0.column(\.title) }
        try stage.database.blocking.register(lent)
        func keys() throws -> [String] {
            try stage.connection.blocking.read { try $0[lent].keys(.anyWord("apples bees cats")).sorted() }
        }
        #expect(try keys() == ["a", "c"])
        try stage.connection.blocking.readWrite { transaction in
            try transaction.setReading(Reading(lender: "Bob"), "b")
            try transaction.setReading(nil, "c")
        }
        #expect(try keys() == ["a", "b"])
    }

    @Test func aViewOfResultsFollowsTextsOfTheMetadata() throws {
        let all = YapDatabaseAutoView(
            "all", of: Book.self, in: "books", version: "1", group: { _ in "all" }, sort: [.by(\.title)])
        let found = YapDatabaseSearchResultsView("found", of: all, matching: search)
        let first = YapDatabaseFilteredView("first", of: found, version: "1") { _, book in book.title < "D" }
        try stage.database.blocking.register(all)
        try stage.database.blocking.register(found)
        try stage.database.blocking.register(first)
        func keys(_ view: YapDatabaseView<Book, String>) throws -> [String] {
            try stage.connection.blocking.read { try $0[view].keys(in: "all") }
        }
        try stage.connection.blocking.readWrite { try $0[found].search(.words("ann")) }
        #expect(try keys(found) == ["a"])
        try stage.connection.blocking.readWrite { transaction in
            try transaction.setReading(Reading(lender: "Ann"), "d")
            try transaction.setReading(Reading(lender: "Ann"), "b")
            try transaction.setReading(Reading(lender: "Eve"), "a")
            #expect(try transaction[found].keys(in: "all") == ["b", "d"])
        }
        #expect(try keys(found) == ["b", "d"])
        #expect(try keys(first) == ["b"])
        // The text stays: the row does, and is reported as updated.
        try stage.connection.blocking.readWrite { try $0.setReading(Reading(lender: "Ann", page: 1), "b") }
        #expect(try keys(found) == ["b", "d"])
    }

    @Test func aTransactionThatSetsMetadataOfManyRowsRunsTheQueryOfAViewOnce() throws {
        let all = YapDatabaseAutoView(
            "all", of: Book.self, in: "books", version: "1", group: { _ in "all" }, sort: [.by(\.title)])
        let found = YapDatabaseSearchResultsView("found", of: all, matching: search)
        let first = YapDatabaseFilteredView("first", of: found, version: "1") { _, _ in true }
        for view in [all, found, first] as [YapDatabaseView<Book, String>] {
            try stage.database.blocking.register(view)
        }
        let keys = (0..<200).map { "k\($0)" }
        try stage.connection.blocking.readWrite { transaction in
            for key in keys { try transaction.set(Book(title: key), Reading(lender: "anna"), key) }
            try transaction[found].search(.prefix("ann"))
        }
        func runs(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> Int {
            try stage.connection.blocking.readWrite { transaction in
                try body(transaction)
                let part = try transaction[found]
                try part.placePending()
                return try part.searchPart().runsCount
            }
        }
        let seen = CommitList()
        stage.database.addInlineCommitObserver { seen.add($0) }
        // Every second row has another text.
        let ofMetadata = try runs { transaction in
            for (number, key) in keys.enumerated() {
                let lender = number % 2 == 0 ? "anna" : "ann\(number)"
                try transaction.setReading(Reading(lender: lender, page: 1), key)
            }
        }
        #expect(ofMetadata == 1)
        for name in [found.name, first.name] {
            let changes = seen.commits.last?.changes(ofExtension: name) as? ViewChanges<String>
            #expect(changes?.rows.count == 200)
            #expect(changes?.rows.values.allSatisfy { $0.flags == .metadata && $0.keptPlace } == true)
        }
        let ofBoth = try runs { transaction in
            for (number, key) in keys.enumerated() {
                try transaction.replaceBook("t\(number)", key)
                try transaction.touchMetadata(forKey: key, inCollection: "books")
            }
        }
        #expect(ofBoth == 1)
        for name in [found.name, first.name] {
            let changes = seen.commits.last?.changes(ofExtension: name) as? ViewChanges<String>
            #expect(changes?.rows.count == 200)
            #expect(changes?.rows.values.allSatisfy { $0.flags == [.object, .metadata] } == true)
        }
        #expect(try stage.connection.blocking.read { try $0[first].count() } == 201)
    }

    @Test func metadataOfAnotherTypeIsAMistake() throws {
        let mistake = Search("mistake", of: Book.self, in: "books", version: "1") {
            $0.column("text", metadata: Stamp.self) { _, stamp in stamp.map { "\($0.milliseconds)" } }
        }
        #expect(code { try stage.database.blocking.register(mistake) } == .typeMismatch)
        let missing = Search("missing", of: Book.self, in: "plain", version: "1") {
            $0.column(metadata: \Reading.lender)
        }
        #expect(code { try stage.database.blocking.register(missing) } == .missingRegistration)
    }
}

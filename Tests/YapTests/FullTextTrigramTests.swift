import Testing

@testable import Yap

/// The tokenizer `.trigram`, with queries that its index answers and shorter ones.
@Suite struct FullTextTrigramTests {
    private typealias Page = FullTextSearchStage.Page
    private let stage: FullTextSearchStage

    init() throws {
        stage = try FullTextSearchStage(FullTextSearchStage.search(tokenizer: .trigram))
        try stage.write { transaction in
            try transaction.set(Page(title: "東京都の天気", body: "今日は晴れです"), "a")
            try transaction.set(Page(title: "京都", body: "Straßenbahn nach Kyoto"), "b")
            try transaction.set(Page(title: "Tokyo", body: "the fullText search, 100% 'quoted'"), "c")
        }
    }

    @Test func partsOfWordsAreFound() throws {
        #expect(try stage.keys(.words("東京都")) == ["a"])
        #expect(try stage.keys(.words("bahn yoto")) == ["b"])
        #expect(try stage.keys(.prefix("TEXT sear")) == ["c"])
        #expect(try stage.keys(.phrase("text search")) == ["c"])
        #expect(try stage.keys(.words("search text").excluding(.words("quoted"))) == [])
    }

    @Test func wordsOfOneAndTwoCharactersAreFoundToo() throws {
        #expect(try stage.keys(.words("東京")) == ["a"])
        #expect(try stage.keys(.words("京都")) == ["a", "b"])
        #expect(try stage.keys(.words("京都 Kyoto")) == ["b"])
        #expect(try stage.keys(.anyWord("東京 TO")) == ["a", "b", "c"])
        #expect(try stage.keys(.words("京").excluding(.words("天気"))) == ["b"])
        #expect(try stage.keys(.words("京").in(\.body)) == [])
        #expect(try stage.keys(.words("の").in(\.title)) == ["a"])
        #expect(try stage.keys(.words("o").in(column: "body") && .expression("kyoto")) == ["b"])
        #expect(try stage.keys(.words("o") && .expression("kyoto").in(\.title)) == [])
        #expect(try stage.keys(.words("%") || .words("'q")) == ["c"])
        #expect(try stage.keys(.words("_")) == [])
        #expect(try stage.keys(.words("  ")) == [])
        #expect(try stage.read { try $0.count(.words("京")) } == 2)
        #expect(code { _ = try stage.keys(.words("京").in(\.isHidden)) } == .invalidExtension)
        let matches = try stage.read { try $0.matches(.words("京"), order: .newestFirst, limit: 1) }
        #expect(matches.map(\.key) == ["b"] && matches.map(\.score) == [0])
    }

    @Test func excerptsOfOverlappingTrigramsAreExact() throws {
        try stage.set(["d": "abcdefgh xyz", "e": "😀 abc e\u{301}f 👩‍👩‍👧 xyz"])
        #expect(
            try stage.excerpt(.anyWord("abc cde"), .whole(\.body)) == [
                "[abcde]fgh xyz", "😀 [abc] e\u{301}f 👩‍👩‍👧 xyz",
            ])
        #expect(try stage.excerpt(.words("xyz bcd"), .whole(\.body)) == ["a[bcd]efgh [xyz]"])
        #expect(try stage.excerpt(.words("gh"), .whole(\.body)) == ["abcdef[gh] xyz"])
        // A match of a part of a character has the whole character.
        #expect(
            try stage.excerpt(.words("bc e"), .whole(\.body)) == [
                "a[bc]d[e]fgh xyz", "😀 a[bc] [e\u{301}]f 👩‍👩‍👧 xyz",
            ])
    }

    @Test func anExcerptIsCutToCharacters() throws {
        try stage.set(["d": String(repeating: "-", count: 50) + "middle" + String(repeating: "+", count: 50)])
        for (query, part) in [("middle", "middle"), ("mi", "mi")] {
            let text = try #require(try stage.excerpt(.words(query), .of(\.body, words: 4)).first)
            #expect(text.contains("[\(part)]") && text.hasPrefix("…-") && text.hasSuffix("+…"), "\(text)")
            #expect(20...26 ~= text.count, "\(text)")
        }
    }
}

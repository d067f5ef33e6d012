import SQLite
import Testing

@testable import Yap

/// The excerpts of matches.
@Suite struct FullTextExcerptTests {
    private typealias Page = FullTextSearchStage.Page
    private let stage: FullTextSearchStage

    init() throws {
        stage = try FullTextSearchStage()
    }

    /// The original's second test.
    @Test func eachMatchHasItsSnippet() throws {
        try stage.set([
            "0": "hello world", "1": "hello coffee shop", "2": "hello laptop", "3": "hello work",
        ])
        #expect(
            try stage.excerpt(.words("hello"))
                == ["[hello] world", "[hello] coffee shop", "[hello] laptop", "[hello] work"])
        #expect(try stage.excerpt(.words("coffee")) == ["hello [coffee] shop"])
    }

    @Test func aSnippetIsThePartWithTheMostWordsOfTheQuery() throws {
        try stage.set(["a": "one milk two three four five milk bread six seven eight nine"])
        #expect(try stage.excerpt(.anyWord("milk bread")) == ["…five [milk] [bread] six…"])
        #expect(try stage.excerpt(.words("one")) == ["[one] milk two three…"])
        #expect(try stage.excerpt(.words("nine")) == ["…six seven eight [nine]"])
        #expect(try stage.excerpt(.phrase("five milk bread six")) == ["…[five milk bread six]…"])
        #expect(try stage.excerpt(.phrase("four five milk bread six seven")) == ["…[four five milk bread]…"])
        #expect(try stage.excerpt(.words("milk"), .of(\.body, words: 0)) == ["…[milk]…"])
        #expect(try stage.excerpt(.words("six"), .of(\.body, words: .max)).first?.hasPrefix("one") == true)
        #expect(try stage.excerpt(.words("six"), .of(\.title)) == [""])
        #expect(try stage.excerpt(.words("six"), .ofBestColumn(words: 2)) == ["…[six] seven…"])
    }

    @Test func rangesAreExactForAnyText() throws {
        let texts = [
            "👩‍👩‍👧 [milk] 😀 🇩🇪 [MILK]!", "cafe\u{301} [milk] e\u{301}e\u{301}", "<b>[milk]</b> & \u{1}[milk]\u{2}",
            "\r\n[milk]\r\n", "\u{FFFD}\u{E000} [milk]", "東京 [milk]", "…[milk]…", "[mi\u{301}lk]",
        ]
        for text in texts {
            try stage.set(["a": text.filter { $0 != "[" && $0 != "]" }])
            #expect(try stage.excerpt(.words("milk"), .whole(\.body)) == [text])
            #expect(try stage.excerpt(.words("milk"), .of(\.body, words: 20)) == [text])
        }
        // SQLite would end the text at the NUL.
        try stage.set(["a": "one\0milk\0two"])
        #expect(try stage.excerpt(.words("milk"), .whole(\.body)) == ["one [milk] two"])
        try stage.set(["a": "😀😀 one two three cafe\u{301} milk 😀 four five six seven"])
        #expect(try stage.excerpt(.words("milk cafe")) == ["…three [cafe\u{301}] [milk] 😀 four…"])
    }

    @Test func aMatchHasSeveralExcerpts() throws {
        try stage.write {
            try $0.set(Page(title: "Milk", body: "bread and milk", tags: ["milk", "red"]), "a")
        }
        let match = try #require(
            try stage.read {
                try $0.matches(.words("milk"), snippets: [.whole(\.title), .of(column: "tags"), .of(\.body)])
            }.first)
        #expect(match.snippets.map(\.column) == ["title", "tags", "body"])
        #expect(match.snippets.map(\.text) == ["Milk", "milk\nred", "bread and milk"])
        #expect(match.snippets.map(\.matches) == [["Milk"], ["milk"], ["milk"]])
        #expect(try stage.read { try $0.matches(.words("milk")) }.first?.snippet == nil)
        #expect(
            code { _ = try stage.read { try $0.matches(.words("milk"), snippet: .of(\.isHidden)) } }
                == .invalidExtension)
    }

    @Test func anExcerptOfATextWithFewWordsIsBoundedToo() throws {
        try stage.set(["a": "milk" + String(repeating: "\u{20AC}", count: 100_000) + "bread", "b": "milk"])
        let texts = try stage.read { try $0.matches(.words("milk"), snippet: .of(\.body, words: 10)) }
            .compactMap(\.snippet?.text)
        #expect(texts.allSatisfy { $0.utf8.count <= 10 * 256 + 3 } && texts.count == 2)
    }

    @Test func hitsThatOverlapOrTouchAreOneRange() {
        let excerpt = Array("abcdef".utf8).withUnsafeBytes { text in
            FullTextExcerpt(
                text, tokens: [0..<2, 1..<3, 3..<4, 5..<6],
                hits: [(0, 1..<2), (1, 0..<1), (0, 2..<3), (1, 3..<4), (2, 3..<9)], count: 0)
        }
        #expect(excerpt.ranges == [0..<4, 5..<6])
    }

    @Test func whatIsNoExcerptIsNotRead() {
        func excerpt(_ bytes: [UInt8]) -> FullTextExcerpt? {
            bytes.withUnsafeBytes { FullTextExcerpt(blob: $0) }
        }
        #expect(excerpt([]) == nil)
        #expect(excerpt([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]) == nil)
        #expect(excerpt([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 65]) == nil)
        #expect(excerpt([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 65])?.ranges == [0..<1])
    }
}

import CloudStore
import CloudWire
import Foundation
import SQLite
import SQLiteTestSupport
import Testing

@testable import CloudService

/// By which words a text is found.
@Suite struct WordsTests {
    @Test(arguments: [
        ("Crème BRÛLÉE", ["brulee", "creme"]), ("Straße STRASSE ẞ", ["ss", "strasse"]),
        ("Łódź İzmir ılık", ["ilik", "izmir", "lodz"]), ("ﬁnal Ŋ", ["final", "ŋ"]),
        ("κέντρο ΚΈΝΤΡΟ", ["κεντρο"]), ("σας ΣΑΣ", ["σασ"]), ("Чайковский чаиковскии", ["чаиковскии"]),
        ("कल", ["कल"]), ("कुल", ["कुल"]), ("กิน", ["กิน"]), ("กัน", ["กัน"]),
        ("مُحَمَّد محمد", ["محمد"]), ("أحمد", ["أحمد"]), ("שָׁלוֹם שלום", ["שלום"]),
        ("がぎ", ["が", "ぎ"]), ("한글", ["한글"]), ("東京tower", ["tower", "京", "東"]), ("\u{301}x", ["x"]),
        ("a\u{301}", ["a"]), ("42½", ["42½"]),
    ])
    func aTextHasTheseWords(_ text: String, _ words: [String]) {
        #expect(
            Words.of(text).map(\.unicodeScalars.description)
                == words.sorted {
                    $0.utf8.lexicographicallyPrecedes($1.utf8)
                }.map(\.unicodeScalars.description))
    }

    @Test(arguments: [
        "Чайковский", "한글", "κέντρο", "がぎぐ", "Crème brûlée", "Ångström", "q\u{323}\u{307}x", "क़लम", "أحمد",
        "שָׁלוֹם", "ệ", "ｶﾞ", "ΐ", "ǖ",
    ])
    func bothNormalFormsOfATextHaveTheSameWords(_ text: String) {
        let forms = [
            text.precomposedStringWithCanonicalMapping, text.decomposedStringWithCanonicalMapping,
        ].map { Words.of($0).map { Array($0.utf8) } }
        #expect(forms[0] == forms[1] && !forms[0].isEmpty)
    }

    @Test func aWordIsCutAtAWholeLetterAndManyMarksTakeNoMemory() {
        let long = String(repeating: "ж", count: 100)
        #expect(Words.of(long) == [String(repeating: "ж", count: 32)])
        #expect(Words.of(String(repeating: "x", count: 100)) == [String(repeating: "x", count: 64)])
        #expect(Words.of("x" + String(repeating: "\u{301}", count: 100_000) + " y") == ["x", "y"])
        let many = (0..<2_000).map { "w\($0)" }.joined(separator: " ")
        #expect(Words.of(many).count == Words.wordsMax)
    }

    @Test func aSearchFindsBothFormsAndTheWordsOfAnEarlierFileAreReplacedInSteps() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        func open() throws -> (TestService, SQLiteCloudStore) {
            let store = try SQLiteCloudStore(path: path)
            return (TestService(store: store), store)
        }
        let texts = ["Чайковский", "कुल", "Чайковский".decomposedStringWithCanonicalMapping]
        do {
            let (cloud, store) = try open()
            try cloud.zones(.create)
            try cloud.modify(
                texts.enumerated().map { operation(.create, "r\($0)", ["text": Field(.string($1))]) })
            while try cloud.service.keepUp() {}
            #expect(try found("чайковский", cloud) == ["r0", "r2"])
            #expect(try found("कल", cloud) == [])
            store.close()
        }
        let connection = try Connection(path: path)
        try connection.execute(OlderFormat.storeTwelve)
        // The version before had other words.
        try connection.execute("DELETE FROM indexEntries; UPDATE indexedRecords SET entries = x''")
        try connection.execute("PRAGMA user_version = 10")
        try connection.close()
        let (cloud, _) = try open()
        #expect(try found("чайковский", cloud) == [])
        while try cloud.service.keepUp() {}
        #expect(try found("ЧАЙКОВСКИЙ", cloud) == ["r0", "r2"])
        #expect(try found("कुल", cloud) == ["r1"])
    }

    private func found(_ text: String, _ cloud: TestService) throws -> [String] {
        let filter = RecordFilter(
            comparator: "CONTAINS_ALL_TOKENS", fieldName: "text", fieldValue: Field(.string(text)))
        let query = RecordQuery(recordType: "todo", filterBy: [filter])
        return try cloud.ask(
            "records/query", RecordsQueryRequest(query: query, zoneID: TestService.zone),
            as: RecordsQueryResponse.self
        ).records.compactMap { if case .record(let record) = $0 { record.recordName } else { nil } }.sorted()
    }
}

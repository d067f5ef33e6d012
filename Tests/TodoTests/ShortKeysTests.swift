import Testing

@testable import TodoKit

@Suite struct ShortKeysTests {
    @Test func aShortKeyIsTheShortestBeginningThatNamesOneItem() throws {
        let keys = ["ABCD1111", "ABCE2222", "AB", "F0000000", "F0000001"]
        let short = ShortKeys(keys)
        #expect(keys.map(short.short) == ["abcd", "abce", "ab", "f0000000", "f0000001"])
        #expect(ShortKeys(["ABCD1111", "EFGH2222"]).short("ABCD1111") == "abc")
        for key in keys where key != "AB" { #expect(try short.key(short.short(key), in: keys) == key) }
    }

    @Test func aBeginningOfNoneOrOfSeveralItemsIsRefused() {
        let keys = ["ABCD1111", "ABCE2222"]
        #expect(throws: ShortKeyError.none("x")) { try ShortKeys(keys).key("x", in: keys) }
        #expect(throws: ShortKeyError.none("")) { try ShortKeys(keys).key("", in: keys) }
        #expect(throws: ShortKeyError.several("abc", ["abcd", "abce"])) {
            try ShortKeys(keys).key("abc", in: keys)
        }
    }
}

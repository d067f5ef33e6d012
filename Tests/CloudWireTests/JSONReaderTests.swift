import System
import TestSeed
import Testing

@testable import CloudWire

@Suite struct JSONReaderTests {
    private func tree(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws -> JSONValue {
        try JSONReader.read(bytes, limits: limits) { node throws(JSONError) in try node.tree() }
    }

    @Test(arguments: [
        "", " ", "\u{FEFF}{}", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}",
        "{\"a\":}", "{\"a\" 1}",
        "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}", "{1:1}", "{\"a\":1 \"b\":2}", "[1]]", "{}{}", "1 2", "nul",
        "nulll",
        "True", "NaN", "[NaN]", "Infinity", "-Infinity", "[-]", "-", "+1", "01", "-01", "1.", ".5", "1.e3",
        "1e", "1e+",
        "0x10", "1_000", "1,5", "--1", "1e5.5", "\"", "\"abc", "\"\\\"", "\"\\x41\"", "\"\\u12\"",
        "\"\\u12G4\"",
        "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800x\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"\\U0041\"",
        "\"\n\"",
        "\"\t\"", "\"\u{0}\"", "\"\u{1f}\"", "// x\n1", "/* */1", "\u{00A0}1", "\u{0C}1", "{\"a\":1}#",
        "[\"a\",\n4\n,1,",
        "truefalse", "'x'", "\\u0031", "[\"x\"", "{\"a\":{\"b\":1}", "\"x\u{0}",
    ])
    func textThatIsNotJSONIsRefused(_ text: String) {
        let error = #expect(throws: JSONError.self) { try tree(Array(text.utf8)) }
        #expect(error?.code == .malformed)
        #expect((error?.byteOffset ?? -1) <= text.utf8.count)
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0xAF],
            [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xE2, 0x82, 0x41], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0xAF],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xFF], [0xFE],
        ] as [[UInt8]])
    func bytesThatAreNotUTF8AreRefusedInTextAndInKeys(_ bytes: [UInt8]) {
        for prefix in ["", "abc", "abcdefg", "abcdefghi"] {
            let text = Array("\"\(prefix)".utf8) + bytes + Array("\"".utf8)
            #expect(throws: JSONError.self) { try tree(text) }
            #expect(throws: JSONError.self) { try tree(Array("{".utf8) + text + Array(":1}".utf8)) }
        }
    }

    @Test(
        arguments: [
            ("\"\\u0041\\n\\/\\b\\f\\r\\t\\\\\\\"\"", .string("A\n/\u{8}\u{c}\r\t\\\"")),
            ("\"\\ud83d\\ude00\"", .string("😀")),
            ("\"\\u0000\"", .string("\u{0}")), ("\"\\uFFFF\\uffff\"", .string("\u{FFFF}\u{FFFF}")),
            ("\"\\udbff\\udfff\"", .string("\u{10FFFF}")),
            (
                "\"é€😀\u{7f}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\"",
                .string("é€😀\u{7f}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}")
            ),
            (" [ 1 , 2 ] ", .array([.integer(1), .integer(2)])), ("\t\r\n{}", .object([:])),
            ("-0", .integer(0)),
            ("-9223372036854775808", .integer(.min)), ("9223372036854775807", .integer(.max)),
            ("9223372036854775808", .double(9_223_372_036_854_775_808)), ("1e2", .double(100)),
            ("0.5E-1", .double(0.05)),
            ("{\"\":null,\"a\":true}", .object(["": .null, "a": .bool(true)])),
        ] as [(String, JSONValue)])
    func textIsReadAsTheStandardSays(text: String, value: JSONValue) throws {
        #expect(try tree(Array(text.utf8)) == value)
    }

    @Test(arguments: [
        "{\"a\":1,\"a\":2}", "{\"a\":1,\"b\":{\"c\":1},\"a\":2}", "{\"a\":1,\"\\u0061\":2}",
        "{\"\":1,\"\":1}",
        "{\"\u{e9}\":1,\"e\u{301}\":2}", "[{\"x\":{\"k\":1,\"k\":1}}]",
    ])
    func aKeyThatStandsTwiceIsRefused(_ text: String) {
        #expect(throws: JSONError.self) { try tree(Array(text.utf8)) }
        let error = #expect(throws: JSONError.self) { try tree(Array(text.utf8)) }
        #expect(error?.code == .duplicateKey)
    }

    @Test(arguments: [2, 40, 41, 5000])
    func aKeyThatStandsTwiceIsFoundAmongMany(_ count: Int) {
        let members = (0..<count).map { "\"key\($0)\":\($0)" }
        #expect(throws: Never.self) { try tree(Array("{\(members.joined(separator: ","))}".utf8)) }
        let doubled = (members + ["\"key\(count / 2)\":0"]).joined(separator: ",")
        let error = #expect(throws: JSONError.self) { try tree(Array("{\(doubled)}".utf8)) }
        #expect(error?.code == .duplicateKey)
    }

    @Test func depthIsLimited() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(throws: Never.self) { try tree(nested(JSONLimits().depthMax)) }
        for depth in [JSONLimits().depthMax + 1, 100_000] {
            let error = #expect(throws: JSONError.self) { try tree(nested(depth)) }
            #expect(error?.code == .limitExceeded)
        }
        let open = Array(String(repeating: "{\"a\":", count: 100_000).utf8)
        #expect(throws: JSONError.self) { try tree(open) }
    }

    @Test func sizeValuesAndDigitsAreLimited() {
        var limits = JSONLimits()
        limits.bytesMax = 8
        #expect(throws: Never.self) { try tree(Array("\"123456\"".utf8), limits: limits) }
        let large = #expect(throws: JSONError.self) { try tree(Array("\"1234567\"".utf8), limits: limits) }
        #expect(large?.code == .limitExceeded)
        limits.valuesMax = 3
        #expect(throws: Never.self) { try tree(Array("[1,2]".utf8), limits: limits) }
        let many = #expect(throws: JSONError.self) { try tree(Array("[1,2,3]".utf8), limits: limits) }
        #expect(many?.code == .limitExceeded)
        let long = #expect(throws: JSONError.self) {
            try tree(Array(String(repeating: "1", count: 401).utf8))
        }
        #expect(long?.code == .limitExceeded)
        #expect(throws: JSONError.self) { try tree(Array("1e400".utf8)) }
        #expect(throws: JSONError.self) { try tree(Array("-1e99999".utf8)) }
    }

    @Test func anyTextIsWrittenSoThatItReadsTheSame() throws {
        let random = SeededRandomSource(seed: 7)
        for _ in 0..<500 {
            let scalars = (0..<random.next(in: 0..<40)).compactMap { _ in
                Unicode.Scalar(
                    UInt32(random.next(in: 0..<[0x20, 0x80, 0x800, 0x110000][random.next(in: 0..<4)])))
            }
            let text = String(String.UnicodeScalarView(scalars))
            var writer = JSONWriter(includesExtras: false)
            writer.value(.object([text: .array([.string(text)])]))
            let value = try tree(try writer.finish())
            #expect(value == .object([text: .array([.string(text)])]))
        }
    }

    @Test func integersKeepEveryBit() throws {
        let random = SeededRandomSource(seed: 11)
        var numbers: [Int64] = [0, 9, 10, 99, 100, -1, -10, .min, .max]
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            numbers += [power, power - 1, -power, 1 - power]
        }
        for _ in 0..<300 {
            numbers.append(Int64(bitPattern: random.next() >> UInt64(random.next(in: 0..<64))))
        }
        for number in numbers {
            var writer = JSONWriter(includesExtras: false)
            writer.value(number)
            let bytes = try writer.finish()
            #expect(String(decoding: bytes, as: UTF8.self) == String(number))
            #expect(try tree(bytes) == .integer(number))
        }
    }

    @Test func randomDamageNeverCrashesAndWhatIsAcceptedIsStable() throws {
        let seed = TestSeed.value
        print("CloudWire random damage: seed \(seed)")
        let random = SeededRandomSource(seed: seed)
        for fixture in Fixture.all {
            for _ in 0..<60 {
                var bytes = fixture.bytes
                for _ in 0...random.next(in: 0..<4) {
                    let position = random.next(in: 0..<bytes.count)
                    switch random.next(in: 0..<4) {
                    case 0: bytes[position] = UInt8(truncatingIfNeeded: random.next())
                    case 1: bytes[position] ^= 1 << UInt8(random.next(in: 0..<8))
                    case 2: bytes.remove(at: position)
                    default: bytes.insert(Array("{}[],:\"\\0".utf8)[random.next(in: 0..<9)], at: position)
                    }
                }
                guard let message = try? fixture.shape.decode(bytes) else { continue }
                let written = try message.json()
                #expect(try fixture.shape.decode(written).json() == written, "seed \(seed)")
            }
        }
    }
}

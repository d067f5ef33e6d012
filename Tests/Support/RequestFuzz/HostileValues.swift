/// Values that a program is apt to stumble over, wherever one is expected.
struct HostileValues {
    let draw: Draw
    let own: SealedValues
    /// What was given to somebody else.
    let foreign: SealedValues

    var one: JSONTree {
        switch draw.number(0..<10) {
        case 0...2: .raw(draw.one(of: Self.raw))
        case 3, 4: .text(draw.one(of: Self.texts))
        case 5: long
        case 6: sealed
        case 7: draw.one(of: Self.objects)
        case 8: nested
        default: .raw(draw.one(of: Self.numbers))
        }
    }

    /// A text at the limit of a name and over it, up to what makes an answer that repeats it large.
    var long: JSONTree {
        .text(String(repeating: draw.one(of: Self.pieces), count: draw.one(of: Self.counts)))
    }

    /// A token, a marker, a receipt or another of its kind: somebody else's, or one's own where it doesn't belong,
    /// as it is or changed.
    var sealed: JSONTree {
        let values = draw.once(in: 2) ? foreign.all : own.all
        guard !values.isEmpty else { return "none" }
        let value = draw.one(of: values)
        return .text(draw.once(in: 2) ? value : changed(value))
    }

    /// The text with one bit turned, cut, doubled or in other letters.
    func changed(_ text: String) -> String {
        var bytes = Array(text.utf8)
        guard !bytes.isEmpty else { return "x" }
        let place = draw.number(0..<bytes.count)
        switch draw.number(0..<6) {
        // The highest bit would make it no text at all.
        case 0...2: bytes[place] ^= 1 << UInt8(draw.number(0..<7))
        case 3: bytes.removeSubrange(place...)
        case 4: bytes += bytes
        default: return draw.once(in: 2) ? text.uppercased() : text + draw.one(of: [" ", "=", "\u{0}", "."])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private var nested: JSONTree {
        let depth = draw.one(of: [2, 10, 58, 62, 63, 64, 65, 66, 500])
        let (open, close) = draw.one(of: [("[", "]"), (#"{"a":"#, "}"), (#"{"value":"#, "}")])
        return .raw(
            String(repeating: open, count: depth)
                + draw.one(of: ["", "1", "null"].filter { open == "[" || $0 != "" })
                + String(repeating: close, count: depth))
    }

    /// Values of each kind, and what only looks like JSON.
    private static let raw = [
        "null", "true", "false", "[]", "{}", "[null]", "[[]]", "[{}]", #""""#, #""\u0000""#, #""\ud800""#,
        #""\udc00x""#,
        #""\ud83d\ude00""#, #""\ud800\ud800""#, "NaN", "Infinity", "undefined", "0x10", "'a'", "01", "+1",
        ".5", "1.",
        #""\x41""#, #""\u00""#, "[1,]", #"{"a":1,}"#, #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, "/**/1", "",
    ]

    private static let numbers = [
        "0", "-0", "-0.0", "-1", "1", "1.5", "0.1e1", "1e3", "9007199254740992", "9007199254740993",
        "-9007199254740993",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615", "1e308", "-1e308", "1.7976931348623157e308", "1e309", "-1e999", "5e-324",
        "1e-400",
        "2147483648", "4294967296", "253402300800000", String(repeating: "9", count: 400),
        String(repeating: "9", count: 401),
    ]

    private static let texts = [
        "", " ", "\u{0}", "a\u{0}b", "\u{1}", "\u{7F}", "\u{85}", "\n", "\u{FEFF}a", "\u{E9}", "e\u{301}",
        "\u{430}", "\u{FF41}",
        "\u{202E}a", "\u{1F469}\u{200D}\u{1F467}", "_", "__defaultOwner__", "_defaultZone", "_ada",
        "_mallory", "_eve",
        "todos", "other", "TODOS", "todos.", "todos/", "%74odos", "../todos", "Users", "___recordID",
        "___createdBy", "roles",
        "null", "true", "1", "-1", "1e308", "9223372036854775808", "a", "b", "recordName", "1.1", "AAAA",
        "AQI=", "AQI",
        "STRING", "INT64", "REFERENCE_LIST", "UNKNOWN_LIST", "MONEY", "DELETE_SELF", "forceDelete", "query",
        "zone",
        "'; DROP TABLE records; --", "%", "*", "\\", "\"", "<script>", "https://example.com/?t=1",
        "ada@example.com",
    ]

    private static let pieces = ["n", "\u{1}", "\u{E9}", "\u{1F600}", "a b ", "\""]
    private static let counts = [64, 65, 254, 255, 256, 257, 1_000, 4_096, 4_097, 20_000, 120_000]

    private static let objects: [JSONTree] = [
        ["zoneName": "todos"], ["zoneName": "todos", "ownerRecordName": "_ada"], ["zoneName": "_defaultZone"],
        ["zoneName": "todos", "ownerRecordName": "__defaultOwner__"], ["zoneName": 7], ["recordName": "a"],
        ["recordName": "a", "action": "DELETE_SELF"], ["recordName": "a", "action": "VALIDATE"],
        [
            "recordName": "a", "zoneID": ["zoneName": "todos", "ownerRecordName": "_ada"],
            "action": "VALIDATE",
        ],
        ["value": 1], ["value": .raw("null")], ["value": "x", "type": "INT64"],
        ["value": [], "type": "REFERENCE_LIST"],
        ["value": [1, "a"], "type": "STRING_LIST"],
        ["value": .raw("-9223372036854775808"), "type": "TIMESTAMP"],
        ["value": "AQI=", "isEncrypted": true],
        ["value": ["fileChecksum": "AAAA", "size": 3], "type": "ASSETID"],
        ["latitude": 91, "longitude": 181],
        ["latitude": .raw("1e308"), "longitude": .raw("-0.0"), "timestamp": -1],
        ["fieldName": "s", "comparator": "EQUALS", "fieldValue": ["value": "x"]],
        ["recordType": "todo", "recordName": "a", "fields": ["s": ["value": "x"]]],
    ]
}

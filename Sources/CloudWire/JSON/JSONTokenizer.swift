/// Checks a JSON text (RFC 8259, in UTF-8 without a byte order mark) in one pass, and writes the position of
/// each value to a tape.
struct JSONTokenizer {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private var position = 0
    private(set) var tape: [JSONToken] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
        tape.reserveCapacity(bytes.count / 12 + 16)
    }

    /// Reads the whole text. Throws if it isn't exactly one JSON value or exceeds a limit.
    mutating func readDocument() throws(JSONError) {
        let bytesMax = min(limits.bytesMax, Int(Int32.max))
        guard bytes.count <= bytesMax else {
            throw JSONError(
                .limitExceeded, "more than \(bytesMax) bytes of JSON", byteOffset: bytesMax)
        }
        skipWhitespace()
        try readValue(depth: 1)
        skipWhitespace()
        guard position == bytes.count else { throw malformed("something follows the JSON value") }
        tape[0].keepsUnknown = limits.keepsUnknown
    }

    private func malformed(_ reason: String, at offset: Int? = nil) -> JSONError {
        JSONError(.malformed, reason, byteOffset: offset ?? position)
    }

    /// The byte at the position, or 0 at the end. A 0 is never valid.
    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func readValue(depth: Int) throws(JSONError) {
        guard tape.count < limits.valuesMax else {
            throw JSONError(
                .limitExceeded, "more than \(limits.valuesMax) values in the JSON", byteOffset: position)
        }
        switch current {
        case UInt8(ascii: "\""): try readString()
        case UInt8(ascii: "{"): try readObject(depth: depth)
        case UInt8(ascii: "["): try readArray(depth: depth)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try readNumber()
        case UInt8(ascii: "t"): try readLiteral("true", .true)
        case UInt8(ascii: "f"): try readLiteral("false", .false)
        case UInt8(ascii: "n"): try readLiteral("null", .null)
        default:
            throw malformed(position == bytes.count ? "the JSON ends too early" : "no JSON value begins here")
        }
    }

    private mutating func append(_ kind: JSONToken.Kind, start: Int, byteCount: Int) {
        tape.append(
            JSONToken(
                kind: kind, start: UInt32(truncatingIfNeeded: start),
                byteCount: UInt32(truncatingIfNeeded: byteCount),
                next: UInt32(truncatingIfNeeded: tape.count + 1)))
    }

    private mutating func readLiteral(_ literal: StaticString, _ kind: JSONToken.Kind) throws(JSONError) {
        let count = literal.utf8CodeUnitCount
        guard position + count <= bytes.count else { throw malformed("the JSON ends too early") }
        for index in 0..<count where bytes[position + index] != literal.utf8Start[index] {
            throw malformed("no JSON value begins here")
        }
        append(kind, start: position, byteCount: count)
        position += count
    }
}

// MARK: - Containers

extension JSONTokenizer {
    private func checkDepth(_ depth: Int) throws(JSONError) {
        guard depth <= limits.depthMax else {
            throw JSONError(.limitExceeded, "JSON deeper than \(limits.depthMax)", byteOffset: position)
        }
    }

    private mutating func readArray(depth: Int) throws(JSONError) {
        try checkDepth(depth)
        let index = tape.count
        append(.array, start: position, byteCount: 0)
        position += 1
        skipWhitespace()
        var elementCount: UInt32 = 0
        if current == UInt8(ascii: "]") {
            position += 1
        } else {
            repeat {
                skipWhitespace()
                try readValue(depth: depth + 1)
                elementCount += 1
                skipWhitespace()
            } while try isFollowed(orEndedBy: UInt8(ascii: "]"))
        }
        tape[index].next = UInt32(truncatingIfNeeded: tape.count)
        tape[index].elementCount = elementCount
    }

    private mutating func readObject(depth: Int) throws(JSONError) {
        try checkDepth(depth)
        let index = tape.count
        append(.object, start: position, byteCount: 0)
        position += 1
        skipWhitespace()
        var elementCount: UInt32 = 0
        if current == UInt8(ascii: "}") {
            position += 1
        } else {
            repeat {
                skipWhitespace()
                guard current == UInt8(ascii: "\"") else {
                    throw malformed(elementCount > 0 ? "a key is missing after a comma" : "a key is missing")
                }
                try readString()
                skipWhitespace()
                guard current == UInt8(ascii: ":") else { throw malformed("a colon is missing") }
                position += 1
                skipWhitespace()
                try readValue(depth: depth + 1)
                elementCount += 1
                skipWhitespace()
            } while try isFollowed(orEndedBy: UInt8(ascii: "}"))
        }
        tape[index].next = UInt32(truncatingIfNeeded: tape.count)
        tape[index].elementCount = elementCount
        if elementCount > 1 { try refuseDuplicateKeys(ofObjectAt: index) }
    }

    private mutating func isFollowed(orEndedBy end: UInt8) throws(JSONError) -> Bool {
        let byte = current
        guard byte == UInt8(ascii: ",") || byte == end else {
            throw malformed(position == bytes.count ? "the JSON ends too early" : "a comma is missing")
        }
        position += 1
        return byte != end
    }
}

// MARK: - Duplicate keys

extension JSONTokenizer {
    /// Maximum number of keys that are compared in pairs, which is faster than a set of strings for few keys.
    private static let pairwiseKeysMax: UInt32 = 40

    private func refuseDuplicateKeys(ofObjectAt index: Int) throws(JSONError) {
        let end = Int(tape[index].next)
        var first = index + 1
        guard tape[index].elementCount <= Self.pairwiseKeysMax else {
            return try refuseDuplicateStrings(from: first, to: end)
        }
        while first < end {
            let key = tape[first]
            // Swift compares strings by canonical equivalence, so keys with other characters than plain ASCII
            // must be converted to strings.
            guard key.isASCII, !key.hasEscapes else {
                return try refuseDuplicateStrings(from: index + 1, to: end)
            }
            var second = Int(tape[first + 1].next)
            let nextKey = second
            while second < end {
                if isSame(key, tape[second]) { throw duplicate(tape[second]) }
                second = Int(tape[second + 1].next)
            }
            first = nextKey
        }
    }

    private func isSame(_ left: JSONToken, _ right: JSONToken) -> Bool {
        guard left.byteCount == right.byteCount else { return false }
        for offset in 0..<Int(left.byteCount)
        where bytes[Int(left.start) + offset] != bytes[Int(right.start) + offset] {
            return false
        }
        return true
    }

    private func refuseDuplicateStrings(from first: Int, to end: Int) throws(JSONError) {
        var seen = Set<String>()
        var key = first
        while key < end {
            guard seen.insert(JSONText.string(tape[key], in: bytes)).inserted else {
                throw duplicate(tape[key])
            }
            key = Int(tape[key + 1].next)
        }
    }

    private func duplicate(_ key: JSONToken) -> JSONError {
        let name = JSONText.string(key, in: bytes)
        return JSONError(
            .duplicateKey, "the key '\(name.prefix(100))' is duplicate", byteOffset: Int(key.start))
    }
}

// MARK: - Numbers and text

extension JSONTokenizer {
    private mutating func readNumber() throws(JSONError) {
        let start = position
        var kind = JSONToken.Kind.integer
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") { position += 1 } else { try readDigits() }
        if current == UInt8(ascii: ".") {
            kind = .number
            position += 1
            try readDigits()
        }
        if current | 0x20 == UInt8(ascii: "e") {
            kind = .number
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try readDigits()
        }
        guard position - start <= limits.numberBytesMax else {
            throw JSONError(
                .limitExceeded, "a number of more than \(limits.numberBytesMax) digits", byteOffset: start)
        }
        append(kind, start: start, byteCount: position - start)
    }

    private mutating func readDigits() throws(JSONError) {
        let start = position
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
        guard position > start else { throw malformed("a digit is missing") }
    }

    private mutating func readString() throws(JSONError) {
        let start = position + 1
        var token = JSONToken(
            kind: .string, start: UInt32(truncatingIfNeeded: start),
            next: UInt32(truncatingIfNeeded: tape.count + 1))
        position = start
        while true {
            position = JSONText.plainEnd(in: bytes, from: position, stopsAtNonASCII: true)
            guard position < bytes.count else { throw malformed("the text has no end", at: start - 1) }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                token.byteCount = UInt32(truncatingIfNeeded: position - start)
                tape.append(token)
                position += 1
                return
            case UInt8(ascii: "\\"):
                token.hasEscapes = true
                try skipEscape()
            case 0x80...:
                token.isASCII = false
                try skipMultibyteCharacter(byte)
            default:
                throw malformed("a control character in a text")
            }
        }
    }

    private mutating func skipEscape() throws(JSONError) {
        let start = position
        position += 1
        switch current {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            let unit = try readCodeUnit()
            guard unit & 0xFC00 != 0xDC00 else { throw malformed("half a surrogate pair", at: start) }
            guard unit & 0xFC00 == 0xD800 else { return }
            guard current == UInt8(ascii: "\\") else { throw malformed("half a surrogate pair", at: start) }
            position += 1
            guard current == UInt8(ascii: "u"), try readCodeUnit() & 0xFC00 == 0xDC00 else {
                throw malformed("half a surrogate pair", at: start)
            }
        default:
            throw malformed("an unknown escape", at: start)
        }
    }

    /// Reads the four digits after the `u` at the position.
    private mutating func readCodeUnit() throws(JSONError) -> UInt16 {
        position += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = JSONText.hexadecimalValue(current) else {
                throw malformed("four digits are missing")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private mutating func skipMultibyteCharacter(_ lead: UInt8) throws(JSONError) {
        // The second byte's range excludes overlong forms, surrogates, and values above U+10FFFF (RFC 3629).
        let continuationCount: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: continuationCount = 1
        case 0xE0...0xEF:
            continuationCount = 2
            if lead == 0xE0 { second = 0xA0...0xBF }
            if lead == 0xED { second = 0x80...0x9F }
        case 0xF0...0xF4:
            continuationCount = 3
            if lead == 0xF0 { second = 0x90...0xBF }
            if lead == 0xF4 { second = 0x80...0x8F }
        default: throw malformed("bytes that are not UTF-8")
        }
        guard position + continuationCount < bytes.count, second ~= bytes[position + 1] else {
            throw malformed("bytes that are not UTF-8")
        }
        for offset in 1...continuationCount where bytes[position + offset] & 0xC0 != 0x80 {
            throw malformed("bytes that are not UTF-8")
        }
        position += 1 + continuationCount
    }
}

import Foundation
import Yap

/// Why and where a text can't be parsed.
struct PlaceError: Error, Equatable {
    /// Number of the byte or character, from 1.
    let column: Int
    let text: String
}

/// Parses JSON (RFC 8259) into stored values: the inverse of `JSON.init(_: StoredValue)`.
///
/// A number with a point or an exponent is a `double`, any other one an integer.
struct StoredValueReader {
    /// Maximum nesting of arrays and objects. Each level of a stored value takes up to three.
    static let depthMax = 400

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Rejects text after the value.
    mutating func end() throws {
        skipSpaces()
        guard position == bytes.count else { throw error("there is more after the value") }
    }

    /// Reads an object. Calls `member` with each name, which then reads the value.
    mutating func object(_ member: (inout StoredValueReader, String) throws -> Void) throws {
        try expect("{", "an object")
        if accept("}") { return }
        repeat {
            skipSpaces()
            let name = try string()
            try expect(":", "a colon after the name")
            try member(&self, name)
        } while accept(",")
        try expect("}", "a comma, or the object's end")
    }

    /// Reads a text.
    mutating func string() throws -> String {
        skipSpaces()
        guard peek == UInt8(ascii: "\"") else { throw error("a text in double quotes is expected") }
        let start = position
        position += 1
        var text: [UInt8] = []
        while true {
            guard let byte = peek else { throw PlaceError(column: start + 1, text: "the text has no end") }
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: text, as: UTF8.self) else {
                    throw PlaceError(column: start + 1, text: "the text isn't UTF-8")
                }
                return text
            case UInt8(ascii: "\\"): try escape(into: &text)
            case ..<0x20: throw error("a control character must be escaped", at: position - 1)
            default: text.append(byte)
            }
        }
    }

    /// Reads a whole number.
    mutating func integer(in range: ClosedRange<Int>) throws -> Int {
        skipSpaces()
        let start = position
        guard case .integer(let number) = try number(), let value = Int(exactly: number),
            range.contains(value)
        else {
            throw error(
                "a whole number from \(range.lowerBound) to \(range.upperBound) is expected", at: start)
        }
        return value
    }

    /// Reads a base64 text.
    mutating func base64() throws -> [UInt8] {
        skipSpaces()
        let start = position
        guard let data = Data(base64Encoded: try string()) else {
            throw error("this is not base64", at: start)
        }
        return [UInt8](data)
    }

    /// Reads a value.
    ///
    /// - Parameter allowsForeign: Whether it may be the bytes of a custom serializer.
    mutating func value(allowsForeign: Bool = false) throws -> StoredValue {
        try value(depth: 0, allowsForeign: allowsForeign)
    }

    private mutating func value(depth: Int, allowsForeign: Bool = false) throws -> StoredValue {
        skipSpaces()
        guard depth < Self.depthMax else { throw error("more than \(Self.depthMax) levels") }
        switch peek {
        case UInt8(ascii: "{"): return try map(depth, allowsForeign)
        case UInt8(ascii: "["): return .array(try array(depth))
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return try number()
        default: throw error("a value is expected")
        }
    }

    private mutating func array(_ depth: Int) throws -> [StoredValue] {
        try expect("[", "an array")
        var values: [StoredValue] = []
        if accept("]") { return values }
        repeat { values.append(try value(depth: depth + 1)) } while accept(",")
        try expect("]", "a comma, or the array's end")
        return values
    }

    private mutating func map(_ depth: Int, _ allowsForeign: Bool) throws -> StoredValue {
        let start = position
        var entries: [StoredValue.Entry] = []
        var names: Set<[UInt8]> = []
        try object { reader, name in
            let place = reader.position
            guard names.insert(Array(name.utf8)).inserted else {
                throw reader.error("the name \(Shown.word(name)) occurs twice in an object", at: place)
            }
            entries.append(
                StoredValue.Entry(key: .text(name), value: try reader.value(depth: depth + 1)))
        }
        guard entries.count == 1, case .text(let name) = entries[0].key, name.utf8.first == UInt8(ascii: "$")
        else { return .map(entries) }
        guard let value = Self.tagged(name, entries[0].value, allowsForeign: allowsForeign) else {
            throw error("this is not a value that \(Shown.word(name)) can have here", at: start)
        }
        return value
    }

    private static func tagged(_ tag: String, _ value: StoredValue, allowsForeign: Bool) -> StoredValue? {
        switch (tag, value) {
        case ("$bytes", .text(let text)): Data(base64Encoded: text).map { .bytes([UInt8]($0)) }
        case ("$foreign", .text(let text)) where allowsForeign:
            Data(base64Encoded: text).map { .foreign([UInt8]($0)) }
        case ("$double", .text(let text)): notFinite(text).map { .double($0) }
        case ("$float", .text(let text)): notFinite(text).map { .float(Float($0)) }
        case ("$float", .double(let number)): finite(Float(number))
        case ("$float", .integer(let number)): finite(Float(number))
        case ("$map", .array(let pairs)): map(pairs)
        default: nil
        }
    }

    private static func finite(_ value: Float) -> StoredValue? { value.isFinite ? .float(value) : nil }

    private static func notFinite(_ text: String) -> Double? {
        ["nan": Double.nan, "inf": .infinity, "-inf": -.infinity][text]
    }

    private static func map(_ pairs: [StoredValue]) -> StoredValue? {
        var entries: [StoredValue.Entry] = []
        for pair in pairs {
            guard case .array(let parts) = pair, parts.count == 2 else { return nil }
            entries.append(StoredValue.Entry(key: parts[0], value: parts[1]))
        }
        return .map(entries)
    }

    // MARK: Characters

    private mutating func number() throws -> StoredValue {
        let start = position
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }
        func digits(_ reader: inout StoredValueReader) throws {
            guard isDigit(reader.peek) else { throw reader.error("a digit is expected") }
            while isDigit(reader.peek) { reader.position += 1 }
        }
        if peek == UInt8(ascii: "-") { position += 1 }
        let startsWithZero = peek == UInt8(ascii: "0")
        let first = position
        try digits(&self)
        if startsWithZero, position > first + 1 { throw error("a number begins with 0", at: start) }
        var isWhole = true
        if peek == UInt8(ascii: ".") {
            (isWhole, position) = (false, position + 1)
            try digits(&self)
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            (isWhole, position) = (false, position + 1)
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
            try digits(&self)
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole {
            if let value = Int64(text) { return .integer(value) }
            if let value = UInt64(text) { return .unsigned(value) }
        } else if let value = Double(text), value.isFinite {
            return .double(value)
        }
        throw error("the number is too large", at: start)
    }

    private mutating func escape(into text: inout [UInt8]) throws {
        let place = position - 1
        guard let byte = peek else { throw error("the text has no end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal(place)
            if (0xD800...0xDBFF).contains(code), peek == UInt8(ascii: "\\"), position + 1 < bytes.count,
                bytes[position + 1] == UInt8(ascii: "u")
            {
                position += 2
                let low = try hexadecimal(place)
                guard (0xDC00...0xDFFF).contains(low) else { throw error("half a character", at: place) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw error("half a character", at: place) }
            text.append(contentsOf: Array(String(Character(scalar)).utf8))
        default: throw error("unknown escape", at: place)
        }
    }

    private mutating func hexadecimal(_ place: Int) throws -> UInt32 {
        guard position + 4 <= bytes.count else {
            throw error("four hexadecimal digits are expected", at: place)
        }
        var code: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("four hexadecimal digits are expected", at: place)
            }
            code = code << 4 | UInt32(digit)
        }
        position += 4
        return code
    }

    private mutating func word(_ word: String, _ value: StoredValue) throws -> StoredValue {
        guard bytes[position...].starts(with: word.utf8) else { throw error("a value is expected") }
        position += word.utf8.count
        return value
    }

    private mutating func accept(_ character: Unicode.Scalar) -> Bool {
        skipSpaces()
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar, _ what: String) throws {
        guard accept(character) else { throw error("\(what) is expected") }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpaces() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private func error(_ text: String, at place: Int? = nil) -> PlaceError {
        PlaceError(column: (place ?? position) + 1, text: text)
    }
}

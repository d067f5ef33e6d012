internal import System

/// Writes JSON directly into a buffer of bytes. Members with a nil value are omitted.
///
/// Not copyable, and passed `inout`: as a class it was almost five times slower in a measurement.
struct JSONWriter: ~Copyable {
    /// True if the keys are written that only our own clients understand.
    let includesExtras: Bool
    /// True if numbers in fields are written as text.
    var numbersAsStrings: Bool
    /// Converts files. Nil writes them unchanged.
    let assetForm: AssetForm?
    /// The zone of the record that is being written.
    var zoneOfRecord: ZoneID?

    /// Maximum number of bytes. After more bytes the writer continues but discards everything, and `finish`
    /// throws.
    private let bytesMax: Int
    private var buffer: UnsafeMutablePointer<UInt8>
    private var count = 0
    private var capacity: Int
    private var needsComma = false
    private var error: JSONError?

    init(
        includesExtras: Bool, numbersAsStrings: Bool = false, assetForm: AssetForm? = nil,
        bytesMax: Int = .max
    ) {
        self.assetForm = assetForm
        self.bytesMax = bytesMax
        self.includesExtras = includesExtras
        self.numbersAsStrings = numbersAsStrings
        capacity = 4096
        buffer = .allocate(capacity: capacity)
    }

    deinit { buffer.deallocate() }

    /// Returns the written bytes. Throws if a number can't be represented in JSON, or if there were too many
    /// bytes.
    consuming func finish() throws(JSONError) -> [UInt8] {
        if count > bytesMax { overflow() }
        if let error { throw error }
        return Array(UnsafeBufferPointer(start: buffer, count: count))
    }

    // MARK: Structure

    mutating func object(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
    }

    mutating func array<Element>(_ elements: [Element], _ body: (inout JSONWriter, Element) -> Void) {
        open(UInt8(ascii: "["))
        for element in elements { body(&self, element) }
        close(UInt8(ascii: "]"))
    }

    mutating func open(_ bracket: UInt8) {
        beginValue()
        append(bracket)
        needsComma = false
    }

    mutating func close(_ bracket: UInt8) {
        append(bracket)
        needsComma = true
    }

    /// Makes `finish` throw.
    mutating func fail(_ error: JSONError) {
        self.error = self.error ?? error
    }

    mutating func key(_ name: StaticString) {
        beginValue()
        reserve(name.utf8CodeUnitCount + 3)
        buffer[count] = UInt8(ascii: "\"")
        (buffer + count + 1).update(from: name.utf8Start, count: name.utf8CodeUnitCount)
        count += name.utf8CodeUnitCount + 3
        buffer[count - 2] = UInt8(ascii: "\"")
        buffer[count - 1] = UInt8(ascii: ":")
        needsComma = false
    }

    mutating func key(_ name: String) {
        value(name)
        endKey()
    }

    // MARK: Values

    mutating func null() { literal("null") }

    mutating func value(_ value: Bool) { literal(value ? "true" : "false") }

    mutating func value(_ value: Int64) {
        beginValue()
        appendDigits(value)
    }

    mutating func value(_ value: Double) {
        guard value.isFinite else {
            fail(JSONError(.notRepresentable, "JSON has no number \(value)"))
            return null()
        }
        beginValue()
        appendText(value.description)
    }

    mutating func value(_ value: String) {
        beginValue()
        append(UInt8(ascii: "\""))
        appendEscaped(value)
        append(UInt8(ascii: "\""))
    }

    /// Writes text that is valid UTF-8. Returns false and writes nothing for other bytes.
    mutating func value(utf8: ArraySlice<UInt8>) -> Bool {
        let (before, neededComma) = (count, needsComma)
        beginValue()
        append(UInt8(ascii: "\""))
        guard !utf8.withUnsafeBufferPointer({ appendEscapedASCII($0) }) else {
            append(UInt8(ascii: "\""))
            return true
        }
        (count, needsComma) = (before, neededComma)
        guard let text = String(validating: utf8, as: UTF8.self) else { return false }
        value(text)
        return true
    }

    /// Continues after a key that was written as a value.
    mutating func endKey() {
        append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes bytes as base64 text.
    mutating func base64(_ bytes: some Collection<UInt8>) {
        beginValue()
        let length = Base64.encodedCount(bytes.count)
        reserve(length + 2)
        buffer[count] = UInt8(ascii: "\"")
        let output = UnsafeMutableBufferPointer(start: buffer + count + 1, count: length)
        _ =
            bytes.withContiguousStorageIfAvailable { Base64.encode($0, into: output) }
            ?? Array(bytes).withUnsafeBufferPointer { Base64.encode($0, into: output) }
        buffer[count + 1 + length] = UInt8(ascii: "\"")
        count += length + 2
    }

    /// Writes a number of a field, as text if the client requested that.
    mutating func fieldNumber(_ number: Int64) {
        guard numbersAsStrings else { return value(number) }
        value(String(number))
    }

    /// Writes a number of a field, as text if the client requested that.
    mutating func fieldNumber(_ number: Double) {
        guard numbersAsStrings, number.isFinite else { return value(number) }
        value(number.description)
    }

    // MARK: Bytes

    private mutating func beginValue() {
        if needsComma { append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func literal(_ text: StaticString) {
        beginValue()
        reserve(text.utf8CodeUnitCount)
        (buffer + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        count += text.utf8CodeUnitCount
    }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        if count > bytesMax {
            overflow()
            guard more > capacity else { return }
        }
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: buffer, count: count)
        buffer.deallocate()
        buffer = larger
    }

    /// Records the error, and discards the written bytes to reuse their memory.
    private mutating func overflow() {
        fail(JSONError(.limitExceeded, "the JSON has more than \(bytesMax) bytes"))
        count = 0
    }

    private mutating func append(_ byte: UInt8) {
        reserve(1)
        buffer[count] = byte
        count += 1
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        reserve(bytes.count)
        (buffer + count).update(from: base, count: bytes.count)
        count += bytes.count
    }

    private mutating func appendText(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    private mutating func appendDigits(_ value: Int64) {
        reserve(20)
        var rest = value.magnitude
        var digits = 1
        var limit: UInt64 = 10
        while rest >= limit {
            digits += 1
            guard digits < 19 else { break }
            limit *= 10
        }
        if value < 0 { append(UInt8(ascii: "-")) }
        for position in stride(from: count + digits - 1, through: count, by: -1) {
            buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    private mutating func appendEscaped(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            var plainStart = 0
            while plainStart < utf8.count {
                let position = JSONText.plainEnd(in: utf8, from: plainStart)
                append(UnsafeBufferPointer(rebasing: utf8[plainStart..<position]))
                if position < utf8.count { appendEscape(of: utf8[position]) }
                plainStart = position + 1
            }
        }
    }

    /// Writes the text. Returns false if it contains a character that isn't ASCII; a part of the text is then
    /// already written.
    private mutating func appendEscapedASCII(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        reserve(utf8.count + 2)
        var plainStart = 0
        while plainStart < utf8.count {
            let position = JSONText.plainEnd(in: utf8, from: plainStart, stopsAtNonASCII: true)
            append(UnsafeBufferPointer(rebasing: utf8[plainStart..<position]))
            if position < utf8.count {
                guard utf8[position] < 0x80 else { return false }
                appendEscape(of: utf8[position])
            }
            plainStart = position + 1
        }
        return true
    }

    private mutating func appendEscape(of byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x22, 0x5C: append(byte)
        default:
            appendText("u00")
            let digits: StaticString = "0123456789abcdef"
            append(digits.utf8Start[Int(byte >> 4)])
            append(digits.utf8Start[Int(byte & 15)])
        }
    }
}

// MARK: - Members

extension JSONWriter {
    mutating func member<Value: JSONCodable>(_ key: StaticString, _ value: Value?) {
        guard let value else { return }
        self.key(key)
        value.write(to: &self)
    }

    /// Writes the unknown members, sorted.
    mutating func members(_ unknown: [String: JSONValue]) {
        guard !unknown.isEmpty else { return }
        for (name, value) in unknown.sorted(by: { $0.key < $1.key }) {
            key(name)
            self.value(value)
        }
    }

    mutating func value(_ tree: JSONValue) {
        switch tree {
        case .null: null()
        case .bool(let bool): value(bool)
        case .integer(let integer): value(integer)
        case .double(let double): value(double)
        case .string(let string): value(string)
        case .array(let elements): array(elements) { writer, element in writer.value(element) }
        case .object(let members): object { $0.members(members) }
        }
    }
}

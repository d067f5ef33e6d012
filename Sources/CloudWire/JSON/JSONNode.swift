internal import System

/// A value in a JSON text that is being read: three words that refer to the text and its tape.
struct JSONNode {
    fileprivate let bytes: UnsafeBufferPointer<UInt8>
    fileprivate let tape: UnsafeBufferPointer<JSONToken>
    fileprivate let index: Int

    init(bytes: UnsafeBufferPointer<UInt8>, tape: UnsafeBufferPointer<JSONToken>, index: Int) {
        self.bytes = bytes
        self.tape = tape
        self.index = index
    }

    fileprivate var token: JSONToken { tape[index] }

    var kind: JSONToken.Kind { token.kind }
    /// True if the reader keeps unknown members.
    var keepsUnknown: Bool { tape[0].keepsUnknown }
    var isNull: Bool { token.kind == .null }

    /// Number of elements of an array or members of an object.
    var elementCount: Int { Int(token.elementCount) }

    private var raw: UnsafeBufferPointer<UInt8> {
        let token = token
        return UnsafeBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.start + token.byteCount)])
    }

    private func expected(_ what: String) -> JSONError { unexpected("expected \(what)") }

    func string() throws(JSONError) -> String {
        guard kind == .string else { throw expected("a text") }
        return JSONText.string(token, in: bytes)
    }

    /// The text for a `switch`, which compares it with literals without making a string. Nil for other
    /// values.
    var text: Key? { kind == .string ? Key(node: self) : nil }

    func bool() throws(JSONError) -> Bool {
        switch kind {
        case .true: true
        case .false: false
        default: throw expected("true or false")
        }
    }

    /// Returns a whole number. Accepts `1.0` and `1e3`, because JSON doesn't distinguish them from integers.
    func int64() throws(JSONError) -> Int64 {
        switch kind {
        case .integer:
            guard let value = Self.parseInteger(raw) else { throw expected("a whole number of 64 bits") }
            return value
        case .number:
            guard let value = Int64(exactly: try double()) else {
                throw expected("a whole number of 64 bits")
            }
            return value
        default: throw expected("a whole number")
        }
    }

    func double() throws(JSONError) -> Double {
        guard kind == .integer || kind == .number else { throw expected("a number") }
        guard let value = Double(String(decoding: raw, as: UTF8.self)), value.isFinite else {
            throw expected("a number of 64 bits")
        }
        return value
    }

    func base64() throws(JSONError) -> [UInt8] {
        guard kind == .string else { throw expected("base64 text") }
        let decoded =
            token.hasEscapes
            ? JSONText.unescaped(raw).withUnsafeBufferPointer { Base64.decoded($0) } : Base64.decoded(raw)
        guard let decoded else { throw expected("base64 text") }
        return decoded
    }

    private static func parseInteger(_ digits: UnsafeBufferPointer<UInt8>) -> Int64? {
        let isNegative = digits.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for digit in digits.dropFirst(isNegative ? 1 : 0) {
            let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
            let next = Int64(digit &- UInt8(ascii: "0"))
            // Subtracts for negative numbers, because the minimum has no positive counterpart.
            let (sum, sumOverflow) =
                isNegative
                ? shifted.subtractingReportingOverflow(next) : shifted.addingReportingOverflow(next)
            guard !overflow, !sumOverflow else { return nil }
            value = sum
        }
        return value
    }
}

// MARK: - Containers

extension JSONNode {
    struct Member {
        let key: Key
        let value: JSONNode
    }

    /// The members of an object, in the order of the text.
    struct Members: Sequence, IteratorProtocol {
        fileprivate var node: JSONNode
        fileprivate let end: Int

        mutating func next() -> Member? {
            guard node.index < end else { return nil }
            let value = JSONNode(bytes: node.bytes, tape: node.tape, index: node.index + 1)
            defer { node = JSONNode(bytes: node.bytes, tape: node.tape, index: Int(value.token.next)) }
            return Member(key: Key(node: node), value: value)
        }
    }

    /// A key or a text. A `switch` compares it with literals without making a string.
    struct Key {
        fileprivate let node: JSONNode

        var string: String { JSONText.string(node.token, in: node.bytes) }

        static func ~= (name: StaticString, key: Key) -> Bool {
            let token = key.node.token
            guard !token.hasEscapes else { return name.description == key.string }
            guard token.byteCount == name.utf8CodeUnitCount else { return false }
            let start = Int(token.start)
            for offset in 0..<Int(token.byteCount)
            where key.node.bytes[start + offset] != name.utf8Start[offset] {
                return false
            }
            return true
        }
    }

    func members() throws(JSONError) -> Members {
        guard kind == .object else { throw expected("an object") }
        return Members(node: JSONNode(bytes: bytes, tape: tape, index: index + 1), end: Int(token.next))
    }

    /// The member of an object with that key, or nil if there is none or this isn't an object.
    subscript(name: StaticString) -> JSONNode? {
        guard kind == .object, let members = try? members() else { return nil }
        for member in members where name ~= member.key { return member.value }
        return nil
    }

    /// Returns the results of `read` for each element of an array.
    func array<Element>(_ read: (JSONNode) throws(JSONError) -> Element) throws(JSONError) -> [Element] {
        guard kind == .array else { throw expected("an array") }
        var elements: [Element] = []
        elements.reserveCapacity(elementCount)
        var next = index + 1
        while next < Int(token.next) {
            let node = JSONNode(bytes: bytes, tape: tape, index: next)
            elements.append(try read(node))
            next = Int(node.token.next)
        }
        return elements
    }

    func array<Element: JSONCodable>(of type: Element.Type) throws(JSONError) -> [Element] {
        try array { node throws(JSONError) in try Element(reading: node) }
    }

    func strings() throws(JSONError) -> [String] {
        try array { node throws(JSONError) in try node.string() }
    }

    /// Returns a case of an enumeration from its text. Errors name the enumeration `what`.
    func choice<Choice: RawRepresentable<String>>(_ what: String) throws(JSONError) -> Choice {
        let text = try string()
        guard let choice = Choice(rawValue: text) else {
            throw unexpected("unknown \(what) '\(text.prefix(100))'")
        }
        return choice
    }

    /// Returns the value. Throws if it is nil: `key` of this object is required.
    func required<Value>(_ value: Value?, _ key: String) throws(JSONError) -> Value {
        guard let value else { throw missing(key) }
        return value
    }

    /// Returns the error of an object without a required key.
    func missing(_ key: String) -> JSONError { unexpected("the key '\(key)' is missing") }

    func tree() throws(JSONError) -> JSONValue {
        switch kind {
        case .null: return .null
        case .true: return .bool(true)
        case .false: return .bool(false)
        case .string: return .string(try string())
        case .number: return .double(try double())
        case .integer:
            if let value = Self.parseInteger(raw) { return .integer(value) }
            return .double(try double())
        case .array: return .array(try array { node throws(JSONError) in try node.tree() })
        case .object:
            var members: [String: JSONValue] = [:]
            for member in try self.members() { members[member.key.string] = try member.value.tree() }
            return .object(members)
        }
    }
}

extension [String: JSONValue] {
    /// Stores an unknown member if the reader keeps those. A null is always stored: it can be the null of a
    /// known key, which clears the value.
    mutating func keep(_ member: JSONNode.Member) throws(JSONError) {
        guard member.value.keepsUnknown || member.value.isNull else { return }
        self[member.key.string] = try member.value.tree()
    }
}

// MARK: - Errors

extension JSONNode {
    /// Returns an error with the path of this value.
    func unexpected(_ reason: String) -> JSONError {
        let path = path
        return JSONError(
            .unexpected, path.isEmpty ? reason : "\(path): \(reason)", byteOffset: Int(token.start))
    }

    /// The path of the value, for example `operations[2].record.fields.title`. Computed from the tape,
    /// because only errors need it.
    private var path: String {
        var path = ""
        var parent = 0
        while parent < index {
            var child = parent + 1
            var position = 0
            let isObject = tape[parent].kind == .object
            while true {
                let valueIndex = isObject ? child + 1 : child
                if index < Int(tape[valueIndex].next) {
                    let key = isObject ? JSONText.string(tape[child], in: bytes) : "[\(position)]"
                    path += isObject && !path.isEmpty ? "." + key : key
                    parent = valueIndex
                    break
                }
                child = Int(tape[valueIndex].next)
                position += 1
            }
        }
        return path
    }
}

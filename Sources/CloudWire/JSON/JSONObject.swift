/// A value that is a JSON object. `visit` names each member once, for the reader and for the writer.
protocol JSONObject: JSONCodable {
    /// The value that reading starts from. Members that are read replace its properties.
    static var blank: Self { get }
    /// Unknown keys, kept as received.
    var unknown: [String: JSONValue] { get set }
    /// Passes each member to `members`, in the order in which they are written.
    mutating func visit(_ members: inout some JSONMembers & ~Copyable)
}

extension JSONObject {
    init(reading node: JSONNode) throws(JSONError) { try self.init(membersOf: node) }

    func write(to writer: inout JSONWriter) { writeMembers(to: &writer) }

    /// Reads the object.
    init(membersOf node: JSONNode) throws(JSONError) {
        self = .blank
        var reader = JSONMemberReader()
        for member in try node.members() {
            reader.begin(member)
            visit(&reader)
            if try !reader.hasRead() { try unknown.keep(member) }
        }
        reader.begin(nil)
        visit(&reader)
        if let key = reader.missingKey { throw node.missing("\(key)") }
    }

    /// Writes the object, with the unknown keys at its end.
    func writeMembers(to writer: inout JSONWriter) {
        var value = self
        writer.object { writer in
            value.visit(&writer)
            writer.members(value.unknown)
        }
    }
}

/// Whether a member may be missing or null.
enum JSONPresence {
    /// An object without the member is an error.
    case required
    /// The member may be missing. A null is an error.
    case notNull
    /// The member may be missing or null. A null is kept as an unknown key.
    case optional
}

/// Reads or writes the members of an object.
protocol JSONMembers: ~Copyable {
    /// True if the keys are included that only our own clients understand.
    var includesExtras: Bool { get }
    /// Handles one member: calls `read` if the JSON that is read has its key, or `write`, which writes key and value.
    ///
    /// - Parameter kind: the only kind that is read, or nil to read all. Other values are kept as an unknown key.
    mutating func member(
        _ key: StaticString, _ presence: JSONPresence, ofKind kind: JSONToken.Kind?,
        read: (JSONNode) throws(JSONError) -> Void, write: (inout JSONWriter) -> Void)
}

extension JSONMembers where Self: ~Copyable {
    mutating func member(
        _ key: StaticString, _ presence: JSONPresence, read: (JSONNode) throws(JSONError) -> Void,
        write: (inout JSONWriter) -> Void
    ) {
        member(key, presence, ofKind: nil, read: read, write: write)
    }

    mutating func required<Value: JSONCodable>(_ key: StaticString, _ value: inout Value) {
        member(key, .required) { node throws(JSONError) in
            value = try Value(reading: node)
        } write: {
            $0.member(key, value)
        }
    }

    mutating func notNull<Value: JSONCodable>(_ key: StaticString, _ value: inout Value) {
        member(key, .notNull) { node throws(JSONError) in
            value = try Value(reading: node)
        } write: {
            $0.member(key, value)
        }
    }

    mutating func optional<Value: JSONCodable>(_ key: StaticString, _ value: inout Value?) {
        optional(key, ofKind: nil, &value)
    }

    /// Handles a member that is read only if its value is of `kind`. Another value is kept as an unknown key.
    mutating func optional<Value: JSONCodable>(
        _ key: StaticString, ofKind kind: JSONToken.Kind?, _ value: inout Value?
    ) {
        member(key, .optional, ofKind: kind) { node throws(JSONError) in
            value = try Value(reading: node)
        } write: {
            $0.member(key, value)
        }
    }

    /// Handles a member that is always written. If it is missing, the property keeps its value.
    mutating func optional<Value: JSONCodable>(_ key: StaticString, orDefault value: inout Value) {
        member(key, .optional) { node throws(JSONError) in
            value = try Value(reading: node)
        } write: {
            $0.member(key, value)
        }
    }

    /// Handles a text that is a case of an enumeration. Errors name the enumeration by the key.
    mutating func required<Choice: RawRepresentable<String>>(_ key: StaticString, choice: inout Choice) {
        member(key, .required) { node throws(JSONError) in
            choice = try node.choice("\(key)")
        } write: {
            $0.member(key, choice.rawValue)
        }
    }

    /// Handles a text that is a case of an enumeration.
    ///
    /// - Parameter name: Name of the enumeration in errors.
    mutating func optional<Choice: RawRepresentable<String>>(
        _ key: StaticString, choice: inout Choice?, named name: String = ""
    ) {
        member(key, .optional) { node throws(JSONError) in
            choice = try node.choice(name)
        } write: {
            $0.member(key, choice?.rawValue)
        }
    }

    /// Handles bytes as base64 text.
    mutating func optional(_ key: StaticString, base64 bytes: inout [UInt8]?) {
        member(key, .optional) { node throws(JSONError) in
            bytes = try node.base64()
        } write: { writer in
            guard let bytes else { return }
            writer.key(key)
            writer.base64(bytes)
        }
    }
}

extension JSONWriter: JSONMembers {
    mutating func member(
        _ key: StaticString, _ presence: JSONPresence, ofKind kind: JSONToken.Kind?,
        read: (JSONNode) throws(JSONError) -> Void, write: (inout JSONWriter) -> Void
    ) { write(&self) }
}

/// Reads an object member by member: `visit` is called for each, and the property with its key reads it.
struct JSONMemberReader: JSONMembers {
    private var member: JSONNode.Member?
    private var isRead = false
    private var error: JSONError?
    /// A bit for each required member that was read, in the order of `visit`.
    private var requiredRead: UInt64 = 0
    private var nextBit: UInt64 = 1
    /// The first required key that the object doesn't have. Known after a visit without a member.
    private(set) var missingKey: StaticString?

    var includesExtras: Bool { true }

    /// Begins a visit for `member`, or for nil after the last one.
    mutating func begin(_ member: JSONNode.Member?) {
        self.member = member
        isRead = false
        nextBit = 1
    }

    /// Returns true if a property has read the member. Throws the error of the property.
    func hasRead() throws(JSONError) -> Bool {
        if let error { throw error }
        return isRead
    }

    mutating func member(
        _ key: StaticString, _ presence: JSONPresence, ofKind kind: JSONToken.Kind?,
        read: (JSONNode) throws(JSONError) -> Void, write: (inout JSONWriter) -> Void
    ) {
        let bit = presence == .required ? nextBit : 0
        if presence == .required { nextBit <<= 1 }
        guard let member else {
            if presence == .required, requiredRead & bit == 0, missingKey == nil { missingKey = key }
            return
        }
        guard !isRead, presence != .optional || !member.value.isNull, key ~= member.key,
            kind == nil || kind == member.value.kind
        else { return }
        isRead = true
        requiredRead |= bit
        do throws(JSONError) {
            try read(member.value)
        } catch {
            self.error = error
        }
    }
}

// MARK: - Values

extension String: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) { self = try node.string() }
    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Bool: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) { self = try node.bool() }
    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Int64: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) { self = try node.int64() }
    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Double: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) { self = try node.double() }
    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Array: JSONCodable where Element: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) { self = try node.array(of: Element.self) }

    func write(to writer: inout JSONWriter) {
        writer.array(self) { writer, element in element.write(to: &writer) }
    }
}

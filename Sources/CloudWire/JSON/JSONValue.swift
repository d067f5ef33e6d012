/// A small JSON tree for unknown keys of a message.
package enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction or exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    /// Text.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object([String: JSONValue])
}

extension JSONValue: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self = try node.tree()
    }

    func write(to writer: inout JSONWriter) { writer.value(self) }
}

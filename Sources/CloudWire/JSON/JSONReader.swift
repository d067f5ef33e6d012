/// How large a JSON text may be.
package struct JSONLimits: Sendable {
    /// Bytes of the whole text; never more than 2 GB, which is what the tape can point at.
    package var bytesMax = 64 << 20
    /// Values in the whole text. The tape takes 20 bytes for each, so small values can't fill the memory.
    package var valuesMax = 4 << 20
    /// Arrays and objects inside each other.
    package var depthMax = 64
    /// Bytes of one number.
    package var numberBytesMax = 400

    /// True if members that a message doesn't know are kept. Kept, they take a dozen times the memory of their text.
    package var keepsUnknown = true

    /// Makes the default limits.
    package init() {}
}

/// Reads JSON: checks all of it in one pass onto a tape, then hands out its values without a tree in between.
enum JSONReader {
    /// Checks `bytes` and calls `body` with the outermost value, which is valid only until `body` returns.
    ///
    /// Throws a `JSONError` when the bytes are not JSON or go beyond a limit, and what `body` throws.
    static func read<Value>(
        _ bytes: [UInt8], limits: JSONLimits = JSONLimits(), _ body: (JSONNode) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in
            var tokenizer = JSONTokenizer(buffer, limits: limits)
            try tokenizer.readDocument()
            return try tokenizer.tape.withUnsafeBufferPointer { tape throws(JSONError) in
                try body(JSONNode(bytes: buffer, tape: tape, index: 0))
            }
        }
    }
}

/// A value with a JSON form.
protocol JSONCodable {
    /// Reads a value; throws when the JSON has another shape.
    init(reading node: JSONNode) throws(JSONError)
    /// Writes the value.
    func write(to writer: inout JSONWriter)
}

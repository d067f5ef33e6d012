/// Limits on a JSON text.
package struct JSONLimits: Sendable {
    /// Maximum bytes of the whole text, up to 2 GB, the limit of the tape's offsets.
    package var bytesMax = 64 << 20
    /// Maximum number of values in the whole text. The tape uses 20 bytes for each, so the limit also bounds
    /// the memory for many small values.
    package var valuesMax = 4 << 20
    /// Maximum nesting depth of arrays and objects.
    package var depthMax = 64
    /// Maximum bytes of one number.
    package var numberBytesMax = 400

    /// True to keep members that a message doesn't know. They use about twelve times the memory of their
    /// text.
    package var keepsUnknown = true

    /// Makes the default limits.
    package init() {}
}

/// Reads JSON: checks the whole text in one pass and writes a tape, then returns values without building a
/// tree.
enum JSONReader {
    /// Checks `bytes` and calls `body` with the outermost value, which is valid only until `body` returns.
    ///
    /// Throws a `JSONError` if the bytes aren't JSON or exceed a limit. Rethrows errors of `body`.
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
    /// Reads a value. Throws if the JSON has another structure.
    init(reading node: JSONNode) throws(JSONError)
    /// Writes the value.
    func write(to writer: inout JSONWriter)
}

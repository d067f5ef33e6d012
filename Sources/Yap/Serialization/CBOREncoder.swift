/// Encodes `Encodable` values as CBOR (RFC 8949).
///
/// Equal values have equal bytes: lengths are definite, heads are the shortest possible, a model's keys are in the
/// order in which it encodes them, and sets and dictionaries are sorted. A property that is nil is omitted.
public struct CBOREncoder: Sendable {
    /// Creates an encoder. It has no settings and can be used from any thread.
    public init() {}

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError.invalidValue` for values that can't be encoded (a key written twice, more than 128
    ///   levels, more than 256 MiB), and any error of the value's `encode(to:)`.
    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        let output = CBOROutput(capacity: 512)
        let root = CBORValueEncoder(output: output, parent: nil, key: nil)
        if root.writeOwnForm(value) {
            try root.checkSize()
        } else {
            try root.fill(with: value)
        }
        return [UInt8](output.bytes)
    }
}

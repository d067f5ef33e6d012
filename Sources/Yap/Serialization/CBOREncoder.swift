/// Turns `Encodable` values into CBOR (RFC 8949).
///
/// Equal values have equal bytes: lengths are definite, heads the shortest, a model's keys are in the order in
/// which it encodes them, and sets and dictionaries are sorted. A field that is nil is left out.
public struct CBOREncoder: Sendable {
    /// Makes an encoder. It has no settings and can be used from any thread.
    public init() {}

    /// The bytes of `value`.
    ///
    /// - Throws: `EncodingError.invalidValue` for what has no form (a key written twice, more than 128 levels,
    ///   more than 256 MiB), and whatever the value's own `encode(to:)` throws.
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

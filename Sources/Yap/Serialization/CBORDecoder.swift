/// Decodes `Decodable` values from CBOR (RFC 8949).
///
/// It reads the output of `CBOREncoder`, and any other CBOR with definite lengths, texts as keys and no tags. Keys
/// that the type doesn't know are ignored. An absent or null key decodes as nil if the type allows it, and an absent
/// key as the default of a `YapDatabaseModel`. No input can crash it.
public struct CBORDecoder: Sendable {
    /// Values of the outermost object for properties that the bytes lack.
    private let defaults: [UInt8]?

    /// Creates a decoder. It has no settings and can be used from any thread.
    public init() { self.init(defaults: nil) }

    init(defaults: [UInt8]?) { self.defaults = defaults }

    /// Decodes a value from bytes.
    ///
    /// - Throws: `DecodingError` with the coding path and, for malformed bytes, the offset; and any error of the
    ///   type's `init(from:)`.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// Decodes a value from bytes, which aren't read after this returns.
    ///
    /// - Throws: The errors of the other form.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws
        -> Value
    {
        try decode(type, from: bytes, asked: nil)
    }

    /// - Parameter asked: Records the names of the properties that the type requests.
    func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer, asked: AskedNames?
    ) throws -> Value {
        let input = CBORInput(bytes)
        defer { input.invalidate() }
        let root = CBORValueDecoder(
            input: input, offset: 0, parent: nil, key: nil, rootDefaults: defaults, asked: asked)
        do {
            guard bytes.count <= CBORLimits.bytesMax else {
                throw CBORFault.malformed(offset: 0, reason: "more than \(CBORLimits.bytesMax) bytes")
            }
            // Indexing the keys walks a map; walking it here too would take a tenth of the time.
            if !input.isMap(at: 0) { try input.checkWhole() }
            let value = try root.value(type, at: 0, key: nil)
            try input.checkWhole()
            return value
        } catch let fault as CBORFault {
            throw root.error(fault, wanted: type)
        }
    }
}

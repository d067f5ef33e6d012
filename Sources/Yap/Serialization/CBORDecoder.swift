/// Turns CBOR (RFC 8949) back into `Decodable` values.
///
/// It reads what `CBOREncoder` writes, and whatever else has definite lengths, texts as keys and no tags. A key
/// that the type doesn't know is passed over; one that is absent or null reads as nil where the type allows it, and one
/// that is absent as `YapDatabaseModel` says where the type is one. No sequence of bytes makes it crash.
public struct CBORDecoder: Sendable {
    /// What the outermost value has in place of properties that the bytes lack.
    private let defaults: [UInt8]?

    /// Makes a decoder. It has no settings and can be used from any thread.
    public init() { self.init(defaults: nil) }

    init(defaults: [UInt8]?) { self.defaults = defaults }

    /// The value that `bytes` hold.
    ///
    /// - Throws: `DecodingError` with the coding path and, for malformed bytes, the offset; and whatever the
    ///   type's own `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// The value that `bytes` hold. They are not read after this returns.
    ///
    /// - Throws: as the other form does.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws
        -> Value
    {
        try decode(type, from: bytes, asked: nil)
    }

    /// - Parameter asked: Told of the names of the properties that the type asks for.
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
            // A map is walked when its keys are indexed; walking it here too would take a tenth of the time.
            if !input.isMap(at: 0) { try input.checkWhole() }
            let value = try root.value(type, at: 0, key: nil)
            try input.checkWhole()
            return value
        } catch let fault as CBORFault {
            throw root.error(fault, wanted: type)
        }
    }
}

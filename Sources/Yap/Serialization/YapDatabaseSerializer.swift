/// How the values of one type become bytes and come back. CBOR unless the app registers another.
public struct YapDatabaseSerializer<Value: Sendable>: Sendable {
    /// Turns a value into bytes.
    public let encode: @Sendable (Value) throws -> [UInt8]
    /// Turns bytes into a value. The buffer is valid only while the closure runs.
    public let decode: @Sendable (UnsafeRawBufferPointer) throws -> Value

    /// Makes a serializer of two closures.
    ///
    /// What they throw reaches the caller as `YapDatabaseError` of code `encoding` or `decoding`.
    public init(
        encode: @escaping @Sendable (Value) throws -> [UInt8],
        decode: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Value
    ) {
        self.encode = encode
        self.decode = decode
    }
}

/// How the values of one type become bytes and come back. CBOR unless the app registers another.
public struct YapDatabaseSerializer<Value: Sendable>: Sendable {
    /// Turns a value into bytes.
    public let encode: @Sendable (Value) throws -> [UInt8]
    /// Turns bytes into a value. The buffer is valid only while the closure runs.
    public let decode: @Sendable (UnsafeRawBufferPointer) throws -> Value
    /// Keeps the properties that the type doesn't know; nil for bytes of which nothing is known.
    let propertyKeeping: (any PropertyKeeping<Value>)?

    /// Makes a serializer of two closures.
    ///
    /// What they throw reaches the caller as `YapDatabaseError` of code `encoding` or `decoding`.
    public init(
        encode: @escaping @Sendable (Value) throws -> [UInt8],
        decode: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Value
    ) {
        self.init(encode: encode, decode: decode, propertyKeeping: nil)
    }

    init(
        encode: @escaping @Sendable (Value) throws -> [UInt8],
        decode: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Value,
        propertyKeeping: (any PropertyKeeping<Value>)?
    ) {
        self.encode = encode
        self.decode = decode
        self.propertyKeeping = propertyKeeping
    }

    /// A serializer that changes what is decoded, and keeps what this one keeps.
    package func decoding(_ change: @escaping @Sendable (Value) -> Value) -> YapDatabaseSerializer {
        YapDatabaseSerializer(
            encode: encode, decode: { [decode] in change(try decode($0)) }, propertyKeeping: propertyKeeping)
    }
}

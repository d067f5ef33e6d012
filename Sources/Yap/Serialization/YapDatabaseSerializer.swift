/// Encodes and decodes the values of one type. Default: CBOR, unless the app registers another one.
///
/// ```swift
/// let json = YapDatabaseSerializer<Todo>(
///     encode: { try [UInt8](JSONEncoder().encode($0)) },
///     decode: { try JSONDecoder().decode(Todo.self, from: Data($0)) })
/// let database = try YapDatabase(url: url) {
///     $0.register(Todo.self, serializer: json, inCollection: "todos")
/// }
/// ```
public struct YapDatabaseSerializer<Value: Sendable>: Sendable {
    /// Encodes a value.
    public let encode: @Sendable (Value) throws -> [UInt8]
    /// Decodes a value. The buffer is valid only while the closure runs.
    public let decode: @Sendable (UnsafeRawBufferPointer) throws -> Value
    /// Keeps properties that the type doesn't know. Nil for a custom format.
    let propertyKeeping: (any PropertyKeeping<Value>)?

    /// Creates a serializer from two closures.
    ///
    /// Their errors reach the caller as `YapDatabaseError` with `encoding` or `decoding`.
    ///
    /// - Parameters:
    ///   - encode: Encodes a value.
    ///   - decode: Decodes a value. The buffer is valid only while the closure runs.
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

    /// Returns a serializer that changes decoded values, and keeps the properties that this one keeps.
    package func decoding(_ change: @escaping @Sendable (Value) -> Value) -> YapDatabaseSerializer {
        YapDatabaseSerializer(
            encode: encode, decode: { [decode] in change(try decode($0)) }, propertyKeeping: propertyKeeping)
    }
}

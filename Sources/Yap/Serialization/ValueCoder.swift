import System

/// Encodes, decodes and sanitizes the values of one type, for code that doesn't know the type.
protocol ValueCoder: AnyObject, Sendable {
    var typeID: ObjectIdentifier { get }
    var typeName: String { get }
    /// True if the stored bytes are CBOR.
    var isCBOR: Bool { get }

    /// Returns the value in a box of the registered type, or nil if it has another type.
    func box(_ value: any Sendable) -> CachedValue?
    func preSanitized(_ value: CachedValue, _ name: YapCollectionKey) -> CachedValue
    func postSanitize(_ value: CachedValue, _ name: YapCollectionKey)
    var hasPreSanitizer: Bool { get }
    var hasPostSanitizer: Bool { get }
    func encode(_ value: CachedValue) throws -> [UInt8]
    func decode(_ bytes: UnsafeRawBufferPointer) throws -> CachedValue
    /// Decodes the value without properties kept for other versions of the type. Nil if there are none.
    func decodeOwn(_ bytes: UnsafeRawBufferPointer) throws -> CachedValue?
    /// Returns the names of the properties that the type knows, as it reads `bytes` or the first ones that were
    /// passed. Nil if it takes any.
    func knownNames(_ bytes: [UInt8]) -> Set<String>?
    /// Returns a stored object for `RenameCheck`, or nil if it isn't suitable.
    func shape(_ bytes: UnsafeRawBufferPointer) -> StoredShape?
    /// Returns true if the type reads and writes the value of a stored property as that of one of its own.
    func reads(_ former: String, as property: String, of shape: StoredShape) -> Bool
    /// Returns `new` with the properties of `old` that the type doesn't know.
    func keeping(_ old: UnsafeRawBufferPointer, in new: [UInt8]) -> [UInt8]
}

extension ValueCoder {
    /// Decodes the bytes that `lend` lends. An error names the row.
    func decoded(
        _ key: String, _ collection: String,
        _ lend: ((UnsafeRawBufferPointer) throws -> CachedValue) throws -> CachedValue
    ) throws -> CachedValue {
        do {
            return try lend { try decode($0) }
        } catch {
            let mistake = (error as? DecodingError)?.modelMistake(typeName, version: 1)
            throw YapDatabaseError(
                .decoding, mistake ?? "the bytes are no \(typeName)", collection: collection, key: key,
                underlying: error)
        }
    }

    /// Decodes bytes. An error names the row.
    func decoded(_ data: [UInt8], _ name: YapCollectionKey) throws -> CachedValue {
        try decoded(name.key, name.collection) { try data.withUnsafeBytes($0) }
    }

    /// Encodes a value. An error names the row.
    func encoded(_ value: CachedValue, _ name: YapCollectionKey) throws -> [UInt8] {
        do {
            return try encode(value)
        } catch {
            throw YapDatabaseError(
                .encoding, "the \(typeName) can't be encoded", collection: name.collection, key: name.key,
                underlying: error)
        }
    }

    /// Boxes a value of the registered type, and applies the pre-sanitizer.
    ///
    /// - Throws: `YapDatabaseError`: `typeMismatch` for a value of another type.
    func sanitized<Value: Sendable>(_ value: Value, _ name: YapCollectionKey) throws -> CachedValue {
        let box: CachedValue? = typeID == ObjectIdentifier(Value.self) ? TypedValue(value) : self.box(value)
        guard let box else {
            throw YapDatabaseError(
                .typeMismatch, "the value is a \(type(of: value)), registered is \(typeName)",
                collection: name.collection, key: name.key)
        }
        return preSanitized(box, name)
    }
}

final class TypedValueCoder<Value: Sendable>: ValueCoder {
    typealias PreSanitizer = @Sendable (_ collection: String, _ key: String, _ value: Value) -> Value
    typealias PostSanitizer = @Sendable (_ collection: String, _ key: String, _ value: Value) -> Void

    let serializer: YapDatabaseSerializer<Value>
    let preSanitizer: PreSanitizer?
    let postSanitizer: PostSanitizer?
    /// Result of `knownNames`. Nil until first requested.
    private let names = Lock(Set<String>??.none)

    init(
        _ serializer: YapDatabaseSerializer<Value>, preSanitizer: PreSanitizer? = nil,
        postSanitizer: PostSanitizer? = nil
    ) {
        self.serializer = serializer
        self.preSanitizer = preSanitizer
        self.postSanitizer = postSanitizer
    }

    var typeID: ObjectIdentifier { ObjectIdentifier(Value.self) }
    var typeName: String { String(describing: Value.self) }
    var isCBOR: Bool { serializer.propertyKeeping != nil }
    var hasPreSanitizer: Bool { preSanitizer != nil }
    var hasPostSanitizer: Bool { postSanitizer != nil }

    func box(_ value: any Sendable) -> CachedValue? {
        (value as? Value).map(TypedValue.init)
    }

    func preSanitized(_ value: CachedValue, _ name: YapCollectionKey) -> CachedValue {
        guard let preSanitizer else { return value }
        return TypedValue(preSanitizer(name.collection, name.key, typed(value)))
    }

    func postSanitize(_ value: CachedValue, _ name: YapCollectionKey) {
        postSanitizer?(name.collection, name.key, typed(value))
    }

    func encode(_ value: CachedValue) throws -> [UInt8] {
        try serializer.encode(typed(value))
    }

    func decode(_ bytes: UnsafeRawBufferPointer) throws -> CachedValue {
        TypedValue(try serializer.decode(bytes))
    }

    func decodeOwn(_ bytes: UnsafeRawBufferPointer) throws -> CachedValue? {
        try serializer.propertyKeeping?.decodeOwn(bytes).map(TypedValue.init)
    }

    func knownNames(_ bytes: [UInt8]) -> Set<String>? {
        guard let propertyKeeping = serializer.propertyKeeping else { return nil }
        if let names = names.withLock({ $0 }) { return names }
        let found = bytes.withUnsafeBytes { propertyKeeping.knownNames($0) }
        names.withLock { $0 = .some(found) }
        return found
    }

    func shape(_ bytes: UnsafeRawBufferPointer) -> StoredShape? {
        serializer.propertyKeeping?.shape(bytes)
    }

    func reads(_ former: String, as property: String, of shape: StoredShape) -> Bool {
        serializer.propertyKeeping?.reads(former, as: property, of: shape) ?? false
    }

    func keeping(_ old: UnsafeRawBufferPointer, in new: [UInt8]) -> [UInt8] {
        serializer.propertyKeeping?.keeping(old, in: new) ?? new
    }

    private func typed(_ value: CachedValue) -> Value {
        // Every box of a collection is created by this coder, or checked against `typeID` before.
        unsafeDowncast(value, to: TypedValue<Value>.self).value
    }
}

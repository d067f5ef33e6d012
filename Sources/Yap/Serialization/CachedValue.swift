/// A decoded value in a box that the caches of connections share.
///
/// A class and not `any Sendable`, because a cached read of a known type then takes a pointer comparison and no
/// dynamic cast.
class CachedValue: @unchecked Sendable {
    // Sendable because the only subclass holds one `let` of a Sendable type.
    var erased: any Sendable { preconditionFailure("TypedValue overrides this") }
}

final class TypedValue<Value: Sendable>: CachedValue, @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    override var erased: any Sendable { value }
}

extension CachedValue {
    /// Returns the value as a type: the registered one, or a protocol that it conforms to.
    ///
    /// - Throws: `YapDatabaseError`: `typeMismatch`.
    final func value<Value: Sendable>(
        as type: Value.Type, _ coder: any ValueCoder, _ key: String, _ collection: String
    ) throws -> Value {
        if coder.typeID == ObjectIdentifier(Value.self) {
            return unsafeDowncast(self, to: TypedValue<Value>.self).value
        }
        return try cast(type, coder, key, collection)
    }

    /// Casts to a type that isn't the registered one: a protocol, or a mistake of the caller.
    ///
    /// Never inlined, because an optional of a type that is unknown at compile time would cost every cached read a
    /// table look-up.
    @inline(never)
    private final func cast<Value: Sendable>(
        _ type: Value.Type, _ coder: any ValueCoder, _ key: String, _ collection: String
    ) throws -> Value {
        if let value = erased as? Value { return value }
        throw YapDatabaseError(
            .typeMismatch, "requested \(type), registered is \(coder.typeName)", collection: collection,
            key: key)
    }
}

/// State of a row's cached metadata.
enum CachedMetadata: Sendable {
    case unknown
    case none
    case value(CachedValue)
}

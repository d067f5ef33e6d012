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

/// State of a row's cached metadata.
enum CachedMetadata: Sendable {
    case unknown
    case none
    case value(CachedValue)
}

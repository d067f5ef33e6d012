/// A decoded value in a box that caches share between connections.
///
/// A class and not `any Sendable`: a cached read that knows the type then costs a pointer comparison and no
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

/// What is known of a row's metadata.
enum CachedMetadata: Sendable {
    case unknown
    case none
    case value(CachedValue)
}

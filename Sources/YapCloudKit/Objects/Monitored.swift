internal import CloudKit
internal import Seams

extension MyDatabaseObject {
    /// Marks a property of a `MyDatabaseObject` as one that is stored, and whose changes are tracked.
    ///
    /// ```swift
    /// final class MyTodo: MyDatabaseObject, @unchecked Sendable {
    ///     @Monitored var title = ""
    ///     @Monitored var isDone = false
    /// }
    /// ```
    /// Setting it to an equal value is no change, and neither is setting it back to what it was.
    @propertyWrapper
    public final class Monitored<Value: Codable & Equatable & Sendable> {
        /// Guarded by the lock of the object that the property belongs to: nothing else has this wrapper.
        fileprivate var value: Value
        /// What the value was before it was changed; nil when it wasn't.
        fileprivate var original: Original?

        /// In an enum of its own, because the value itself may be an optional.
        fileprivate enum Original {
            case value(Value)
        }

        /// Makes the property with its default.
        public init(wrappedValue: Value) {
            value = wrappedValue
        }

        /// Only reached where the compiler refuses it: the property belongs to no `MyDatabaseObject`.
        @available(
            *, unavailable, message: "@Monitored properties stand in a class that inherits MyDatabaseObject"
        )
        public var wrappedValue: Value {
            get { preconditionFailure("@Monitored stands outside of a MyDatabaseObject") }
            set { preconditionFailure("@Monitored stands outside of a MyDatabaseObject") }
        }

        /// Reads and writes the property of `owner`. A write to an immutable object ends the program.
        public static subscript<Owner: MyDatabaseObject>(
            _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
            storage storage: ReferenceWritableKeyPath<Owner, Monitored<Value>>
        ) -> Value {
            get {
                let property = owner[keyPath: storage]
                return owner.state.withLock { _ in property.value }
            }
            set {
                let property = owner[keyPath: storage]
                let isWritten = owner.state.withLock { state in
                    if !state.isImmutable { property.set(newValue) }
                    return !state.isImmutable
                }
                precondition(isWritten, owner.refusal(of: property))
            }
        }

        private func set(_ newValue: Value) {
            guard newValue != value else { return }
            switch original {
            case nil: original = .value(value)
            case .value(let before) where before == newValue: original = nil
            case .value: break
            }
            value = newValue
        }
    }
}

/// A monitored property whose type doesn't matter. Each member is called with the lock of its object held, but
/// `cloudValue` and `decodedCloudValue`, which take the value along.
protocol MonitoredProperty: AnyObject {
    var isChanged: Bool { get }
    /// The value, or what it was before it was changed.
    func value(orOriginal isOriginal: Bool) -> any Sendable
    func clearChange()
    /// Takes over another object's property: its value, and what it was.
    func take(_ other: any MonitoredProperty, asItWas isOriginal: Bool)
    func encode(to container: inout KeyedEncodingContainer<LocalKey>, as key: LocalKey) throws
    /// Takes over a stored value: that is no change.
    func decode(from container: KeyedDecodingContainer<LocalKey>, as key: LocalKey) throws
    /// Changes the value, if the given one is of its type.
    func change(to newValue: any Sendable)
    /// The value that a cloud value stands for, in the property's own type; nil when it is none of it.
    func localValue(of cloudValue: (any CKRecordValueProtocol)?) -> (any Sendable)?
}

/// The name of a property among the stored ones.
struct LocalKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}

extension MyDatabaseObject.Monitored: MonitoredProperty {
    var isChanged: Bool { original != nil }

    func value(orOriginal isOriginal: Bool) -> any Sendable {
        if isOriginal, case .value(let before)? = original { return before }
        return value
    }

    func clearChange() {
        original = nil
    }

    func take(_ other: any MonitoredProperty, asItWas isOriginal: Bool) {
        guard let other = other as? Self else { return }
        value = other.value
        original = other.original
        guard isOriginal, case .value(let before)? = original else { return }
        value = before
        original = nil
    }

    func encode(to container: inout KeyedEncodingContainer<LocalKey>, as key: LocalKey) throws {
        try container.encode(value, forKey: key)
    }

    func decode(from container: KeyedDecodingContainer<LocalKey>, as key: LocalKey) throws {
        // A property that is newer than the stored object keeps its default.
        if container.contains(key) { value = try container.decode(Value.self, forKey: key) }
    }

    func change(to newValue: any Sendable) {
        if let newValue = newValue as? Value { set(newValue) }
    }

    func localValue(of cloudValue: (any CKRecordValueProtocol)?) -> (any Sendable)? {
        if let type = Value.self as? any CloudFieldValue.Type { return type.init(cloudValue: cloudValue) }
        return cloudValue as? Value
    }
}

internal import CloudKit
internal import System
internal import Yap

extension MyDatabaseObject {
    /// Makes a property of a `MyDatabaseObject` stored, and tracks its changes.
    ///
    /// ```swift
    /// final class MyTodo: MyDatabaseObject, @unchecked Sendable {
    ///     @Monitored var title = ""
    ///     @Monitored var isDone = false
    /// }
    /// ```
    /// Setting the property to a value with the same stored bytes isn't a change. Setting it back to its
    /// original value removes the change. A canonically equivalent text with other bytes is a change.
    @propertyWrapper
    public final class Monitored<Value: Codable & Equatable & Sendable> {
        /// Protected by the lock of the object that the property belongs to. Only that object has this
        /// wrapper.
        fileprivate var value: Value
        /// The value before the first change, or nil if the value wasn't changed.
        fileprivate var original: Original?
        /// Number of changes of `value` and `original`. Shows whether they changed since they were read with
        /// the lock held.
        private var changeCount = 0

        /// A separate enum, because the value itself may be an optional.
        fileprivate enum Original {
            case value(Value)
        }

        /// Makes the property with its default value.
        public init(wrappedValue: Value) {
            value = wrappedValue
        }

        /// Unavailable: called only if the property doesn't belong to a `MyDatabaseObject`, which the
        /// compiler rejects.
        @available(
            *, unavailable, message: "@Monitored requires a class that inherits from MyDatabaseObject"
        )
        public var wrappedValue: Value {
            get { preconditionFailure("@Monitored is used outside of a MyDatabaseObject") }
            set { preconditionFailure("@Monitored is used outside of a MyDatabaseObject") }
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
                let isWritten = property.set(newValue, of: owner)
                precondition(isWritten, owner.refusal(of: property))
            }
        }

        /// Sets the value of `owner`'s property. Returns false if the owner is immutable.
        ///
        /// Values are compared outside of the lock, because the comparison is code of the app. If the
        /// property was changed meanwhile, they are compared again.
        fileprivate func set(_ newValue: Value, of owner: MyDatabaseObject) -> Bool {
            while true {
                let (isImmutable, value, original, number) = owner.state.withLock { state in
                    (state.isImmutable, self.value, self.original, changeCount)
                }
                if isImmutable { return false }
                if Self.isStoredAlike(newValue, value) { return true }
                let newOriginal: Original?
                switch original {
                case nil: newOriginal = .value(value)
                case .value(let before)? where Self.isStoredAlike(newValue, before): newOriginal = nil
                case .value?: newOriginal = original
                }
                let replaced = owner.state.withLock { state -> (Value, Original?)? in
                    guard !state.isImmutable, changeCount == number else { return nil }
                    return replace(newValue, newOriginal)
                }
                if replaced != nil { return true }
            }
        }

        /// Returns true if both values are stored as the same bytes. Called only for equal values.
        private static func isStoredAlike(_ value: Value, _ other: Value) -> Bool {
            guard value == other else { return false }
            if let text = value as? String, let other = other as? String {
                return text.hasSameBytes(as: other)
            }
            if Value.self == Bool.self || value is any FixedWidthInteger { return true }
            let encoder = CBOREncoder()
            // A value that can't be stored is reported when its object is stored.
            guard let bytes = try? encoder.encode(value), let others = try? encoder.encode(other) else {
                return true
            }
            return bytes == others
        }

        /// Replaces the value and the original. Called with the owner's lock held.
        /// - Returns: The previous value and original. The caller releases them after the lock, because their
        ///   `deinit` may be code of the app.
        fileprivate func replace(_ newValue: Value, _ newOriginal: Original?) -> (Value, Original?) {
            defer {
                value = newValue
                original = newOriginal
                changeCount += 1
            }
            return (value, original)
        }
    }
}

/// A monitored property of any type.
///
/// The members before `decode` are called with the object's lock held. They don't run code of the value's
/// type, and return replaced values, which the caller releases after the lock. The other members are called
/// without the lock.
protocol MonitoredProperty: AnyObject {
    var isChanged: Bool { get }
    /// Returns the value, or the original value before the changes.
    func value(orOriginal isOriginal: Bool) -> any Sendable
    func clearChange() -> Any
    /// Copies the value and the original value of another object's property.
    func take(_ other: any MonitoredProperty, asItWas isOriginal: Bool) -> Any?
    /// Returns a closure that encodes the current value. The closure is called after the lock.
    func encoding(as key: LocalKey) -> (inout KeyedEncodingContainer<LocalKey>) throws -> Void
    /// Sets a stored value without recording a change. Called while no other code has a reference to the
    /// object.
    func decode(from container: KeyedDecodingContainer<LocalKey>, as key: LocalKey) throws
    /// Changes the value if the new value has its type. Returns false if the owner is immutable.
    func change(to newValue: any Sendable, of owner: MyDatabaseObject) -> Bool
    /// Returns a cloud value in the property's own type, or nil if it can't be converted.
    func localValue(of cloudValue: (any CKRecordValueProtocol)?) -> (any Sendable)?
}

/// The name of a stored property.
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

    func clearChange() -> Any {
        replace(value, nil)
    }

    func take(_ other: any MonitoredProperty, asItWas isOriginal: Bool) -> Any? {
        guard let other = other as? Self else { return nil }
        if isOriginal, case .value(let before)? = other.original { return replace(before, nil) }
        return replace(other.value, other.original)
    }

    func encoding(as key: LocalKey) -> (inout KeyedEncodingContainer<LocalKey>) throws -> Void {
        let value = value
        return { container in try container.encode(value, forKey: key) }
    }

    func decode(from container: KeyedDecodingContainer<LocalKey>, as key: LocalKey) throws {
        // A property that is newer than the stored object keeps its default.
        if container.contains(key) { value = try container.decode(Value.self, forKey: key) }
    }

    func change(to newValue: any Sendable, of owner: MyDatabaseObject) -> Bool {
        guard let newValue = newValue as? Value else { return !owner.isImmutable }
        return set(newValue, of: owner)
    }

    func localValue(of cloudValue: (any CKRecordValueProtocol)?) -> (any Sendable)? {
        if let type = Value.self as? any CloudFieldValue.Type { return type.init(cloudValue: cloudValue) }
        return cloudValue as? Value
    }
}

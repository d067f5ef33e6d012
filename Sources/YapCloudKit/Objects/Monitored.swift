internal import CloudKit
internal import System
internal import Yap

extension MyDatabaseObject {
    /// Marks a property of a `MyDatabaseObject` as one that is stored, and whose changes are tracked.
    ///
    /// ```swift
    /// final class MyTodo: MyDatabaseObject, @unchecked Sendable {
    ///     @Monitored var title = ""
    ///     @Monitored var isDone = false
    /// }
    /// ```
    /// Setting it to a value that is stored in the same bytes is no change, and neither is setting it back to what it
    /// was. Another normal form of an equal text is one.
    @propertyWrapper
    public final class Monitored<Value: Codable & Equatable & Sendable> {
        /// Guarded by the lock of the object that the property belongs to: nothing else has this wrapper.
        fileprivate var value: Value
        /// What the value was before it was changed; nil when it wasn't.
        fileprivate var original: Original?
        /// Number of changes to the two: tells whether they are still what was read under the lock before.
        private var changeCount = 0

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
        /// Values are compared outside of the lock, because that is the app's code; if the property was changed
        /// meanwhile, they are compared again.
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

        /// Whether both values are stored in the same bytes. Of values that aren't equal that isn't asked.
        private static func isStoredAlike(_ value: Value, _ other: Value) -> Bool {
            guard value == other else { return false }
            if let text = value as? String, let other = other as? String {
                return text.hasSameBytes(as: other)
            }
            if Value.self == Bool.self || value is any FixedWidthInteger { return true }
            let encoder = CBOREncoder()
            // A value that can't be stored says so when its object is.
            guard let bytes = try? encoder.encode(value), let others = try? encoder.encode(other) else {
                return true
            }
            return bytes == others
        }

        /// Replaces the value and the original. Called with the owner's lock held.
        /// - Returns: What they were. The caller releases it after the lock: its `deinit` may be the app's code.
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

/// A monitored property whose type doesn't matter.
///
/// The members before `decode` are called with the lock of its object held. They run no code of the value's type, and
/// return what they replaced, for the caller to release after the lock. The others are called without the lock.
protocol MonitoredProperty: AnyObject {
    var isChanged: Bool { get }
    /// The value, or what it was before it was changed.
    func value(orOriginal isOriginal: Bool) -> any Sendable
    func clearChange() -> Any
    /// Takes over another object's property: its value, and what it was.
    func take(_ other: any MonitoredProperty, asItWas isOriginal: Bool) -> Any?
    /// Encodes the value as it is now, when it is called after the lock.
    func encoding(as key: LocalKey) -> (inout KeyedEncodingContainer<LocalKey>) throws -> Void
    /// Sets a stored value without recording a change. Called while no other code has a reference to the
    /// object.
    func decode(from container: KeyedDecodingContainer<LocalKey>, as key: LocalKey) throws
    /// Changes the value, if the given one is of its type. Returns false if the owner is immutable.
    func change(to newValue: any Sendable, of owner: MyDatabaseObject) -> Bool
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

public import CloudKit
internal import System

/// A base class for objects that are changed in place: it knows which properties changed since the object was
/// stored, what they were, and under which names they are in the cloud; and it becomes immutable when it is stored,
/// so that all threads can share it.
///
/// ```swift
/// final class MyTodo: MyDatabaseObject, @unchecked Sendable {
///     @Monitored var title = ""
///     @Monitored var isDone = false
///     @Monitored var deviceID = ""
///
///     override class var mappings_localKeyToCloudKey: [String: String] {
///         var mappings = super.mappings_localKeyToCloudKey
///         mappings["isDone"] = "completed"  // another name in the cloud
///         mappings["deviceID"] = nil  // stays on the device
///         return mappings
///     }
/// }
/// ```
/// A subclass gives each stored property a default and inherits `init()` and `Codable`; other initialisers are
/// convenience ones that begin with `self.init()`. Register its collection with `register(_:inCollection:)`, which
/// makes what is stored immutable and forgets the changes once the extensions have seen them; then change a copy:
///
/// ```swift
/// let todo = try transaction.object(MyTodo.self, forKey: key, inCollection: "todos")?.copy()
/// todo?.isDone = true
/// ```
/// A struct with `CloudModel` needs none of this: there the extension compares the old value with the new one.
///
/// `@unchecked Sendable`, because all of its state and that of its monitored properties is read and written under one
/// lock. A subclass says so again, and answers for properties that are not monitored: let them be `let`.
open class MyDatabaseObject: Codable, @unchecked Sendable {
    struct State {
        var isImmutable = false
        /// By name, in this order; found at the first use.
        var properties: [(name: String, property: any MonitoredProperty)]?
    }

    let state = Lock(State())

    /// Makes an object whose properties have their defaults.
    public required init() {}

    // MARK: Storing

    /// Reads the monitored properties. One that isn't there keeps its default.
    public required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: LocalKey.self)
        // Without the lock, because the app's types decode themselves. No other code has a reference to the
        // object yet.
        for (name, property) in withProperties({ $0 }) {
            try property.decode(from: container, as: LocalKey(stringValue: name))
        }
    }

    /// Writes the monitored properties under their names.
    open func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: LocalKey.self)
        // The values of one moment, encoded after the lock: that is code of the app.
        let encodings = withProperties { $0.map { $0.property.encoding(as: LocalKey(stringValue: $0.name)) } }
        for encoding in encodings { try encoding(&container) }
    }

    // MARK: Immutability

    /// Whether the object can no longer be changed.
    public final var isImmutable: Bool { state.withLock { $0.isImmutable } }

    /// Makes the object immutable for good: from now on a write to a monitored property ends the program.
    public final func makeImmutable() { state.withLock { $0.isImmutable = true } }

    /// A copy that can be changed. It keeps what is known of changes.
    ///
    /// Properties that are not monitored have their defaults in it: a subclass that has such overrides this.
    open func copy() -> Self { copy(asItWas: false) }

    /// - Parameter isOriginal: Whether the copy is to be as the object was before its changes.
    final func copy(asItWas isOriginal: Bool) -> Self {
        let copy = Self()
        let theirs = withProperties { $0 }
        // The copy's defaults are released after the locks.
        _ = copy.withProperties { ours in
            // No other code has a reference to the copy yet, so taking its lock never waits.
            state.withLock { _ in
                zip(ours, theirs).map { mine, other in
                    mine.property.take(other.property, asItWas: isOriginal)
                }
            }
        }
        return copy
    }

    func refusal(of property: any MonitoredProperty) -> String {
        let name = withProperties { $0.first { $0.property === property }?.name ?? "" }
        return "\(type(of: self)).\(name) can't be changed, because the object was stored: change a copy()"
    }

    // MARK: Changes

    /// The names of the monitored properties that changed since the object was stored.
    public final var changedProperties: Set<String> {
        withProperties { Set($0.filter(\.property.isChanged).map(\.name)) }
    }

    /// Forgets all changes.
    public final func clearChangedProperties() {
        // What they were is released after the lock.
        _ = withProperties { properties in properties.map { $0.property.clearChange() } }
    }

    // MARK: The cloud

    /// Which property is which field in the cloud, for all that are synced.
    ///
    /// It begins with every monitored property under its own name. Override it to take out what stays on the device,
    /// and to give others another name. A field's name is ASCII letters, digits and `_`, begins with a letter, and is
    /// none of a record's own properties, such as `creationDate`. Another name, or one of a property that isn't
    /// monitored, ends the program when the mappings are first used.
    // The name that developers know from the original.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    open class var mappings_localKeyToCloudKey: [String: String] {
        let names = Self().withProperties { $0.map(\.name) }
        return Dictionary(uniqueKeysWithValues: names.map { ($0, $0) })
    }

    /// The fields in the cloud, all of them.
    public final var allCloudProperties: Set<String> { Set(fieldMap.localKeys.keys) }

    /// The fields in the cloud whose properties changed.
    public final var changedCloudProperties: Set<String> {
        let cloudKeys = fieldMap.cloudKeys
        return Set(changedProperties.compactMap { cloudKeys[$0] })
    }

    /// Whether a property changed that is synced.
    public final var hasChangedCloudProperties: Bool { !changedCloudProperties.isEmpty }

    /// What the changed fields were, as a record holds it. One that was absent is nil; one that is not here wasn't
    /// changed, and is not known.
    public final var originalCloudValues: [String: (any CKRecordValueProtocol)?] {
        let before = copy(asItWas: true)
        var values: [String: (any CKRecordValueProtocol)?] = [:]
        for cloudKey in changedCloudProperties {
            values.updateValue(before.cloudValue(forCloudKey: cloudKey), forKey: cloudKey)
        }
        return values
    }

    /// The value of a field, as a record holds it; nil for no value, and for a field that isn't in the mappings.
    ///
    /// Override it for a property of a type that a record can't hold, or let that type be a `CloudFieldValue`.
    open func cloudValue(forCloudKey cloudKey: String) -> (any CKRecordValueProtocol)? {
        guard let name = fieldMap.localKeys[cloudKey] else { return nil }
        let value = withProperties { $0.first { $0.name == name }?.property.value(orOriginal: false) }
        if let value = value as? any CloudFieldValue { return value.cloudValue }
        if let value = value as? any CKRecordValueProtocol { return value }
        preconditionFailure(
            "a record can't hold \(type(of: self)).\(name): override cloudValue(forCloudKey:) and its opposite"
        )
    }

    /// Changes the property that a field stands for. A field that isn't in the mappings is ignored, and a value that is
    /// none of the property's type leaves the property as it is. No value is the default of a property that can't be
    /// nil.
    open func setLocalValue(
        fromCloudValue cloudValue: (any CKRecordValueProtocol)?, forCloudKey cloudKey: String
    ) {
        guard let name = fieldMap.localKeys[cloudKey],
            let property = withProperties({ $0.first { $0.name == name }?.property })
        else { return }
        var value = property.localValue(of: cloudValue)
        if value == nil, cloudValue == nil {
            value = Self().withProperties { $0.first { $0.name == name }?.property.value(orOriginal: false) }
        }
        guard let value else { return }
        let isWritten = property.change(to: value, of: self)
        precondition(isWritten, refusal(of: property))
    }
}

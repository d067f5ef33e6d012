public import CloudKit
internal import System

/// A base class for mutable objects. It records which properties changed since the object was stored, their
/// original values, and their names in the cloud. An object becomes immutable when it is stored, so that all
/// threads can share it.
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
/// A subclass gives each stored property a default value, and inherits `init()` and `Codable`. Its other
/// initializers are convenience initializers that begin with `self.init()`. Register its collection with
/// `register(_:inCollection:)`: then stored objects become immutable, and their recorded changes are cleared
/// after the extensions have handled them. To change an object, change a copy:
///
/// ```swift
/// let todo = try transaction.object(MyTodo.self, forKey: key, inCollection: "todos")?.copy()
/// todo?.isDone = true
/// ```
/// A struct that conforms to `CloudModel` doesn't need this class, because the extension compares the old
/// value with the new one.
///
/// The class is `@unchecked Sendable`, because one lock protects all of its state and that of its monitored
/// properties. A subclass must repeat the conformance, and is responsible for its properties that aren't
/// monitored: declare them with `let`.
open class MyDatabaseObject: Codable, @unchecked Sendable {
    struct State {
        var isImmutable = false
        /// Sorted by name. Nil until the first use.
        var properties: [(name: String, property: any MonitoredProperty)]?
    }

    let state = Lock(State())

    /// Makes an object with the default values of its properties.
    public required init() {}

    // MARK: Storing

    /// Reads the monitored properties. A missing property keeps its default value.
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
        // The values are read together, and encoded after the lock, because encoding runs code of the app.
        let encodings = withProperties { $0.map { $0.property.encoding(as: LocalKey(stringValue: $0.name)) } }
        for encoding in encodings { try encoding(&container) }
    }

    // MARK: Immutability

    /// True if the object can't be changed any more.
    public final var isImmutable: Bool { state.withLock { $0.isImmutable } }

    /// Makes the object immutable. From now on, a write to a monitored property ends the program.
    public final func makeImmutable() { state.withLock { $0.isImmutable = true } }

    /// Returns a mutable copy, which includes the recorded changes.
    ///
    /// Properties that aren't monitored have their default values in the copy. Override this method in a
    /// subclass with such properties.
    open func copy() -> Self { copy(asItWas: false) }

    /// - Parameter isOriginal: True to copy the original values from before the changes.
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

    /// Names of the monitored properties that changed since the object was stored.
    public final var changedProperties: Set<String> {
        withProperties { Set($0.filter(\.property.isChanged).map(\.name)) }
    }

    /// Clears the recorded changes.
    public final func clearChangedProperties() {
        // The original values are released after the lock.
        _ = withProperties { properties in properties.map { $0.property.clearChange() } }
    }

    // MARK: The cloud

    /// Cloud field of each synced property, by the property's name.
    ///
    /// By default, each monitored property has a field with its own name. Override it to remove properties
    /// that stay on the device, and to rename fields. A field's name consists of ASCII letters, digits and
    /// `_`, begins with a letter, and is not a property of a record itself, such as `creationDate`. An
    /// invalid name, or the name of a property that isn't monitored, ends the program when the mappings are
    /// first used.
    // The name that developers know from the original.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    open class var mappings_localKeyToCloudKey: [String: String] {
        let names = Self().withProperties { $0.map(\.name) }
        return Dictionary(uniqueKeysWithValues: names.map { ($0, $0) })
    }

    /// Names of all cloud fields.
    public final var allCloudProperties: Set<String> { Set(fieldMap.localKeys.keys) }

    /// Names of the cloud fields of changed properties.
    public final var changedCloudProperties: Set<String> {
        let cloudKeys = fieldMap.cloudKeys
        return Set(changedProperties.compactMap { cloudKeys[$0] })
    }

    /// True if a synced property changed.
    public final var hasChangedCloudProperties: Bool { !changedCloudProperties.isEmpty }

    /// Original values of the changed fields, in the types of a record. A field without an original value has
    /// nil. A field that didn't change isn't included.
    public final var originalCloudValues: [String: (any CKRecordValueProtocol)?] {
        let before = copy(asItWas: true)
        var values: [String: (any CKRecordValueProtocol)?] = [:]
        for cloudKey in changedCloudProperties {
            values.updateValue(before.cloudValue(forCloudKey: cloudKey), forKey: cloudKey)
        }
        return values
    }

    /// Returns the value of a field in the types of a record, or nil if there is no value or the field isn't
    /// in the mappings.
    ///
    /// Override it for a property with a type that a record can't hold, or make that type conform to
    /// `CloudFieldValue`.
    open func cloudValue(forCloudKey cloudKey: String) -> (any CKRecordValueProtocol)? {
        guard let name = fieldMap.localKeys[cloudKey] else { return nil }
        let value = withProperties { $0.first { $0.name == name }?.property.value(orOriginal: false) }
        if let value = value as? any CloudFieldValue { return value.cloudValue }
        if let value = value as? any CKRecordValueProtocol { return value }
        preconditionFailure(
            "a record can't hold \(type(of: self)).\(name): override cloudValue(forCloudKey:) and its opposite"
        )
    }

    /// Changes the property of a field. Ignores a field that isn't in the mappings, and a value that can't be
    /// converted to the property's type. Nil sets a property that isn't optional to its default value.
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

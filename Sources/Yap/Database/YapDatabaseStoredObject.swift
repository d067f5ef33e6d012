/// An object that an earlier version of its model stored, as properties by name. An upgrade changes it.
///
/// ```swift
/// $0.register(Todo.self, inCollection: "todos", version: 3) { old in
///     if old.version < 2 { old.rename("done", to: "isDone") }
///     if let text = try old.value(String.self, of: "priority") {
///         try old.set(Int(text) ?? 0, for: "priority")
///     }
/// }
/// ```
public struct YapDatabaseStoredObject: Sendable {
    /// Version of the model that stored the object. 1 for objects stored before the collection had a version.
    public let version: Int
    private(set) var map: CBORMap

    init(_ map: CBORMap, version: Int) {
        self.version = version
        self.map = map
    }

    /// Names of the stored properties. A property that was nil isn't stored.
    public var names: [String] { map.entries.map(\.key) }

    /// Renames a property, and replaces a property that has the new name. Does nothing if the property is absent.
    ///
    /// - Parameters:
    ///   - name: The old name.
    ///   - newName: The new name.
    public mutating func rename(_ name: String, to newName: String) {
        guard name != newName, let value = map[name] else { return }
        map[name] = nil
        map[newName] = value
    }

    /// Removes a property permanently. Properties that the model merely lacks stay in the object, for versions that
    /// have them. Remove a property also before its name gets another meaning.
    public mutating func remove(_ name: String) { map[name] = nil }

    /// Returns a property's value, or nil if it is absent or was nil.
    ///
    /// - Throws: `DecodingError` if the value has another type.
    public func value<Value: Decodable>(_ type: Value.Type, of name: String) throws -> Value? {
        try map[name].flatMap { try CBORDecoder().decode(Value?.self, from: $0) }
    }

    /// Sets a property.
    ///
    /// - Throws: `EncodingError` if the value can't be encoded.
    public mutating func set(_ value: some Encodable, for name: String) throws {
        map[name] = try CBOREncoder().encode(value)
    }
}

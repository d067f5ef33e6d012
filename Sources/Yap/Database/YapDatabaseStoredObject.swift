/// An object that an earlier version of its model stored, as its properties by name: what an upgrade changes.
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
    /// The version of the model that stored it. 1 is what was stored before the collection had a version.
    public let version: Int
    private(set) var map: CBORMap

    init(_ map: CBORMap, version: Int) {
        self.version = version
        self.map = map
    }

    /// The names of its properties. One that was nil has none.
    public var names: [String] { map.entries.map(\.key) }

    /// Gives a property another name. Does nothing when it is absent; a property of the new name is replaced.
    public mutating func rename(_ name: String, to newName: String) {
        guard name != newName, let value = map[name] else { return }
        map[name] = nil
        map[newName] = value
    }

    /// Removes a property for good. What the model only doesn't know stays in the object, for versions that do: remove
    /// it also before its name is used for something else.
    public mutating func remove(_ name: String) { map[name] = nil }

    /// A property's value; nil when it is absent or was nil.
    ///
    /// - Throws: `DecodingError` when it is none of this type.
    public func value<Value: Decodable>(_ type: Value.Type, of name: String) throws -> Value? {
        try map[name].flatMap { try CBORDecoder().decode(Value?.self, from: $0) }
    }

    /// Sets a property.
    ///
    /// - Throws: `EncodingError` when the value can't be encoded.
    public mutating func set(_ value: some Encodable, for name: String) throws {
        map[name] = try CBOREncoder().encode(value)
    }
}

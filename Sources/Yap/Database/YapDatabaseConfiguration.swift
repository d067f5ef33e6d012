/// Configuration that the app passes when it opens the database: the type of each collection, and its sanitizers.
public struct YapDatabaseConfiguration: Sendable {
    var registrations: [String: CollectionRegistration] = [:]
    var mistakes: [YapDatabaseError] = []

    init() {}

    /// Registers `type` for the objects of `collection`, stored as CBOR. They have no metadata.
    ///
    /// ```swift
    /// configuration.register(Todo.self, inCollection: "todos")
    /// ```
    ///
    /// A type may change from one version of the app to the next. A new property that a stored object lacks has the
    /// value from `init()` if the type is a `YapDatabaseModel`, otherwise the value in `default`. Removed properties
    /// are ignored. `upgrade` handles renamed properties and changed types.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - collection: The collection.
    ///   - value: An object with the values for properties that a stored object lacks.
    ///   - version: The model's version, from 1. Raise it with each change that needs `upgrade`.
    ///   - upgrade: Changes an object that an earlier version stored. Called at each read until the object is stored
    ///     again, for example by `upgradeObjects(inCollection:progress:)`.
    public mutating func register<Object: Codable & Sendable>(
        _ type: Object.Type, inCollection collection: String, default value: Object? = nil, version: Int = 1,
        upgrade: (@Sendable (inout YapDatabaseStoredObject) throws -> Void)? = nil
    ) {
        register(
            type, inCollection: collection, default: value, version: version, upgrade: upgrade, decoding: nil)
    }

    /// Registers a type, and applies `change` to each object that is read.
    package mutating func register<Object: Codable & Sendable>(
        _ type: Object.Type, inCollection collection: String, default value: Object?, version: Int,
        upgrade: (@Sendable (inout YapDatabaseStoredObject) throws -> Void)?,
        decoding change: (@Sendable (Object) -> Object)?
    ) {
        if !(1...Int(UInt32.max)).contains(version) {
            mistakes.append(
                YapDatabaseError(
                    .typeMismatch, "the version of a model is 1 or more, not \(version)",
                    collection: collection))
        }
        let serializer = YapDatabaseSerializer<Object>.cbor(
            default: value, version: version, upgrade: upgrade)
        register(
            type, serializer: change.map { serializer.decoding($0) } ?? serializer, inCollection: collection)
    }

    /// Registers `type` for the objects and `metadata` for the metadata of `collection`, both stored as CBOR.
    public mutating func register<Object: Codable & Sendable, Metadata: Codable & Sendable>(
        _ type: Object.Type, metadata: Metadata.Type, inCollection collection: String
    ) {
        register(type, serializer: .cbor(), inCollection: collection)
        registerMetadata(metadata, serializer: .cbor(), inCollection: collection)
    }

    /// Registers `type` for the objects of `collection`, stored by `serializer`.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - collection: The collection.
    ///   - serializer: Encodes and decodes the objects.
    public mutating func register<Object: Sendable>(
        _ type: Object.Type, serializer: YapDatabaseSerializer<Object>, inCollection collection: String
    ) {
        let coder = TypedValueCoder(serializer)
        if registrations[collection] != nil {
            mistakes.append(
                YapDatabaseError(
                    .typeMismatch, "a type is registered already; \(Object.self) came second",
                    collection: collection))
        }
        registrations[collection] = CollectionRegistration(collection: collection, object: coder)
    }

    /// Registers `type` for the metadata of `collection`, stored by `serializer`. The collection must be registered.
    public mutating func registerMetadata<Metadata: Sendable>(
        _ type: Metadata.Type, serializer: YapDatabaseSerializer<Metadata>, inCollection collection: String
    ) {
        guard registrations[collection] != nil else {
            return missing(collection, "register objects before metadata")
        }
        registrations[collection]?.metadata = TypedValueCoder(serializer)
    }

    /// Replaces each object with the result of `sanitizer` before it is stored in `collection`.
    public mutating func preSanitize<Object: Sendable>(
        _ type: Object.Type, inCollection collection: String,
        _ sanitizer: @escaping @Sendable (_ collection: String, _ key: String, _ object: Object) -> Object
    ) {
        guard let coder = objectCoder(type, collection) else { return }
        registrations[collection]?.object = TypedValueCoder(
            coder.serializer, preSanitizer: sanitizer, postSanitizer: coder.postSanitizer)
    }

    /// Calls `sanitizer` with each object after it was stored in `collection` and all extensions were notified.
    public mutating func postSanitize<Object: Sendable>(
        _ type: Object.Type, inCollection collection: String,
        _ sanitizer: @escaping @Sendable (_ collection: String, _ key: String, _ object: Object) -> Void
    ) {
        guard let coder = objectCoder(type, collection) else { return }
        registrations[collection]?.object = TypedValueCoder(
            coder.serializer, preSanitizer: coder.preSanitizer, postSanitizer: sanitizer)
    }

    /// Replaces each metadata with the result of `sanitizer` before it is stored in `collection`.
    public mutating func preSanitizeMetadata<Metadata: Sendable>(
        _ type: Metadata.Type, inCollection collection: String,
        _ sanitizer:
            @escaping @Sendable (_ collection: String, _ key: String, _ metadata: Metadata) -> Metadata
    ) {
        guard let coder = metadataCoder(type, collection) else { return }
        registrations[collection]?.metadata = TypedValueCoder(
            coder.serializer, preSanitizer: sanitizer, postSanitizer: coder.postSanitizer)
    }

    /// Calls `sanitizer` with each metadata after it was stored in `collection` and all extensions were notified.
    public mutating func postSanitizeMetadata<Metadata: Sendable>(
        _ type: Metadata.Type, inCollection collection: String,
        _ sanitizer: @escaping @Sendable (_ collection: String, _ key: String, _ metadata: Metadata) -> Void
    ) {
        guard let coder = metadataCoder(type, collection) else { return }
        registrations[collection]?.metadata = TypedValueCoder(
            coder.serializer, preSanitizer: coder.preSanitizer, postSanitizer: sanitizer)
    }

    private mutating func objectCoder<Value>(_ type: Value.Type, _ collection: String) -> TypedValueCoder<
        Value
    >? {
        let coder = registrations[collection]?.object as? TypedValueCoder<Value>
        if coder == nil { missing(collection, "a sanitizer for \(type), which is not registered there") }
        return coder
    }

    private mutating func metadataCoder<Value>(_ type: Value.Type, _ collection: String) -> TypedValueCoder<
        Value
    >? {
        let coder = registrations[collection]?.metadata as? TypedValueCoder<Value>
        if coder == nil {
            missing(collection, "a sanitizer for metadata \(type), which is not registered there")
        }
        return coder
    }

    private mutating func missing(_ collection: String, _ message: String) {
        mistakes.append(YapDatabaseError(.missingRegistration, message, collection: collection))
    }
}

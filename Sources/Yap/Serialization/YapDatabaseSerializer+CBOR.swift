extension YapDatabaseSerializer where Value: Codable {
    /// CBOR (RFC 8949), the form in which objects are stored unless the app says otherwise.
    public static func cbor() -> YapDatabaseSerializer { cbor(version: 1) }

    /// The same for a model that has changed: `register(_:inCollection:default:version:upgrade:)` has the parameters.
    static func cbor(
        default value: Value? = nil, version: Int,
        upgrade: (@Sendable (inout YapDatabaseStoredObject) throws -> Void)? = nil
    ) -> YapDatabaseSerializer {
        // What can't be encoded has no defaults, and is told at its first write.
        let model = CBORModel<Value>(
            version: version, defaults: value.flatMap { try? CBOREncoder().encode($0) }, upgrade: upgrade)
        return YapDatabaseSerializer(encode: model.encode, decode: model.decode, propertyKeeping: model)
    }
}

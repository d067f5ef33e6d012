extension YapDatabaseSerializer where Value: Codable {
    /// Returns a serializer for CBOR (RFC 8949), the default format of stored objects.
    public static func cbor() -> YapDatabaseSerializer { cbor(version: 1) }

    /// Returns a serializer for a model that has changed. Parameters: see
    /// `register(_:inCollection:default:version:upgrade:)`.
    static func cbor(
        default value: Value? = nil, version: Int,
        upgrade: (@Sendable (inout YapDatabaseStoredObject) throws -> Void)? = nil
    ) -> YapDatabaseSerializer {
        // Defaults that can't be encoded are ignored; the first write reports the error.
        let model = CBORModel<Value>(
            version: version, defaults: value.flatMap { try? CBOREncoder().encode($0) }, upgrade: upgrade)
        return YapDatabaseSerializer(encode: model.encode, decode: model.decode, propertyKeeping: model)
    }
}

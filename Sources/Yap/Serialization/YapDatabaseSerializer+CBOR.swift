extension YapDatabaseSerializer where Value: Codable {
    /// CBOR (RFC 8949), the form in which objects are stored unless the app says otherwise.
    public static func cbor() -> YapDatabaseSerializer {
        YapDatabaseSerializer(
            encode: { try CBOREncoder().encode($0) },
            decode: { try CBORDecoder().decode(Value.self, from: $0) })
    }
}

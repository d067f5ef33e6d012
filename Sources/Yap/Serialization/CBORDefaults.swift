/// What an object that was stored without a property has in its place.
///
/// Stored bytes are decoded as they are; what they lack is found out by the error, since only the type knows what it
/// asks for. Most rows lack nothing, and cost nothing more.
extension CBORValueDecoder {
    /// Decodes the value of `child` with what it lacks taken from its type's defaults.
    ///
    /// - Throws: `error` when the type has none for it.
    func decodeWithDefaults<Value: Decodable>(
        _ type: Value.Type, _ child: CBORValueDecoder, _ error: any Error
    ) throws -> Value {
        guard case DecodingError.keyNotFound = error, let defaults = try defaults(of: type, child) else {
            throw error
        }
        var (map, error) = (try CBORMap(child.itemBytes), error)
        // Each attempt tells of one key that is absent.
        for _ in 0..<CBORLimits.defaultsMax {
            guard case DecodingError.keyNotFound(let key, let context) = error,
                try map.fill(
                    key.stringValue,
                    at: context.codingPath.dropFirst(child.codingPath.count).map(\.stringValue),
                    from: defaults)
            else { break }
            do { return try decode(type, from: map.bytes, as: child) } catch let next { error = next }
        }
        throw error
    }

    private func defaults<Value>(of type: Value.Type, _ child: CBORValueDecoder) throws -> CBORMap? {
        if let model = type as? any YapDatabaseModel.Type {
            return try CBORMap(try Self.encoded(model.init()))
        }
        return try isRoot ? rootDefaults.map { try CBORMap($0) } : nil
    }

    private static func encoded(_ value: some Encodable) throws -> [UInt8] { try CBOREncoder().encode(value) }

    private func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], as child: CBORValueDecoder
    ) throws -> Value {
        try bytes.withUnsafeBytes { bytes in
            let input = CBORInput(bytes)
            defer { input.invalidate() }
            return try type.init(from: child.reading(input))
        }
    }
}

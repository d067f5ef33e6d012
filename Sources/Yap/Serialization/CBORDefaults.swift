/// Default values for properties that a stored object lacks.
///
/// Stored bytes are decoded unchanged. A missing property is detected by the error, because only the type knows which
/// it requests. Most rows lack nothing, and cost nothing more.
extension CBORValueDecoder {
    /// Decodes the value of `child`, and takes missing properties from its type's defaults.
    ///
    /// - Throws: `error` if the type has no default for it.
    func decodeWithDefaults<Value: Decodable>(
        _ type: Value.Type, _ child: CBORValueDecoder, _ error: any Error
    ) throws -> Value {
        guard case DecodingError.keyNotFound = error, let defaults = try defaults(of: type, child) else {
            throw error
        }
        var (map, error) = (try CBORMap(child.itemBytes), error)
        // Each attempt finds one missing key.
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

/// A single value of any kind.
struct CBORSingleValueDecodingContainer: SingleValueDecodingContainer {
    let decoder: CBORValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.input.isNull(at: decoder.offset) }

    func decode(_ type: Bool.Type) throws -> Bool { try scalar() }
    func decode(_ type: String.Type) throws -> String { try scalar() }
    func decode(_ type: Double.Type) throws -> Double { try scalar() }
    func decode(_ type: Float.Type) throws -> Float { try scalar() }
    func decode(_ type: Int.Type) throws -> Int { try scalar() }
    func decode(_ type: Int8.Type) throws -> Int8 { try scalar() }
    func decode(_ type: Int16.Type) throws -> Int16 { try scalar() }
    func decode(_ type: Int32.Type) throws -> Int32 { try scalar() }
    func decode(_ type: Int64.Type) throws -> Int64 { try scalar() }
    func decode(_ type: UInt.Type) throws -> UInt { try scalar() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.value(type, at: decoder.offset, key: nil)
    }

    @inline(__always)
    private func scalar<Value: CBORScalar>() throws -> Value {
        do {
            return try Value.read(decoder.input, at: decoder.offset)
        } catch {
            throw decoder.error(error, wanted: Value.self)
        }
    }
}

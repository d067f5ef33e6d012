/// A map. Its keys are indexed once; its values are decoded when they are requested.
struct CBORKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// The only property, because the standard library copies this value at each call.
    private let index: CBORMapIndex

    init(decoder: CBORValueDecoder) throws {
        do {
            index = try CBORMapIndex(decoder)
        } catch {
            throw decoder.error(error, wanted: "a map")
        }
    }

    private var decoder: CBORValueDecoder { index.decoder }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        index.texts.compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool {
        find(key) != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        decoder.input.isNull(at: try require(key))
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try scalar(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try scalar(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try scalar(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try scalar(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try scalar(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try scalar(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try scalar(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try scalar(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try scalar(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try scalar(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try scalar(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.value(type, at: try require(key), key: key)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try scalarIfPresent(key) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let offset = find(key), !decoder.input.isNull(at: offset) else { return nil }
        return try decoder.value(type, at: offset, key: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let offset = find("super") else { throw notFound(CBORKey.superclass) }
        return decoder.child(at: offset, key: CBORKey.superclass)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoder.child(at: try require(key), key: key)
    }

    // MARK: Finding

    @inline(__always)
    private func find(_ key: Key) -> Int? {
        find(key.stringValue)
    }

    private func find(_ key: String) -> Int? {
        var key = key
        return key.withUTF8 { index.valueOffset(of: UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    private func require(_ key: Key) throws -> Int {
        guard let offset = find(key) else { throw notFound(key) }
        return offset
    }

    private func notFound(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(
            key,
            .init(codingPath: codingPath, debugDescription: "No value for the key \"\(key.stringValue)\"."))
    }

    // MARK: Reading

    @inline(__always)
    private func scalar<Value: CBORScalar>(_ key: Key) throws -> Value {
        try scalar(at: try require(key), key)
    }

    @inline(__always)
    private func scalarIfPresent<Value: CBORScalar>(_ key: Key) throws -> Value? {
        guard let offset = find(key), !decoder.input.isNull(at: offset) else { return nil }
        return try scalar(at: offset, key)
    }

    @inline(__always)
    private func scalar<Value: CBORScalar>(at offset: Int, _ key: Key) throws -> Value {
        do {
            return try Value.read(decoder.input, at: offset)
        } catch {
            throw decoder.error(error, key: key, wanted: Value.self)
        }
    }
}

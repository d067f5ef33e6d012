/// The keyed container of a `CBORValueEncoder`.
struct CBORKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: CBORValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) throws { try encoder.put(key.stringValue).writeNull() }
    func encode(_ value: Bool, forKey key: Key) throws { try encoder.put(key.stringValue).write(value) }
    func encode(_ value: String, forKey key: Key) throws { try encoder.put(key.stringValue).write(value) }
    func encode(_ value: Double, forKey key: Key) throws { try encoder.put(key.stringValue).write(value) }
    func encode(_ value: Float, forKey key: Key) throws { try encoder.put(key.stringValue).write(value) }
    func encode(_ value: Int, forKey key: Key) throws { try encoder.put(key.stringValue).write(Int64(value)) }
    func encode(_ value: Int8, forKey key: Key) throws {
        try encoder.put(key.stringValue).write(Int64(value))
    }
    func encode(_ value: Int16, forKey key: Key) throws {
        try encoder.put(key.stringValue).write(Int64(value))
    }
    func encode(_ value: Int32, forKey key: Key) throws {
        try encoder.put(key.stringValue).write(Int64(value))
    }
    func encode(_ value: Int64, forKey key: Key) throws { try encoder.put(key.stringValue).write(value) }
    func encode(_ value: UInt, forKey key: Key) throws {
        try encoder.put(key.stringValue).write(UInt64(value))
    }
    func encode(_ value: UInt8, forKey key: Key) throws {
        try encoder.put(key.stringValue).write(UInt64(value))
    }
    func encode(_ value: UInt16, forKey key: Key) throws {
        try encoder.put(key.stringValue).write(UInt64(value))
    }
    func encode(_ value: UInt32, forKey key: Key) throws {
        try encoder.put(key.stringValue).write(UInt64(value))
    }
    func encode(_ value: UInt64, forKey key: Key) throws { try encoder.put(key.stringValue).write(value) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let offset = encoder.output.count
        _ = try encoder.put(key.stringValue)
        guard !encoder.writeOwnForm(value) else { return }
        try encoder.writeInside(value, putAt: offset, key: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        detach(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        detach(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { detach(CBORKey.superclass) }

    func superEncoder(forKey key: Key) -> any Encoder { detach(key) }

    private func detach(_ key: any CodingKey) -> CBORValueEncoder {
        encoder.detach(key: key) { try encoder.put(key.stringValue) }
    }
}

/// The unkeyed container of a `CBORValueEncoder`.
struct CBORUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let encoder: CBORValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    func encodeNil() throws { try encoder.putItem().writeNull() }
    func encode(_ value: Bool) throws { try encoder.putItem().write(value) }
    func encode(_ value: String) throws { try encoder.putItem().write(value) }
    func encode(_ value: Double) throws { try encoder.putItem().write(value) }
    func encode(_ value: Float) throws { try encoder.putItem().write(value) }
    func encode(_ value: Int) throws { try encoder.putItem().write(Int64(value)) }
    func encode(_ value: Int8) throws { try encoder.putItem().write(Int64(value)) }
    func encode(_ value: Int16) throws { try encoder.putItem().write(Int64(value)) }
    func encode(_ value: Int32) throws { try encoder.putItem().write(Int64(value)) }
    func encode(_ value: Int64) throws { try encoder.putItem().write(value) }
    func encode(_ value: UInt) throws { try encoder.putItem().write(UInt64(value)) }
    func encode(_ value: UInt8) throws { try encoder.putItem().write(UInt64(value)) }
    func encode(_ value: UInt16) throws { try encoder.putItem().write(UInt64(value)) }
    func encode(_ value: UInt32) throws { try encoder.putItem().write(UInt64(value)) }
    func encode(_ value: UInt64) throws { try encoder.putItem().write(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let offset = encoder.output.count
        let index = count
        _ = try encoder.putItem()
        guard !encoder.writeOwnForm(value) else { return }
        try encoder.writeInside(value, putAt: offset, key: CBORKey(index: index))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        detach().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        detach().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { detach() }

    private func detach() -> CBORValueEncoder {
        encoder.detach(key: CBORKey(index: count)) { try encoder.putItem() }
    }
}

/// The single-value container of a `CBORValueEncoder`.
struct CBORSingleValueEncodingContainer: SingleValueEncodingContainer {
    let encoder: CBORValueEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { try encoder.putSingle().writeNull() }
    func encode(_ value: Bool) throws { try encoder.putSingle().write(value) }
    func encode(_ value: String) throws { try encoder.putSingle().write(value) }
    func encode(_ value: Double) throws { try encoder.putSingle().write(value) }
    func encode(_ value: Float) throws { try encoder.putSingle().write(value) }
    func encode(_ value: Int) throws { try encoder.putSingle().write(Int64(value)) }
    func encode(_ value: Int8) throws { try encoder.putSingle().write(Int64(value)) }
    func encode(_ value: Int16) throws { try encoder.putSingle().write(Int64(value)) }
    func encode(_ value: Int32) throws { try encoder.putSingle().write(Int64(value)) }
    func encode(_ value: Int64) throws { try encoder.putSingle().write(value) }
    func encode(_ value: UInt) throws { try encoder.putSingle().write(UInt64(value)) }
    func encode(_ value: UInt8) throws { try encoder.putSingle().write(UInt64(value)) }
    func encode(_ value: UInt16) throws { try encoder.putSingle().write(UInt64(value)) }
    func encode(_ value: UInt32) throws { try encoder.putSingle().write(UInt64(value)) }
    func encode(_ value: UInt64) throws { try encoder.putSingle().write(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let offset = encoder.output.count
        _ = try encoder.putSingle()
        if !encoder.writeOwnForm(value) { try encoder.writeInside(value, putAt: offset, key: nil) }
    }
}

/// An array, read from the first item to the last.
struct CBORUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    private let decoder: CBORValueDecoder
    private let itemsCount: Int
    private var offset: Int
    private(set) var currentIndex = 0

    init(decoder: CBORValueDecoder) throws {
        self.decoder = decoder
        do {
            (itemsCount, offset) = try decoder.input.container(at: decoder.offset, major: 4)
        } catch {
            throw decoder.error(error, wanted: "an array")
        }
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { itemsCount }
    var isAtEnd: Bool { currentIndex >= itemsCount }

    mutating func decodeNil() throws -> Bool {
        try requireItem(Never.self)
        guard decoder.input.isNull(at: offset) else { return false }
        try advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try scalar() }
    mutating func decode(_ type: String.Type) throws -> String { try scalar() }
    mutating func decode(_ type: Double.Type) throws -> Double { try scalar() }
    mutating func decode(_ type: Float.Type) throws -> Float { try scalar() }
    mutating func decode(_ type: Int.Type) throws -> Int { try scalar() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try scalar() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try scalar() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try scalar() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try scalar() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try scalar() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try requireItem(type)
        let value = try decoder.value(type, at: offset, key: CBORKey(index: currentIndex))
        try advance()
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        try requireItem((any Decoder).self)
        let child = child()
        try advance()
        return child
    }

    // MARK: Reading

    @inline(__always)
    private mutating func scalar<Value: CBORScalar>() throws -> Value {
        try requireItem(Value.self)
        let value: Value
        do {
            value = try Value.read(decoder.input, at: offset)
        } catch {
            throw decoder.error(error, key: CBORKey(index: currentIndex), wanted: Value.self)
        }
        try advance()
        return value
    }

    private func child() -> CBORValueDecoder {
        decoder.child(at: offset, key: CBORKey(index: currentIndex))
    }

    /// Moves past the item. Called after it was decoded, so that a caller that catches an error can try another type.
    private mutating func advance() throws {
        do {
            offset = try decoder.input.end(ofItemAt: offset)
        } catch {
            throw decoder.error(error, wanted: "an item")
        }
        currentIndex += 1
    }

    private func requireItem(_ type: Any.Type) throws {
        guard isAtEnd else { return }
        let path = codingPath + [CBORKey(index: currentIndex)]
        let reason = "The array has only \(itemsCount) items."
        throw DecodingError.valueNotFound(type, .init(codingPath: path, debugDescription: reason))
    }
}

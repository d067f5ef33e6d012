import FoundationEssentials

/// The decoder passed to a value's `init(from:)`.
final class CBORValueDecoder: Decoder {
    let input: CBORInput
    let offset: Int
    /// Bytes with default values for the outermost object, if its type has none itself.
    let rootDefaults: [UInt8]?
    /// Records the names that the outermost object's type requests. Nil within it, and if they aren't needed.
    let asked: AskedNames?
    private let parent: CBORValueDecoder?
    private let key: (any CodingKey)?

    init(
        input: CBORInput, offset: Int, parent: CBORValueDecoder?, key: (any CodingKey)?,
        rootDefaults: [UInt8]? = nil, asked: AskedNames? = nil
    ) {
        self.input = input
        self.offset = offset
        self.parent = parent
        self.key = key
        self.rootDefaults = rootDefaults
        self.asked = asked
    }

    func child(at offset: Int, key: (any CodingKey)?) -> CBORValueDecoder {
        // A type that wraps another one is decoded in the same place.
        CBORValueDecoder(
            input: input, offset: offset, parent: self, key: key,
            asked: key == nil && offset == self.offset ? asked : nil)
    }

    /// Returns a decoder at the same place of the value that reads other bytes, which contain nothing else.
    func reading(_ input: CBORInput) -> CBORValueDecoder {
        CBORValueDecoder(input: input, offset: 0, parent: parent, key: key, asked: asked)
    }

    /// True if its value is the outermost one.
    var isRoot: Bool { parent == nil }

    /// The bytes of the value.
    var itemBytes: UnsafeRawBufferPointer {
        get throws {
            UnsafeRawBufferPointer(rebasing: input.bytes[offset..<(try input.end(ofItemAt: offset))])
        }
    }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var node: CBORValueDecoder? = self
        while let current = node {
            if let key = current.key { path.append(key) }
            node = current.parent
        }
        return path.reversed()
    }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try CBORKeyedDecodingContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try CBORUnkeyedDecodingContainer(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        CBORSingleValueDecodingContainer(decoder: self)
    }

    /// Returns the error for `fault` in the value of `key`, or in this one.
    func error(_ fault: CBORFault, key: (any CodingKey)? = nil, wanted type: Any.Type) -> DecodingError {
        error(fault, key: key, type: type, wanted: "\(type)")
    }

    /// Returns the error for `fault` where a container was requested.
    func error(_ fault: CBORFault, wanted: String) -> DecodingError {
        error(fault, key: nil, type: Any.self, wanted: wanted)
    }

    private func error(
        _ fault: CBORFault, key: (any CodingKey)?, type: Any.Type, wanted: String
    ) -> DecodingError {
        func context(_ description: String) -> DecodingError.Context {
            .init(
                codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: description,
                underlyingError: fault)
        }
        switch fault {
        case .malformed(let offset, let reason):
            return .dataCorrupted(context("Malformed CBOR at byte \(offset): \(reason)."))
        case .mismatch(let found):
            return .typeMismatch(type, context("Wanted \(wanted), found \(found)."))
        case .null:
            return .valueNotFound(type, context("Wanted \(wanted), found null."))
        }
    }
}

extension CBORValueDecoder {
    /// Decodes the value at `offset`: from its type's own form, if it has one, or through its `init(from:)`.
    ///
    /// No intermediate result is optional, because the optional of a type unknown at compile time costs a table
    /// look-up. Each cast is preceded by the proof that the types are the same. `key` names the value in errors.
    @inline(__always)
    func value<Value: Decodable>(
        _ type: Value.Type, at offset: Int, key: @autoclosure () -> (any CodingKey)?
    ) throws -> Value {
        do {
            if type == String.self { return unsafeBitCast(try input.text(at: offset), to: type) }
            if type == Int.self { return unsafeBitCast(try input.integer(Int.self, at: offset), to: type) }
            if type == Double.self {
                return unsafeBitCast(try input.float(Double.self, at: offset), to: type)
            }
            if type == Bool.self { return unsafeBitCast(try input.bool(at: offset), to: type) }
            if type == Date.self { return unsafeBitCast(try input.date(at: offset), to: type) }
            if type == UUID.self { return unsafeBitCast(try input.uuid(at: offset), to: type) }
            if type == Data.self { return unsafeBitCast(Data(try input.byteString(at: offset)), to: type) }
            if type == [UInt8].self, try input.head(at: offset).major == 2 {
                return unsafeBitCast([UInt8](try input.byteString(at: offset)), to: type)
            }
            if type == URL.self, try input.head(at: offset).major == 3 {
                return unsafeBitCast(try input.url(at: offset), to: type)
            }
        } catch {
            throw self.error(error, key: key(), wanted: type)
        }
        // An array that can't be read here is read again item by item, so that the error names the item.
        if type == [String].self, let array = input.array(String.self, at: offset) {
            return unsafeBitCast(array, to: type)
        }
        if type == [Int].self, let array = input.array(Int.self, at: offset) {
            return unsafeBitCast(array, to: type)
        }
        if type == [Double].self, let array = input.array(Double.self, at: offset) {
            return unsafeBitCast(array, to: type)
        }
        let child = child(at: offset, key: key())
        do {
            return try type.init(from: child)
        } catch {
            return try decodeWithDefaults(type, child, error)
        }
    }
}

extension CBORInput {
    fileprivate func date(at offset: Int) throws(CBORFault) -> Date {
        Date(timeIntervalSinceReferenceDate: try float(Double.self, at: offset))
    }

    fileprivate func byteString(at offset: Int) throws(CBORFault) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[try contents(at: offset, major: 2)])
    }

    fileprivate func uuid(at offset: Int) throws(CBORFault) -> UUID {
        let bytes = try byteString(at: offset)
        guard bytes.count == 16 else { throw .mismatch(found: "\(bytes.count) bytes, not 16") }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    fileprivate func url(at offset: Int) throws(CBORFault) -> URL {
        let text = try text(at: offset)
        guard let url = URL(string: text) else { throw .mismatch(found: "a text that is no URL") }
        return url
    }

    /// Returns the array at `offset`, or nil if there is none or an item isn't an `Item`.
    fileprivate func array<Item: CBORScalar>(_ type: Item.Type, at offset: Int) -> [Item]? {
        guard let (count, start) = try? container(at: offset, major: 4) else { return nil }
        var items: [Item] = []
        items.reserveCapacity(count)
        var position = start
        for _ in 0..<count {
            guard let item = try? Item.read(self, at: position), let end = try? end(ofItemAt: position) else {
                return nil
            }
            items.append(item)
            position = end
        }
        return items
    }
}

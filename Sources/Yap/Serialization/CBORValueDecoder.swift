import FoundationEssentials

/// The decoder that one value's `init(from:)` sees.
final class CBORValueDecoder: Decoder {
    let input: CBORInput
    let offset: Int
    private let parent: CBORValueDecoder?
    private let key: (any CodingKey)?

    init(input: CBORInput, offset: Int, parent: CBORValueDecoder?, key: (any CodingKey)?) {
        self.input = input
        self.offset = offset
        self.parent = parent
        self.key = key
    }

    func child(at offset: Int, key: any CodingKey) -> CBORValueDecoder {
        CBORValueDecoder(input: input, offset: offset, parent: self, key: key)
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

    /// What a caller is told about `fault` in the value of `key`, or in this one.
    func error(_ fault: CBORFault, key: (any CodingKey)? = nil, wanted type: Any.Type) -> DecodingError {
        error(fault, key: key, type: type, wanted: "\(type)")
    }

    /// What a caller is told about `fault` where a container was asked for.
    func error(_ fault: CBORFault, wanted: String) -> DecodingError {
        error(fault, key: nil, type: Any.self, wanted: wanted)
    }

    private func error(
        _ fault: CBORFault, key: (any CodingKey)?, type: Any.Type, wanted: String
    ) -> DecodingError {
        func context(_ description: String) -> DecodingError.Context {
            .init(codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: description)
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

extension CBORInput {
    /// The value at `offset` if its type has a form that its `init(from:)` does not know; nil if it has none.
    ///
    /// Each cast is preceded by the proof that the types are the same one.
    func ownForm<Value>(_ type: Value.Type, at offset: Int) throws(CBORFault) -> Value? {
        if type == String.self { return unsafeBitCast(try text(at: offset), to: type) }
        if type == Int.self { return unsafeBitCast(try integer(Int.self, at: offset), to: type) }
        if type == Double.self { return unsafeBitCast(try float(Double.self, at: offset), to: type) }
        if type == Bool.self { return unsafeBitCast(try bool(at: offset), to: type) }
        if type == Date.self {
            let date = Date(timeIntervalSinceReferenceDate: try float(Double.self, at: offset))
            return unsafeBitCast(date, to: type)
        }
        if type == UUID.self { return unsafeBitCast(try uuid(at: offset), to: type) }
        if type == Data.self {
            return unsafeBitCast(Data(bytes[try contents(at: offset, major: 2)]), to: type)
        }
        if type == [UInt8].self, try head(at: offset).major == 2 {
            return unsafeBitCast([UInt8](bytes[try contents(at: offset, major: 2)]), to: type)
        }
        if type == URL.self, try head(at: offset).major == 3 {
            return unsafeBitCast(try url(at: offset), to: type)
        }
        return nil
    }

    private func uuid(at offset: Int) throws(CBORFault) -> UUID {
        let range = try contents(at: offset, major: 2)
        guard range.count == 16 else { throw .mismatch(found: "\(range.count) bytes, not 16") }
        return UUID(uuid: bytes.loadUnaligned(fromByteOffset: range.lowerBound, as: uuid_t.self))
    }

    private func url(at offset: Int) throws(CBORFault) -> URL {
        let text = try text(at: offset)
        guard let url = URL(string: text) else { throw .mismatch(found: "a text that is no URL") }
        return url
    }
}

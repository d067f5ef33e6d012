/// A stored value without its type, for tools that inspect a file.
package indirect enum StoredValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// An integer beyond `Int64`.
    case unsigned(UInt64)
    case double(Double)
    /// A number of 32 bits.
    case float(Float)
    case text(String)
    case bytes([UInt8])
    case array([StoredValue])
    /// In stored order, which for an object is the order of its properties.
    case map([Entry])
    /// Bytes that aren't CBOR of this format, from a custom serializer of the app.
    case foreign([UInt8])

    /// A key of a map and its value.
    package struct Entry: Equatable, Sendable {
        package let key: StoredValue
        package let value: StoredValue

        package init(key: StoredValue, value: StoredValue) { (self.key, self.value) = (key, value) }
    }

    /// Parses the bytes of an object, without properties kept for other versions of its type.
    ///
    /// - Parameter bytes: Column `data` of a row.
    package init(object bytes: UnsafeRawBufferPointer) {
        self = (try? StoredForm(bytes)).map { Self(cbor: $0.object) } ?? .foreign([UInt8](bytes))
    }

    /// Parses one CBOR item. Other bytes are `foreign`.
    package init(cbor bytes: UnsafeRawBufferPointer) {
        let input = CBORInput(bytes)
        guard (try? input.checkWhole()) != nil, let value = try? Self.read(input, at: 0) else {
            self = .foreign([UInt8](bytes))
            return
        }
        self = value.value
    }

    /// Returns the item at `offset`, and its end. All items are known to be well-formed and of bounded depth.
    private static func read(_ input: CBORInput, at offset: Int) throws -> (value: StoredValue, end: Int) {
        let head = try input.head(at: offset)
        switch head.major {
        case 0:
            return (Int64(exactly: head.argument).map { .integer($0) } ?? .unsigned(head.argument), head.end)
        case 1: return (.integer(try input.integer(Int64.self, at: offset)), head.end)
        case 2:
            let range = try input.contents(at: offset, major: 2)
            return (.bytes([UInt8](input.bytes[range])), range.upperBound)
        case 3: return (.text(try input.text(at: offset)), try input.end(ofItemAt: offset))
        case 4:
            var (values, end) = ([StoredValue](), head.end)
            for _ in 0..<(try input.container(at: offset, major: 4).count) {
                let item = try read(input, at: end)
                values.append(item.value)
                end = item.end
            }
            return (.array(values), end)
        case 5:
            var (entries, end) = ([Entry](), head.end)
            for _ in 0..<(try input.container(at: offset, major: 5).count) {
                let key = try read(input, at: end)
                let value = try read(input, at: key.end)
                entries.append(Entry(key: key.value, value: value.value))
                end = value.end
            }
            return (.map(entries), end)
        default: return (try simple(input, head, at: offset), head.end)
        }
    }

    private static func simple(_ input: CBORInput, _ head: CBORInput.Head, at offset: Int) throws
        -> StoredValue
    {
        switch head.info {
        case 20, 21: return .bool(head.info == 21)
        case 22: return .null
        case 26: return .float(try input.float(Float.self, at: offset))
        default: return .double(try input.float(Double.self, at: offset))
        }
    }
}

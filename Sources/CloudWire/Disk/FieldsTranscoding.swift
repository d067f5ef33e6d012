extension JSONWriter {
    /// Writes the JSON object of fields directly from their binary form, without decoding them to `Field`
    /// values.
    ///
    /// Most of the time for a page of changes is spent here. If `FieldsBinary.encode` can't have made the
    /// bytes, `finish` throws.
    mutating func storedFields(_ bytes: [UInt8]) {
        open(UInt8(ascii: "{"))
        do throws(BinaryError) {
            var reader = BinaryReader(bytes[...])
            try storedFields(&reader)
        } catch {
            fail(JSONError(.notRepresentable, "fields that can't be read: \(error.reason)"))
        }
        close(UInt8(ascii: "}"))
    }

    private mutating func storedFields(_ reader: inout BinaryReader) throws(BinaryError) {
        guard try reader.byte() == FieldsBinary.formatVersion else {
            throw reader.error("fields of an unknown version")
        }
        var previous: ArraySlice<UInt8> = []
        for index in 0..<(try reader.count()) {
            let name = try reader.textBytes()
            guard index == 0 || previous.lexicographicallyPrecedes(name) else {
                throw reader.error("fields that are not sorted")
            }
            try text(name, reader)
            endKey()
            try storedField(&reader)
            previous = name
        }
        try reader.expectEnd()
    }

    private mutating func storedField(_ reader: inout BinaryReader) throws(BinaryError) {
        let flags = try reader.fieldFlags()
        var type: FieldType?
        if flags.contains(.otherType) { type = try reader.type() }
        open(UInt8(ascii: "{"))
        key("value")
        if flags.contains(.value) {
            let valueType = try reader.type()
            guard type != valueType else { throw reader.error("a duplicate type") }
            if flags.contains(.typeOfValue) { type = valueType }
            try storedValue(of: valueType, &reader)
        } else {
            null()
        }
        member("type", type?.rawValue)
        if flags.contains(.encrypted) { member("isEncrypted", true) }
        close(UInt8(ascii: "}"))
    }

    private mutating func storedValue(of type: FieldType, _ reader: inout BinaryReader) throws(BinaryError) {
        switch type {
        case .string: try text(reader.textBytes(), reader)
        case .int64, .timestamp: fieldNumber(try reader.signed())
        case .double: fieldNumber(try reader.double())
        case .bytes, .encryptedBytes: base64(try reader.textBytes())
        case .reference, .location, .asset: try reader.value(of: type).write(to: &self)
        default:
            open(UInt8(ascii: "["))
            for _ in 0..<(try reader.count()) {
                let elementType = if let known = type.elementType { known } else { try reader.type() }
                guard !elementType.isList else { throw reader.error("a list inside a list") }
                try storedValue(of: elementType, &reader)
            }
            close(UInt8(ascii: "]"))
        }
    }

    private mutating func text(_ utf8: ArraySlice<UInt8>, _ reader: borrowing BinaryReader)
        throws(BinaryError)
    {
        guard value(utf8: utf8) else { throw reader.error("text that is not UTF-8") }
    }
}

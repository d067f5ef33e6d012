/// The binary format of a record's fields on disk: in a device's queue and in the server's rows.
///
/// Equal fields have equal bytes: the fields are sorted by the bytes of their names, and each part has
/// exactly one encoding. docs/DISK_FORMAT.md describes the layout. A change of the layout needs a new
/// version, and old versions stay readable.
package enum FieldsBinary {
    static let formatVersion: UInt8 = 1
    /// Capacity in bytes that is enough for most fields.
    private static let fieldBytesGuess = 48

    /// Encodes `fields`.
    ///
    /// Precondition: a list contains values of its type only, and no lists. Only our own code makes lists.
    /// The zone type of a reference's zone isn't stored, because it isn't part of the zone's identity.
    package static func encode(_ fields: [String: Field]) -> [UInt8] {
        var writer = BinaryWriter()
        writer.reserveCapacity(fields.count * fieldBytesGuess)
        writer.byte(formatVersion)
        writer.unsigned(UInt64(fields.count))
        for (name, field) in fields.sorted(by: { bytesPrecede($0.key, $1.key) }) {
            writer.text(name)
            writer.field(field)
        }
        return writer.bytes
    }

    /// Returns true if a name's bytes come before another's. As `lexicographicallyPrecedes`.
    private static func bytesPrecede(_ left: String, _ right: String) -> Bool {
        let order = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { right in
                for index in 0..<min(left.count, right.count) where left[index] != right[index] {
                    return left[index] < right[index]
                }
                return left.count < right.count
            }
        }
        return (order ?? nil) ?? left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// Decodes fields. Throws a `BinaryError` unless `bytes` are exactly the bytes that `encode` returns for
    /// the fields.
    package static func decode(_ bytes: [UInt8]) throws(BinaryError) -> [String: Field] {
        var reader = BinaryReader(bytes[...])
        let version = try reader.byte()
        guard version == formatVersion else {
            throw BinaryError(reason: "fields of the unknown version \(version)", byteOffset: 0)
        }
        let count = try reader.count()
        var fields: [String: Field] = [:]
        fields.reserveCapacity(count)
        var previous: String?
        for _ in 0..<count {
            let name = try reader.text()
            if let previous, !previous.utf8.lexicographicallyPrecedes(name.utf8) {
                throw reader.error("fields that are not sorted")
            }
            // A dictionary treats names with different bytes as one key if they are canonically equivalent.
            guard fields.updateValue(try reader.field(), forKey: name) == nil else {
                throw reader.error("a duplicate field")
            }
            previous = name
        }
        try reader.expectEnd()
        return fields
    }
}

extension FieldType {
    private static let listBit: UInt8 = 0x20

    fileprivate var code: UInt8 {
        switch self {
        case .string: 1
        case .int64: 2
        case .double: 3
        case .timestamp: 4
        case .bytes: 5
        case .reference: 6
        case .location: 7
        case .asset: 8
        case .encryptedBytes: 9
        case .unknownList: Self.listBit
        default: Self.listBit | (elementType?.code ?? 0)
        }
    }

    private static let byCode: [FieldType?] = (0...listBit | 9).map { code in
        allCases.first { $0.code == code }
    }

    fileprivate init?(code: UInt8) {
        guard code < Self.byCode.count, let type = Self.byCode[Int(code)] else { return nil }
        self = type
    }
}

/// The flags in the byte before a field's value.
struct FieldFlags: OptionSet {
    let rawValue: UInt8
    static let encrypted = FieldFlags(rawValue: 1)
    static let value = FieldFlags(rawValue: 2)
    /// The type was sent, and is the type of the value.
    static let typeOfValue = FieldFlags(rawValue: 4)
    /// The type was sent and differs from the value's type, or the field has no value. The code of the type
    /// follows.
    static let otherType = FieldFlags(rawValue: 8)
    static let all: FieldFlags = [.encrypted, .value, .typeOfValue, .otherType]
}

// MARK: - Writing

extension BinaryWriter {
    fileprivate mutating func field(_ field: Field) {
        var flags: FieldFlags = []
        if field.isEncrypted { flags.insert(.encrypted) }
        if field.value != nil { flags.insert(.value) }
        if let type = field.type { flags.insert(type == field.value?.type ? .typeOfValue : .otherType) }
        byte(flags.rawValue)
        if flags.contains(.otherType), let type = field.type { byte(type.code) }
        if let fieldValue = field.value {
            byte(fieldValue.type.code)
            value(fieldValue)
        }
    }

    private mutating func value(_ value: FieldValue) {
        switch value {
        case .string(let string): text(string)
        case .int64(let number), .timestamp(let number): signed(number)
        case .double(let number): fixed64(number.bitPattern)
        case .bytes(let bytes), .encryptedBytes(let bytes): blob(bytes)
        case .reference(let target): reference(target)
        case .location(let place): location(place)
        case .asset(let file): asset(file)
        case .list(let type, let elements): list(type, elements)
        }
    }

    private mutating func list(_ type: FieldType, _ elements: [FieldValue]) {
        unsigned(UInt64(elements.count))
        for element in elements {
            if let elementType = type.elementType {
                precondition(
                    element.type == elementType, "a \(type.rawValue) that holds a \(element.type.rawValue)")
            } else {
                precondition(!element.type.isList, "a list inside a list")
                byte(element.type.code)
            }
            value(element)
        }
    }

    private mutating func reference(_ target: Reference) {
        let action: UInt8 =
            switch target.action {
            case nil: 0
            case .some(.none): 1
            case .deleteSelf: 2
            case .validate: 3
            }
        byte(action | (target.zoneID == nil ? 0 : 4) | (target.zoneID?.ownerRecordName == nil ? 0 : 8))
        text(target.recordName)
        if let zoneID = target.zoneID {
            text(zoneID.zoneName)
            if let owner = zoneID.ownerRecordName { text(owner) }
        }
    }

    private mutating func location(_ place: Location) {
        let optional = place.optionalParts
        byte(presence(optional.map { $0 != nil } + [place.timestampMilliseconds != nil]))
        fixed64(place.latitude.bitPattern)
        fixed64(place.longitude.bitPattern)
        for part in optional { if let part { fixed64(part.bitPattern) } }
        if let milliseconds = place.timestampMilliseconds { signed(milliseconds) }
    }

    private mutating func asset(_ file: Asset) {
        let texts = file.texts
        byte(presence(texts.map { $0 != nil } + [file.size != nil]))
        for part in texts { if let part { text(part) } }
        if let size = file.size { signed(size) }
    }

    /// Returns a bit for each part, set if the part is present. The first part has the lowest bit.
    private func presence(_ parts: [Bool]) -> UInt8 {
        parts.enumerated().reduce(0) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) }
    }
}

extension Location {
    fileprivate var optionalParts: [Double?] {
        [horizontalAccuracy, verticalAccuracy, altitude, speed, course]
    }
}

extension Asset {
    fileprivate var texts: [String?] {
        [fileChecksum, wrappingKey, referenceChecksum, receipt, downloadURL, downloadedData]
    }
}

// MARK: - Reading

extension BinaryReader {
    fileprivate mutating func field() throws(BinaryError) -> Field {
        let flags = try fieldFlags()
        var field = Field(value: nil, type: nil, isEncrypted: flags.contains(.encrypted))
        if flags.contains(.otherType) { field.type = try type() }
        guard flags.contains(.value) else { return field }
        let valueType = try type()
        guard field.type != valueType else { throw error("a duplicate type") }
        field.value = try value(of: valueType)
        if flags.contains(.typeOfValue) { field.type = valueType }
        return field
    }

    mutating func fieldFlags() throws(BinaryError) -> FieldFlags {
        let flags = FieldFlags(rawValue: try byte())
        guard flags.isSubset(of: .all), !flags.isSuperset(of: [.typeOfValue, .otherType]),
            flags.contains(.value) || !flags.contains(.typeOfValue)
        else { throw error("unknown flags of a field") }
        return flags
    }

    mutating func type() throws(BinaryError) -> FieldType {
        guard let type = FieldType(code: try byte()) else { throw error("an unknown field type") }
        return type
    }

    mutating func value(of type: FieldType) throws(BinaryError) -> FieldValue {
        switch type {
        case .string: return .string(try text())
        case .int64: return .int64(try signed())
        case .double: return .double(try double())
        case .timestamp: return .timestamp(milliseconds: try signed())
        case .bytes: return .bytes(try blob())
        case .encryptedBytes: return .encryptedBytes(try blob())
        case .reference: return .reference(try reference())
        case .location: return .location(try location())
        case .asset: return .asset(try asset())
        default: return .list(type, try elements(of: type))
        }
    }

    private mutating func elements(of type: FieldType) throws(BinaryError) -> [FieldValue] {
        let count = try count()
        var elements: [FieldValue] = []
        for _ in 0..<count {
            let elementType = if let known = type.elementType { known } else { try self.type() }
            guard !elementType.isList else { throw error("a list inside a list") }
            elements.append(try value(of: elementType))
        }
        return elements
    }

    mutating func double() throws(BinaryError) -> Double { Double(bitPattern: try fixed64()) }

    private mutating func reference() throws(BinaryError) -> Reference {
        let flags = try byte()
        guard flags < 16, flags & 8 == 0 || flags & 4 != 0 else {
            throw error("unknown flags of a reference")
        }
        let actions: [Reference.Action?] = [nil, Reference.Action.none, .deleteSelf, .validate]
        var target = Reference(recordName: try text(), action: actions[Int(flags & 3)])
        if flags & 4 != 0 {
            var zoneID = ZoneID(zoneName: try text())
            if flags & 8 != 0 { zoneID.ownerRecordName = try text() }
            target.zoneID = zoneID
        }
        return target
    }

    private mutating func location() throws(BinaryError) -> Location {
        let presence = try byte()
        guard presence < 64 else { throw error("unknown flags of a location") }
        var place = Location(latitude: try double(), longitude: try double())
        if presence & 1 != 0 { place.horizontalAccuracy = try double() }
        if presence & 2 != 0 { place.verticalAccuracy = try double() }
        if presence & 4 != 0 { place.altitude = try double() }
        if presence & 8 != 0 { place.speed = try double() }
        if presence & 16 != 0 { place.course = try double() }
        if presence & 32 != 0 { place.timestampMilliseconds = try signed() }
        return place
    }

    private mutating func asset() throws(BinaryError) -> Asset {
        let presence = try byte()
        guard presence < 128 else { throw error("unknown flags of an asset") }
        var file = Asset()
        if presence & 1 != 0 { file.fileChecksum = try text() }
        if presence & 2 != 0 { file.wrappingKey = try text() }
        if presence & 4 != 0 { file.referenceChecksum = try text() }
        if presence & 8 != 0 { file.receipt = try text() }
        if presence & 16 != 0 { file.downloadURL = try text() }
        if presence & 32 != 0 { file.downloadedData = try text() }
        if presence & 64 != 0 { file.size = try signed() }
        return file
    }
}

import CloudStore
import CloudWire

/// Encodes values as bytes with the same order as the values. Indexes store these bytes, and queries compare
/// them.
enum OrderedBytes {
    /// Maximum bytes of a value in an index. Longer values are truncated there. Queries still compare whole
    /// values, but values with equal truncated bytes are ordered by record name.
    static let indexedBytesMax = 500

    static func number(_ value: Int64) -> [UInt8] {
        bigEndian(UInt64(bitPattern: value) ^ 1 << 63)
    }

    static func number(_ value: Double) -> [UInt8] {
        // A negative number's bits grow as it falls. Minus zero is encoded as zero.
        let bits = (value == 0 ? 0 : value).bitPattern
        return bigEndian(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    static func text(_ value: String) -> [UInt8] { Array(value.utf8) }

    /// Returns a record's name and zone. A zero byte in the name doesn't end it.
    static func reference(name: String, zone: ZoneKey) -> [UInt8] {
        var bytes = escaped(name)
        bytes += [0, 1]
        bytes += escaped(zone.zoneName)
        bytes += [0, 1]
        bytes += escaped(zone.database.owner)
        return bytes
    }

    static func bigEndian(_ value: UInt64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    static func unsigned(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Decodes the bytes that `number` encodes.
    static func double(_ bytes: [UInt8]) -> Double? {
        guard bytes.count == 8 else { return nil }
        let bits = unsigned(bytes[...])
        return Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
    }

    private static func escaped(_ text: String) -> [UInt8] {
        guard text.utf8.contains(0) else { return Array(text.utf8) }
        return text.utf8.flatMap { $0 == 0 ? [0, 0xFF] : [$0] }
    }

    /// Returns the bytes of a value in a field of `type`. Nil if the value has another type, which counts as no
    /// value.
    ///
    /// - Parameter zone: the zone of the record that has the value.
    static func value(_ value: FieldValue, of type: FieldType, in zone: ZoneKey) -> [UInt8]? {
        switch (type, value) {
        case (.string, .string(let text)): return self.text(text)
        case (.int64, .int64(let value)): return number(value)
        case (.double, .double(let value)): return number(value)
        // A record saved before its type had a schema may store a number in the other form.
        case (.double, .int64(let value)): return number(Double(value))
        case (.timestamp, .timestamp(let value)), (.timestamp, .int64(let value)): return number(value)
        case (.bytes, .bytes(let bytes)): return bytes
        case (.reference, .reference(let reference)):
            return self.reference(name: reference.recordName, zone: reference.zone(from: zone))
        default: return nil
        }
    }
}

extension Reference {
    /// Returns the target's zone, for a reference of a record in `zone`.
    func zone(from zone: ZoneKey) -> ZoneKey {
        guard let zoneID else { return zone }
        guard let owner = zoneID.ownerRecordName, !owner.isEmpty, owner != ServiceCaller.ownName,
            zone.database.scope == .privateDatabase
        else { return ZoneKey(database: zone.database, zoneName: zoneID.zoneName) }
        return ZoneKey(database: .privateDatabase(of: owner), zoneName: zoneID.zoneName)
    }
}

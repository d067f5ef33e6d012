/// How the objects of a model become bytes and come back: with the model's version, and with its way from earlier ones.
///
/// Version 1 is the object in CBOR. A later version stands before it as a tag (RFC 8949, section 3.4) of 64 bits, whose
/// first half is "YapM" and whose second is the version.
struct CBORModel<Value: Codable & Sendable>: Sendable {
    let version: Int
    /// An object with what stored ones lack, in CBOR.
    let defaults: [UInt8]?
    let upgrade: (@Sendable (inout YapDatabaseStoredObject) throws -> Void)?

    func encode(_ value: Value) throws -> [UInt8] {
        let bytes = try CBOREncoder().encode(value)
        return version == 1 ? bytes : ModelVersion.head(version) + bytes
    }

    func decode(_ bytes: UnsafeRawBufferPointer) throws -> Value {
        let (stored, body) = ModelVersion.split(bytes)
        let decoder = CBORDecoder(defaults: defaults)
        if stored > version { return try decodeLater(body, decoder) }
        guard stored < version, let upgrade else { return try decoder.decode(Value.self, from: body) }
        var object = try YapDatabaseStoredObject(body, version: stored)
        try upgrade(&object)
        return try decoder.decode(Value.self, from: object.bytes)
    }

    /// Reads what a later version stored: a device has such objects when an earlier version is installed again. A
    /// property that this version can't read counts as absent.
    private func decodeLater(_ bytes: UnsafeRawBufferPointer, _ decoder: CBORDecoder) throws -> Value {
        var failure: any Error
        do { return try decoder.decode(Value.self, from: bytes) } catch { failure = error }
        guard var map = try? CBORMap(bytes) else { throw failure }
        // Each attempt tells of one property.
        for _ in 0..<CBORLimits.defaultsMax {
            guard let name = (failure as? DecodingError)?.unreadableProperty, map[name] != nil else { break }
            map[name] = nil
            do { return try decoder.decode(Value.self, from: map.bytes) } catch { failure = error }
        }
        throw failure
    }
}

extension DecodingError {
    /// The outermost object's property that could not be read; nil when that isn't what went wrong. Its value has
    /// another type, or is a case that isn't known.
    fileprivate var unreadableProperty: String? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.first?.stringValue
        default: nil
        }
    }
}

/// The version that stands before an object's bytes.
enum ModelVersion {
    /// A tag in 64 bits, and the first half of it.
    private static let mark: [UInt8] = [0xDB] + Array("YapM".utf8)
    private static let bytesCount = mark.count + 4

    static func head(_ version: Int) -> [UInt8] {
        mark + withUnsafeBytes(of: UInt32(clamping: version).bigEndian) { Array($0) }
    }

    /// The version, which is 1 where none stands, and the object's own bytes.
    static func split(_ bytes: UnsafeRawBufferPointer) -> (version: Int, object: UnsafeRawBufferPointer) {
        guard bytes.count > bytesCount, bytes.starts(with: mark) else { return (1, bytes) }
        let version = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: mark.count, as: UInt32.self))
        return (Int(version), UnsafeRawBufferPointer(rebasing: bytes[bytesCount...]))
    }
}

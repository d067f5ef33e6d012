/// Parts of an object's bytes: properties kept for other versions of its type, the type's version, the object.
///
/// Usually only the object is present. A kept map and the rest form an array of two under a tag (RFC 8949, section
/// 3.4) of 64 bits: the first half is "YapK", the second half the version of the kept properties. A version from 2 on
/// is a tag of 64 bits: the first half is "YapM", the second half the version.
struct StoredForm {
    private static let versionMark: [UInt8] = [0xDB] + Array("YapM".utf8)
    private static let keptMark: [UInt8] = [0xDB] + Array("YapK".utf8)
    private static let markBytes = versionMark.count + 4
    private static let pair: [UInt8] = [0x82]

    /// Properties that were unknown to the type that stored the object: a map, or nil.
    let kept: UnsafeRawBufferPointer?
    /// Version of the type that stored those. 0 if there are none.
    let keptVersion: Int
    /// The version of the type that stored the object.
    let version: Int
    /// The object as encoded by its type.
    let object: UnsafeRawBufferPointer

    /// - Throws: `DecodingError` if a kept map ends too early.
    init(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        if bytes.count > Self.markBytes, bytes.starts(with: Self.keptMark) {
            let range = try Self.keptRange(bytes)
            kept = UnsafeRawBufferPointer(rebasing: bytes[range])
            keptVersion = Self.number(bytes)
            rest = UnsafeRawBufferPointer(rebasing: bytes[range.upperBound...])
        } else {
            (kept, keptVersion) = (nil, 0)
        }
        let hasVersion = rest.count > Self.markBytes && rest.starts(with: Self.versionMark)
        version = hasVersion ? Self.number(rest) : 1
        object = hasVersion ? UnsafeRawBufferPointer(rebasing: rest[Self.markBytes...]) : rest
    }

    private static func keptRange(_ bytes: UnsafeRawBufferPointer) throws -> Range<Int> {
        let start = markBytes + pair.count
        guard bytes[markBytes...].starts(with: pair), let end = try? CBORInput(bytes).end(ofItemAt: start)
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "What was kept with a stored object ends too early."))
        }
        return start..<end
    }

    /// Second half of the tag at the beginning.
    private static func number(_ bytes: UnsafeRawBufferPointer) -> Int {
        Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: versionMark.count, as: UInt32.self)))
    }

    /// Returns the head of an object of a version. Empty for 1.
    static func head(version: Int) -> [UInt8] { version == 1 ? [] : versionMark + bigEndian(version) }

    /// Returns the head of an object with kept properties of a version.
    static func head(kept: CBORMap, version: Int) -> [UInt8] {
        head(keptBytes: kept.bytes, version: version)
    }

    /// Returns the same head from the map in CBOR.
    static func head(keptBytes: [UInt8], version: Int) -> [UInt8] {
        keptMark + bigEndian(version) + pair + keptBytes
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(clamping: number).bigEndian) { Array($0) }
    }
}

extension CBORMap {
    /// - Throws: `DecodingError` if the bytes aren't a map.
    static func ofStoredObject(_ bytes: UnsafeRawBufferPointer) throws -> CBORMap {
        do {
            return try CBORMap(bytes)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "A stored object is no map of properties: \(error)."))
        }
    }

    /// Returns this map, and the entries of another one under names that it doesn't have.
    func adding(_ other: CBORMap?) -> CBORMap {
        guard let other else { return self }
        let names = Set(entries.map(\.key))
        var sum = self
        sum.entries += other.entries.filter { !names.contains($0.key) }
        return sum
    }
}

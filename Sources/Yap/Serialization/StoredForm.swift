/// The parts of an object's bytes: what was kept for other versions of its type, the type's version, the object.
///
/// Each part but the object is absent mostly. A kept map and what follows are an array of two under a tag (RFC 8949,
/// section 3.4) of 64 bits, whose first half is "YapK" and whose second is the version of what is kept. A version from
/// 2 on is a tag of 64 bits, whose first half is "YapM" and whose second is the version.
struct StoredForm {
    private static let versionMark: [UInt8] = [0xDB] + Array("YapM".utf8)
    private static let keptMark: [UInt8] = [0xDB] + Array("YapK".utf8)
    private static let markBytes = versionMark.count + 4
    private static let pair: [UInt8] = [0x82]

    /// The properties that the type which stored the object didn't know: a map. nil: none.
    let kept: UnsafeRawBufferPointer?
    /// The version of the type that stored those; 0 for none.
    let keptVersion: Int
    /// The version of the type that stored the object.
    let version: Int
    /// The object as its type encoded it.
    let object: UnsafeRawBufferPointer

    /// - Throws: `DecodingError` when a kept map ends too early.
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

    /// The second half of the tag at the beginning.
    private static func number(_ bytes: UnsafeRawBufferPointer) -> Int {
        Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: versionMark.count, as: UInt32.self)))
    }

    /// What stands before an object of a version: nothing for 1.
    static func head(version: Int) -> [UInt8] { version == 1 ? [] : versionMark + bigEndian(version) }

    /// What stands before an object with kept properties of a version.
    static func head(kept: CBORMap, version: Int) -> [UInt8] {
        head(keptBytes: kept.bytes, version: version)
    }

    /// The same with the map in CBOR.
    static func head(keptBytes: [UInt8], version: Int) -> [UInt8] {
        keptMark + bigEndian(version) + pair + keptBytes
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(clamping: number).bigEndian) { Array($0) }
    }
}

extension CBORMap {
    /// - Throws: `DecodingError` when the bytes are no map.
    static func ofStoredObject(_ bytes: UnsafeRawBufferPointer) throws -> CBORMap {
        do {
            return try CBORMap(bytes)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "A stored object is no map of properties: \(error)."))
        }
    }

    /// This map with the entries of another one under names that it doesn't have.
    func adding(_ other: CBORMap?) -> CBORMap {
        guard let other else { return self }
        let names = Set(entries.map(\.key))
        var sum = self
        sum.entries += other.entries.filter { !names.contains($0.key) }
        return sum
    }
}

/// The checksum of a zone's records: two sums modulo 2^64. A write updates them without reading other
/// records.
///
/// Each record adds a hash of its name, type and change tag to the first sum, and a hash of its name and
/// fields to the second. Two sums show what differs, and a device can check tags without having the fields.
package struct ZoneChecksum: Hashable, Sendable {
    /// The sum over names, types and change tags.
    package var identities: UInt64
    /// The sum over names and fields.
    package var contents: UInt64

    /// Makes a checksum. Without parameters, the checksum of an empty zone.
    package init(identities: UInt64 = 0, contents: UInt64 = 0) {
        self.identities = identities
        self.contents = contents
    }

    /// Makes the checksum of one record.
    package init(recordName: String, recordType: String, changeTag: String, content: UInt64) {
        identities = Self.identity(recordName: recordName, recordType: recordType, changeTag: changeTag)
        contents = content
    }

    /// Returns the part of one record in the first sum.
    package static func identity(recordName: String, recordType: String, changeTag: String) -> UInt64 {
        let name = FastHash.hash(recordName, seed: 0)
        return FastHash.hash(changeTag, seed: FastHash.hash(recordType, seed: name))
    }

    /// Returns the part of one record in the second sum, from the binary form of its fields, which must not
    /// contain a file.
    package static func content(recordName: String, fieldBytes: [UInt8]) -> UInt64 {
        FastHash.hash(fieldBytes, seed: FastHash.hash(recordName, seed: 0))
    }

    /// Returns the part of one record in the second sum. Only the checksum and the size of a file count,
    /// because its URLs and receipts differ in each response.
    package static func content(recordName: String, fields: [String: Field]) -> UInt64 {
        let hasAssets = fields.values.contains { $0.value?.type == .asset || $0.value?.type == .assetList }
        let counted = hasAssets ? fields.mapValues { $0.mappingAssets(\.withoutAddresses) } : fields
        return content(recordName: recordName, fieldBytes: FieldsBinary.encode(counted))
    }

    /// Adds records.
    package static func += (sum: inout ZoneChecksum, part: ZoneChecksum) {
        sum.identities &+= part.identities
        sum.contents &+= part.contents
    }

    /// Subtracts records.
    package static func -= (sum: inout ZoneChecksum, part: ZoneChecksum) {
        sum.identities &-= part.identities
        sum.contents &-= part.contents
    }

    private static let digits = 16

    /// The checksum on the wire: 32 hexadecimal digits in lower case, the identities first.
    package var text: String {
        [identities, contents].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: Self.digits - text.count) + text
        }.joined()
    }

    /// Reads a checksum. Returns nil for a text that `text` never has.
    package init?(_ text: String) {
        guard text.utf8.count == 2 * Self.digits,
            let identities = UInt64(text.prefix(Self.digits), radix: 16),
            let contents = UInt64(text.suffix(Self.digits), radix: 16)
        else { return nil }
        self.init(identities: identities, contents: contents)
        guard self.text == text else { return nil }
    }
}

extension Asset {
    fileprivate var withoutAddresses: Asset { Asset(fileChecksum: fileChecksum, size: size) }
}

/// What a zone's live records come to: two sums modulo 2^64, which a write changes without looking at the rest.
///
/// A record's part of the first is a hash of its name, type and change tag, of the second one of its name and fields.
/// Apart they say what differs, and a device can check a tag without the fields.
package struct ZoneChecksum: Hashable, Sendable {
    /// The sum over names, types and change tags.
    package var identities: UInt64
    /// The sum over names and fields.
    package var contents: UInt64

    /// Makes a checksum; without parameters that of an empty zone.
    package init(identities: UInt64 = 0, contents: UInt64 = 0) {
        self.identities = identities
        self.contents = contents
    }

    /// The part of one record.
    package init(recordName: String, recordType: String, changeTag: String, content: UInt64) {
        identities = Self.identity(recordName: recordName, recordType: recordType, changeTag: changeTag)
        contents = content
    }

    /// A record's part of the first sum.
    package static func identity(recordName: String, recordType: String, changeTag: String) -> UInt64 {
        let name = FastHash.hash(recordName, seed: 0)
        return FastHash.hash(changeTag, seed: FastHash.hash(recordType, seed: name))
    }

    /// A record's part of the second sum, from the binary form of its fields, in which no file is.
    package static func content(recordName: String, fieldBytes: [UInt8]) -> UInt64 {
        FastHash.hash(fieldBytes, seed: FastHash.hash(recordName, seed: 0))
    }

    /// A record's part of the second sum. Of a file only checksum and size count: its addresses and receipts are other
    /// ones in each answer.
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

    /// Takes records away.
    package static func -= (sum: inout ZoneChecksum, part: ZoneChecksum) {
        sum.identities &-= part.identities
        sum.contents &-= part.contents
    }

    private static let digits = 16

    /// The checksum on the wire: 32 hexadecimal digits, lower case, the identities first.
    package var text: String {
        [identities, contents].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: Self.digits - text.count) + text
        }.joined()
    }

    /// Reads a checksum; nil for what `text` can't have been.
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

internal import CloudKit

/// The names of the records that rows stand for.
///
/// A record's name has 1 to 255 printable ASCII characters (CloudKit Web Services Reference, "Record ID Dictionary"),
/// and does not begin with an underscore (`CKRecord.ID`).
/// A key that is such a name is the name. Of any other key the bytes that a name can't have are percent-encoded
/// (RFC 3986, section 2.1), so that each device comes to the same name, and from the name to the same key.
enum RecordNames {
    static let bytesMax = 255

    /// Returns the name of the record for a row's key. It may be too long, which `check` finds.
    static func name(forKey key: String) -> String {
        let bytes = Array(key.utf8)
        guard bytes.indices.contains(where: { mustBeEncoded($0, bytes) }) else { return key }
        var name: [UInt8] = []
        for index in bytes.indices {
            if mustBeEncoded(index, bytes) {
                name += [percent, digits[Int(bytes[index] >> 4)], digits[Int(bytes[index] & 15)]]
            } else {
                name.append(bytes[index])
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// The key of the row for a record's name: the one that has this name, or the name itself.
    static func key(forName name: String) -> String {
        let bytes = Array(name.utf8)
        guard bytes.contains(percent) else { return name }
        var key: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if let byte = encoded(at: index, bytes) {
                key.append(byte)
                index += 3
            } else {
                key.append(bytes[index])
                index += 1
            }
        }
        guard let key = String(validating: key, as: UTF8.self), self.name(forKey: key) == name else {
            return name
        }
        return key
    }

    /// Whether a row's record has this name. Before keys were encoded, one that looks encoded was the name itself.
    static func isName(_ name: String, forKey key: String) -> Bool {
        name == key || name == self.name(forKey: key)
    }

    /// Rejects a name that servers don't accept, before anything is stored under it.
    ///
    /// - Throws: `YapDatabaseCloudKitError.recordName`.
    static func check(_ name: String) throws(YapDatabaseCloudKitError) {
        guard isLegal(name) else {
            throw .recordName(String(name.prefix(bytesMax)), bytesCount: name.utf8.count)
        }
    }

    static func isLegal(_ name: String) -> Bool {
        1...bytesMax ~= name.utf8.count && name.utf8.allSatisfy { isPrintable($0) }
    }

    private static let percent = UInt8(ascii: "%")
    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

    /// Also a percent sign that would be read as the beginning of an encoded byte.
    private static func mustBeEncoded(_ index: Int, _ bytes: [UInt8]) -> Bool {
        !isPrintable(bytes[index]) || encoded(at: index, bytes) != nil
            || index == 0 && bytes[index] == UInt8(ascii: "_")
    }

    /// The byte that is encoded in the three at `index`.
    private static func encoded(at index: Int, _ bytes: [UInt8]) -> UInt8? {
        guard index + 2 < bytes.count, bytes[index] == percent, let high = digit(bytes[index + 1]),
            let low = digit(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        digits.firstIndex(of: byte).map { UInt8($0) }
    }
}

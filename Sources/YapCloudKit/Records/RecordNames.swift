internal import CloudKit

/// The record names of rows.
///
/// A record's name has 1 to 255 printable ASCII characters (CloudKit Web Services Reference, "Record ID
/// Dictionary"), and doesn't begin with an underscore (`CKRecord.ID`).
/// A key that is a valid name is used as the name. In any other key, the bytes that a name can't contain are
/// percent-encoded (RFC 3986, section 2.1), so that all devices convert keys to the same names, and names to
/// the same keys.
enum RecordNames {
    static let bytesMax = 255

    /// Returns the record name for a row's key. It may be too long, which `check` detects.
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

    /// Returns the row's key for a record name: the decoded name if it is encoded, otherwise the name itself.
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

    /// Returns true if a row's record has this name. Earlier versions didn't encode keys, so a key that looks
    /// encoded may be the name itself.
    static func isName(_ name: String, forKey key: String) -> Bool {
        name == key || name == self.name(forKey: key)
    }

    /// Rejects a name that servers don't accept. Called before anything is stored under it.
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

    /// Returns true if a byte has to be encoded. This includes a percent sign that would be read as the start
    /// of an encoded byte.
    private static func mustBeEncoded(_ index: Int, _ bytes: [UInt8]) -> Bool {
        !isPrintable(bytes[index]) || encoded(at: index, bytes) != nil
            || index == 0 && bytes[index] == UInt8(ascii: "_")
    }

    /// Returns the byte that is encoded in the three bytes at `index`.
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

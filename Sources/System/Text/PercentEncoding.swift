/// Percent-encoding of text in URLs (RFC 3986).
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns the text with all bytes as `%XX` except letters, digits and `-._~`.
    ///
    /// - Parameter keepsSlashes: True to keep `/` unencoded too, as in a path.
    package static func encoded(_ text: String, keepsSlashes: Bool = false) -> String {
        var encoded = [UInt8]()
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: encoded.append(byte)
            case 0x2F where keepsSlashes: encoded.append(byte)
            default: encoded += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

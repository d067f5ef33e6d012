import System

/// The signature in the headers of a request that is signed with a server's key, and the messages that it may sign.
public struct SignedRequest: Hashable, Sendable {
    /// Maximum difference of a request's date from the present, before and after, in milliseconds.
    public static let windowMilliseconds: Int64 = 600_000
    /// Base64 of the SHA-256 of no bytes, signed for a request without a body.
    public static let emptyBodyHash = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    /// Text of the date header, which is signed unchanged.
    public let date: String
    /// The date in milliseconds since 1970.
    public let milliseconds: Int64
    /// The signature in DER.
    public let signature: [UInt8]

    /// Parses the headers. Nil if the date or the signature is invalid.
    ///
    /// - Parameters:
    ///   - date: For example `2016-01-25T22:15:43Z`, with an optional fraction of the second.
    ///   - signature: Base64.
    public init?(date: String, signature: String) {
        guard let milliseconds = Self.milliseconds(of: date), signature.utf8.count <= 128,
            let bytes = Base64.decoded(unpadded: Self.withoutPadding(signature)), !bytes.isEmpty
        else { return nil }
        self.date = date
        self.milliseconds = milliseconds
        self.signature = bytes
    }

    /// Returns the messages that the signature may sign: `date:hash of the body:path with its query`. For an empty
    /// body, some clients hash nothing and others write nothing.
    ///
    /// - Parameters:
    ///   - target: The path with its query, as received.
    ///   - body: The request's body.
    /// - Throws: `CryptoError` if OpenSSL has no memory.
    public func messages(target: String, body: [UInt8]) throws -> [[UInt8]] {
        let hashes = body.isEmpty ? [Self.emptyBodyHash, ""] : [Self.base64(try SHA256.hash(body))]
        return hashes.map { Array("\(date):\($0):\(target)".utf8) }
    }

    /// Returns base64 with padding.
    public static func base64(_ bytes: [UInt8]) -> String {
        Base64.encoded(bytes)
    }

    /// Returns the path and query of a request's target, which may include the host, as in requests to proxies.
    public static func path(ofTarget target: String) -> String {
        guard let scheme = ["http://", "https://"].first(where: target.hasPrefix) else { return target }
        let rest = target.dropFirst(scheme.count)
        guard let slash = rest.firstIndex(of: "/") else { return "/" }
        return String(rest[slash...])
    }

    /// Removes up to two equals signs at the end.
    private static func withoutPadding(_ text: String) -> Substring {
        var text = text[...]
        guard text.utf8.count % 4 == 0 else { return text }
        for _ in 0..<2 where text.utf8.last == UInt8(ascii: "=") { text = text.dropLast() }
        return text
    }

    /// Returns the milliseconds of a date like `2016-01-25T22:15:43Z` or `2016-01-25T22:15:43.123Z`, or nil for
    /// another text.
    static func milliseconds(of text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard (20...30).contains(bytes.count), bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54,
            bytes[13] == 0x3A, bytes[16] == 0x3A, bytes.last == 0x5A,
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let day = number(bytes[8..<10]),
            let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
            let second = number(bytes[17..<19]), (1970...9999).contains(year), (1...12).contains(month),
            (1...daysCount(year: year, month: month)).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var fraction: Int64 = 0
        if bytes.count > 20 {
            let digits = bytes[20..<(bytes.count - 1)]
            guard bytes[19] == 0x2E, !digits.isEmpty, number(digits) != nil,
                let thousandths = number(Array((digits + [0x30, 0x30]).prefix(3))[...])
            else { return nil }
            fraction = thousandths
        }
        let days = daysSince1970(year: year, month: month, day: day)
        return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        digits.reduce(Int64?(0)) { value, digit in
            guard let value, (0x30...0x39).contains(digit) else { return nil }
            return value * 10 + Int64(digit - 0x30)
        }
    }

    private static func daysCount(year: Int64, month: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counted in years that begin on March 1, so that the leap day is the last one.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// A web auth token on the wire: 64 hexadecimal digits. A token that each response replaces also has its step and a
/// code that only this server can make: `<64 digits>-<step>-<32 digits>`.
struct SessionToken: Hashable {
    static let secretBytes = 64
    static let codeBytes = 32
    static let textBytesMax = 120

    /// The part that stays. Its digest identifies the session.
    var secret: String
    /// Number of earlier replacements, and its code. Nil for a token that stays.
    var step: Int64?
    var code: String?

    init(secret: String, step: Int64? = nil, code: String? = nil) {
        self.secret = secret
        self.step = step
        self.code = code
    }

    /// Reads a token. Nil for any other text. Each token has exactly one text.
    init?(_ text: String) {
        guard text.utf8.count <= Self.textBytesMax else { return nil }
        let parts = text.utf8.split(separator: 0x2D, omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 3, Self.areDigits(parts[0], Self.secretBytes) else {
            return nil
        }
        secret = String(Substring(parts[0]))
        guard parts.count == 3 else { return }
        guard let step = Int64(Substring(parts[1])), step >= 0, "\(step)".utf8.elementsEqual(parts[1]),
            Self.areDigits(parts[2], Self.codeBytes)
        else { return nil }
        self.step = step
        code = String(Substring(parts[2]))
    }

    var text: String {
        guard let step, let code else { return secret }
        return "\(secret)-\(step)-\(code)"
    }

    private static func areDigits(_ part: Substring.UTF8View, _ count: Int) -> Bool {
        part.count == count && part.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

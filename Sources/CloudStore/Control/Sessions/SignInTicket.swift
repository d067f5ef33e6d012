/// The contents of a sign-in page's address: app, container, origin and time of expiry. They are signed by this server.
struct SignInTicket: Hashable {
    /// Lifetime of the address of a sign-in page, in milliseconds.
    static let lifeMilliseconds: Int64 = 900_000
    static let textBytesMax = 4_096

    var container: String
    var environment: String
    /// Digest of the API token, in hexadecimal digits.
    var app: String
    /// Origin of the page that requests the sign-in, or nil if no page does.
    var origin: String?
    var expiresMilliseconds: Int64

    /// The text that is signed. None of its parts contains a line break.
    var words: String {
        "\(container)\n\(environment)\n\(app)\n\(origin ?? "-")\n\(expiresMilliseconds)"
    }

    init(container: String, environment: String, app: String, origin: String?, expiresMilliseconds: Int64) {
        self.container = container
        self.environment = environment
        self.app = app
        self.origin = origin
        self.expiresMilliseconds = expiresMilliseconds
    }

    /// Reads a ticket. Nil for any other text. The caller checks the code.
    init?(words: String) {
        let lines = words.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count == 5, let expiresMilliseconds = Int64(Substring(lines[4])) else { return nil }
        container = String(Substring(lines[0]))
        environment = String(Substring(lines[1]))
        app = String(Substring(lines[2]))
        origin = lines[3].elementsEqual("-".utf8) ? nil : String(Substring(lines[3]))
        self.expiresMilliseconds = expiresMilliseconds
        guard words == self.words else { return nil }
    }

    /// Splits words and code, in hexadecimal digits with a full stop between them.
    static func split(_ text: String) -> (words: Substring, code: Substring)? {
        guard text.utf8.count <= textBytesMax, let stop = text.utf8.lastIndex(of: 0x2E) else { return nil }
        return (text[..<stop], text[text.utf8.index(after: stop)...])
    }
}

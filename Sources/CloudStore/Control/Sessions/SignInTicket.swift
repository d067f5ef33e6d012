/// What the address of a sign-in page carries: for which app, container and page, and until when. Only this server can
/// make one.
struct SignInTicket: Hashable {
    /// How long the address of a sign-in page is good.
    static let lifeMilliseconds: Int64 = 900_000
    static let textBytesMax = 4_096

    var container: String
    var environment: String
    /// The API token's digest, in hexadecimal digits.
    var app: String
    /// The origin of the page that asked; nil: no page did.
    var origin: String?
    var expiresMilliseconds: Int64

    /// The words that the code is made of. None of them holds a line break.
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

    /// Nil for words that are not a ticket's. Whether they are ours, their code tells.
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

    /// Words and code as one text of hexadecimal digits and a full stop.
    static func split(_ text: String) -> (words: Substring, code: Substring)? {
        guard text.utf8.count <= textBytesMax, let stop = text.utf8.lastIndex(of: 0x2E) else { return nil }
        return (text[..<stop], text[text.utf8.index(after: stop)...])
    }
}

import Crypto
import SQLite
import System

/// The server's secret. The record names of users and the codes of signed texts are made with it. Owns the
/// table `secrets`.
struct ControlSecret: Sendable {
    private static let name = "userRecordName"
    private static let bytesCount = 32

    /// True if the key of an account is the record name of its user. For tests.
    let namesUsersByKeys: Bool
    private let bytes: [UInt8]

    /// Reads the secret of the file at `path`.
    ///
    /// - Throws: `CloudStoreError.damaged` if the file has none.
    init(in connection: Connection, path: String, namesUsersByKeys: Bool) throws {
        self.namesUsersByKeys = namesUsersByKeys
        bytes = try connection.withStatement("SELECT value FROM secrets WHERE name = ?") { statement in
            try statement.bind(Self.name, at: 1)
            return try statement.step() ? statement.bytes(at: 0) : []
        }
        guard bytes.count == Self.bytesCount else {
            throw CloudStoreError.damaged(path: path, reason: "its secret is missing")
        }
    }

    /// Writes a new random secret to a new file.
    static func make(_ connection: Connection) throws {
        try connection.run("INSERT INTO secrets VALUES (?, ?)") {
            try $0.bind(name, RandomBytes.make(count: bytesCount), at: 1)
        }
    }

    /// Returns the record name that follows from a key. It is always the same in a container, and differs between
    /// containers. Without the secret, two names of one key can't be matched.
    func userRecordName(key: [UInt8], container: String) throws -> String {
        guard !namesUsersByKeys else { return String(decoding: key, as: UTF8.self) }
        let code = try HMACSHA256.code(of: key + Array(container.utf8), key: bytes)
        return "_" + Hex.text(Array(code.prefix(16)))
    }

    /// Returns the authentication code of a text that a client sends back later. Only this server can make it.
    func code(of text: String, purpose: CodePurpose) throws -> [UInt8] {
        // Shorter than the texts from which user names are made, so a name never equals a key.
        let key = try HMACSHA256.code(of: purpose.rawValue, key: bytes)
        return try HMACSHA256.code(of: text, key: key)
    }

    /// Returns a random token: 64 hexadecimal digits.
    static func randomToken() throws -> String {
        Hex.text(try RandomBytes.make(count: 32))
    }
}

/// The use of an authentication code. A code for one purpose isn't valid for another. Maximum 16 bytes.
enum CodePurpose: String {
    case sessionStep = "session step"
    case signInTicket = "sign-in ticket"
    case signInForm = "sign-in form"
    case signInTry = "sign-in try"
}

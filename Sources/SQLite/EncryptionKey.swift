import CSQLite
import System

/// Key of an encrypted file, in the form that SQLCipher takes: https://www.zetetic.net/sqlcipher/sqlcipher-api/#key
///
/// Its descriptions don't contain the key.
public struct EncryptionKey: Sendable {
    /// Bytes of a key that isn't derived from a passphrase.
    public static let bytesCount = 32

    /// The key in SQLCipher's form. No error contains it.
    let value: String

    var pragma: String {
        let escaped = value.utf8.flatMap { $0 == UInt8(ascii: "'") ? [$0, $0] : [$0] }
        return "PRAGMA key = '\(String(decoding: escaped, as: UTF8.self))'"
    }

    /// Creates a key from 32 bytes, used unchanged. Nil for another number of bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.bytesCount else { return nil }
        value = "x'\(Hex.text(bytes))'"
    }

    /// Creates a key from a passphrase, from which SQLCipher derives the key each time a connection is opened. Nil if
    /// it is empty or contains a NUL, where SQL ends.
    public init?(passphrase: String) {
        guard !passphrase.isEmpty, !passphrase.utf8.contains(0) else { return nil }
        value = passphrase
    }
}

extension EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The same text for every key.
    public var description: String { "EncryptionKey(hidden)" }
    /// The same text for every key.
    public var debugDescription: String { description }
    /// Without children, so that `dump` doesn't show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Connection {
    /// True if the loaded SQLite library is SQLCipher.
    public static let hasEncryption: Bool = {
        var options = OpenOptions()
        options.synchronous = .off
        guard let connection = try? Connection(path: ":memory:", options: options) else { return false }
        return (try? connection.withStatement("PRAGMA cipher_version") { try $0.step() }) ?? false
    }()

    /// Throws if the options have a key and the library has no encryption. SQLite without encryption would ignore the
    /// key's statement, and write an unencrypted file.
    package static func checkEncryption(_ options: OpenOptions) throws {
        if options.encryptionKey != nil, !hasEncryption { throw encryptionUnavailable }
    }

    static var encryptionUnavailable: SQLiteError {
        SQLiteError(
            extendedCode: SQLITE_NOTFOUND,
            message: "the loaded SQLite library (\(libraryVersion)) has no encryption; SQLCipher has")
    }

    /// Passes SQLCipher the key. It must be the first statement that reaches the file.
    func setKey() throws {
        guard let key = options.encryptionKey else { return }
        let result = sqlite3_exec(handle, key.pragma, nil, nil, nil)
        guard result == SQLITE_OK else {
            // SQLite's own message may quote the statement.
            throw SQLiteError(extendedCode: result, message: "SQLCipher refused the encryption key")
        }
    }
}

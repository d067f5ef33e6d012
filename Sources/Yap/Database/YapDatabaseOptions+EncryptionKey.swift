import SQLite

extension YapDatabaseOptions {
    /// The key of an encrypted database. No description or error contains it.
    ///
    /// ```swift
    /// var options = YapDatabaseOptions()
    /// options.encryptionKey = try .init(bytes: keyFromSecretStorage)
    /// ```
    public struct EncryptionKey: Sendable {
        let key: SQLite.EncryptionKey

        /// Creates a key from 32 random bytes, which SQLCipher uses unchanged. Keep them in a secret storage of the
        /// system.
        ///
        /// - Parameter bytes: 32 bytes.
        /// - Throws: `YapDatabaseError` with `invalidEncryptionKey` if there aren't 32 bytes.
        public init(bytes: [UInt8]) throws {
            guard let key = SQLite.EncryptionKey(bytes: bytes) else {
                throw YapDatabaseError(.invalidEncryptionKey, "the key has \(bytes.count) bytes and not 32")
            }
            self.key = key
        }

        /// Creates a key from a passphrase. SQLCipher derives the key from it whenever a connection is opened, which
        /// takes about as long as thousands of reads. Prefer `init(bytes:)`, and derive the key once.
        ///
        /// - Parameter passphrase: Any non-empty text without a NUL.
        /// - Throws: `YapDatabaseError` with `invalidEncryptionKey` if the text is empty or contains a NUL.
        public init(passphrase: String) throws {
            guard let key = SQLite.EncryptionKey(passphrase: passphrase) else {
                throw YapDatabaseError(.invalidEncryptionKey, "the passphrase is empty or has a NUL")
            }
            self.key = key
        }
    }
}

extension YapDatabaseOptions.EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The same text for every key.
    public var description: String { key.description }
    /// The same text for every key.
    public var debugDescription: String { key.description }
    /// Without children, so that `dump` doesn't show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

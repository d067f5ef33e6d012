import SQLite

extension YapDatabaseOptions {
    /// The key of an encrypted database. It is not in any description or error.
    ///
    /// ```swift
    /// var options = YapDatabaseOptions()
    /// options.encryptionKey = try .init(bytes: keyFromSecretStorage)
    /// ```
    public struct EncryptionKey: Sendable {
        let key: SQLite.EncryptionKey

        /// A key of 32 random bytes, which the app keeps in a secret storage of the system. SQLCipher uses it as it is.
        ///
        /// - Parameter bytes: 32 bytes.
        /// - Throws: `YapDatabaseError` with `invalidEncryptionKey` for another number of bytes.
        public init(bytes: [UInt8]) throws {
            guard let key = SQLite.EncryptionKey(bytes: bytes) else {
                throw YapDatabaseError(.invalidEncryptionKey, "the key has \(bytes.count) bytes and not 32")
            }
            self.key = key
        }

        /// A passphrase. SQLCipher derives the key from it each time that a connection is opened, which takes about as
        /// long as thousands of reads: prefer `init(bytes:)`, and derive the key once.
        ///
        /// - Parameter passphrase: Any text without a NUL.
        /// - Throws: `YapDatabaseError` with `invalidEncryptionKey` for an empty text, or one with a NUL.
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
    /// The same text for each key.
    public var description: String { key.description }
    /// The same text for each key.
    public var debugDescription: String { key.description }
    /// Without children, so that `dump` doesn't show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

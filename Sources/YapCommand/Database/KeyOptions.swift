import System
import Yap

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Options for the key of an encrypted database. The key is in a file and not on the command line, which other users
/// of the machine can see and which a shell records.
enum KeyOptions {
    static let options = [
        Command.Option(
            name: "key-file", value: "FILE",
            help: "an encrypted database's key, 32 bytes or 64 hexadecimal digits; - is standard input"),
        Command.Option(
            name: "passphrase-file", value: "FILE",
            help: "an encrypted database's passphrase, on the first line; - is standard input"),
    ]

    /// Maximum bytes read from a file with a key.
    private static let fileBytesMax = 4096

    /// Returns the files that the command line names for a key or a passphrase.
    static func files(_ invocation: Invocation, prefix: String = "") -> [String] {
        ["key-file", "passphrase-file"].compactMap { invocation.value(prefix + $0) }
    }

    /// Returns the key that the command line names, or nil.
    ///
    /// - Parameter prefix: Prefix of the options' names.
    /// - Throws: `Failure` if the file can't be read or has no key.
    static func key(
        _ invocation: Invocation, _ console: Console, prefix: String = ""
    ) throws -> YapDatabaseOptions.EncryptionKey? {
        let keyFile = invocation.value(prefix + "key-file")
        let passphraseFile = invocation.value(prefix + "passphrase-file")
        guard keyFile == nil || passphraseFile == nil else {
            throw Failure.usage("--\(prefix)key-file and --\(prefix)passphrase-file exclude each other")
        }
        if let path = keyFile { return try key(in: path, console) }
        guard let path = passphraseFile else { return nil }
        let passphrase = try console.secret(from: path, what: "passphrase")
        guard let key = try? YapDatabaseOptions.EncryptionKey(passphrase: passphrase) else {
            throw Failure.failed("The passphrase has a NUL.")
        }
        return key
    }

    private static func key(in path: String, _ console: Console) throws -> YapDatabaseOptions.EncryptionKey {
        let bytes = try console.bytes(from: path, max: fileBytesMax)
        let key = try? YapDatabaseOptions.EncryptionKey(bytes: bytes)
        if let key = try key ?? hexadecimal(bytes).map(YapDatabaseOptions.EncryptionKey.init(bytes:)) {
            return key
        }
        throw Failure.failed(
            "There is no key in \(path == "-" ? "the standard input" : Shown.word(path)): a key is 32 bytes, or 64 "
                + "hexadecimal digits. A passphrase is read with --passphrase-file.")
    }

    /// Returns the bytes of 64 hexadecimal digits on a line, or nil.
    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8]? {
        let digits = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        let rest = bytes.dropFirst(digits.count)
        guard digits.count == 64, rest.allSatisfy({ $0 == 0x0A || $0 == 0x0D }) else { return nil }
        return Hex.bytes(String(decoding: digits, as: UTF8.self))
    }
}

extension Invocation {
    /// Returns the database file of the first operand, with its key.
    func deviceFile(_ console: Console) throws -> DeviceFile {
        DeviceFile(path: operands[0], encryptionKey: try KeyOptions.key(self, console))
    }
}

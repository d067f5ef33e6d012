import SQLite
import Yap

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A device's database file, read beside the app that may have it open.
struct DeviceFile: Sendable {
    let path: String
    /// Key of an encrypted file.
    var encryptionKey: YapDatabaseOptions.EncryptionKey?

    /// Runs `body` with the file on one snapshot.
    ///
    /// - Throws: `Failure` if the file can't be read, or the error of `body`.
    func read<Value>(_ body: (DatabaseFile) throws -> Value) throws -> Value {
        try opening {
            let file = try openForReading()
            return try file.read { try body(file) }
        }
    }

    /// Opens the file for reading, for a body of `opening`.
    func openForReading() throws -> DatabaseFile {
        try DatabaseFile(path: path, encryptionKey: encryptionKey)
    }

    /// Opens the file for writing, for a body of `opening`. Creates it if it doesn't exist.
    func openForWriting() throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.observesOtherProcesses = false
        options.encryptionKey = encryptionKey
        return try YapDatabase(path: path, options: options) { _ in }
    }

    /// Runs `body`, and adds the file's name to its errors.
    func opening<Value>(_ body: () throws -> Value) throws -> Value {
        let file = Shown.word(path)
        do {
            return try body()
        } catch let error as YapDatabaseError {
            let isThere = access(path, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno)
            // A file that is to be created doesn't exist either.
            guard isThere || error.code == .encryptionUnavailable else {
                throw Failure.notThere("\(file) is not there.")
            }
            let what =
                switch error.code {
                case .cannotOpen:
                    "can't be opened: \((error.underlying as? SQLiteError)?.message ?? error.message)."
                case .notADatabase where encryptionKey == nil:
                    "is no database, or an encrypted one: \(Self.keyAdvice)"
                case .notADatabase:
                    "can't be read with this key: it has another one, or isn't an encrypted database."
                case .encryptionUnavailable: "can't be read or copied with a key: \(Self.encryptionAdvice)"
                case .notAYapDatabase: "is no database of an app that uses Yap."
                case .unsupportedFormat: "was written by a later version: use the yap of that version."
                case .corrupt: "is damaged: keep it for inspection, and restore a backup. \(error.message)"
                case .busy: "is being written by another program: try again."
                case .diskFull: "can't grow: the disk is full. What was committed stays."
                default: "can't be read: \(error.message)"
                }
            throw Failure.failed("\(file) \(what)")
        } catch let error as SQLiteError {
            throw Failure.failed("\(file) can't be read: \(error.message)")
        }
    }

    private static let keyAdvice =
        "name the file of its key with --key-file, or that of its passphrase with --passphrase-file."
    private static let encryptionAdvice = """
        this yap runs with an SQLite that can't encrypt. Load SQLCipher in its place: \
        LD_PRELOAD=/usr/local/lib/libsqlcipher.so yap ...
        """
}

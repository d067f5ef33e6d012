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

    /// Runs `body` with the file on one snapshot.
    ///
    /// - Throws: `Failure` with the reason that the file can't be read, or what `body` threw.
    func read<Value>(_ body: (DatabaseFile) throws -> Value) throws -> Value {
        try opening {
            let file = try DatabaseFile(path: path)
            return try file.read { try body(file) }
        }
    }

    /// Runs `body`, and names the file in what it throws.
    func opening<Value>(_ body: () throws -> Value) throws -> Value {
        let file = Shown.word(path)
        do {
            return try body()
        } catch let error as YapDatabaseError {
            guard access(path, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno) else {
                throw Failure.notThere("\(file) is not there.")
            }
            let what =
                switch error.code {
                case .cannotOpen:
                    "can't be opened: \((error.underlying as? SQLiteError)?.message ?? error.message)."
                case .notADatabase: "is no database, or an encrypted one, which yap can't read."
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
}

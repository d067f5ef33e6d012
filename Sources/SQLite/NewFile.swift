import CSQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The file of a copy, made before SQLite opens it.
enum NewFile {
    /// Creates an empty file that its owner alone can read: SQLite would let everybody read it. Returns false if a file
    /// exists, which isn't opened: closing it would release the locks that this process has on it.
    static func create(_ path: String) throws -> Bool {
        do throws(FileError) {
            return try DurableFile.createEmpty(path)
        } catch {
            throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: error.reason)
        }
    }

    /// Runs a body that writes a database at `path`. If it throws, no file is left there unless there was one before.
    static func orExisting(_ path: String, vfsName: String?, _ body: () throws -> Void) throws {
        // Another VFS has files of its own, and memory has none. A failure here happens again when SQLite opens the
        // file, with a message.
        let isNew = vfsName == nil && path != ":memory:" && (try? create(path)) == true
        do {
            try body()
        } catch {
            if isNew { remove(path) }
            throw error
        }
    }

    /// Removes a file that `create` made, and the files that SQLite made beside it.
    static func remove(_ path: String) {
        for ending in ["", "-journal", "-wal", "-shm"] { unlink(path + ending) }
    }
}

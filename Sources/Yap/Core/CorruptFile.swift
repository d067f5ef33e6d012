import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Opens a file. Renames or deletes a damaged file first if the options say so.
struct CorruptFile {
    let path: String
    let options: YapDatabaseOptions
    var calls = FileCalls.system

    /// Runs `open`. If the file is damaged, renames or deletes it and runs `open` again.
    ///
    /// Only one instance at a time opens a file that it may move. Otherwise another instance could open a
    /// partly moved file, create a new file in between, or move the new file.
    func opening<Result>(_ open: () throws -> Result) throws -> (Result, YapDatabaseCorruption?) {
        guard options.whenCorrupt != .refuse, options.vfsName == nil, let lock = folderLock()
        else { return (try open(), nil) }
        defer { withExtendedLifetime(lock) {} }
        do {
            return (try open(), nil)
        } catch let error where isDamage(error) {
            return try openingAgain(open)
        }
    }

    /// Opens the file again before it is moved, because a process without the lock may have replaced it.
    private func openingAgain<Result>(_ open: () throws -> Result) throws -> (Result, YapDatabaseCorruption?)
    {
        do {
            return (try open(), nil)
        } catch let error where isDamage(error) {
            let renamedPath = try putAway()
            let words = (error as? SQLiteError).map { YapDatabaseError($0, path: path) } ?? error
            guard let words = words as? YapDatabaseError else { throw error }
            return (try open(), YapDatabaseCorruption(error: words, renamedPath: renamedPath))
        }
    }

    /// Returns true if the error reports damage. A file that isn't a database isn't damaged: an encrypted
    /// file without its key isn't recognized as a database.
    private func isDamage(_ error: any Error) -> Bool {
        if let error = error as? SQLiteError { return error.isCorrupt }
        return (error as? YapDatabaseError)?.code == .corrupt
    }

    /// Renames or deletes the file and its additional files, and syncs their folder. Returns the new path of
    /// a renamed file.
    private func putAway() throws -> String? {
        let path = realPath
        let renamedPath = options.whenCorrupt == .rename ? Self.unusedPath(for: path) : nil
        do throws(FileError) {
            // The file before its log: SQLite deletes a log without a file.
            for suffix in ["", "-wal", "-journal", "-shm"] {
                try move(path + suffix, to: suffix == "-shm" ? nil : renamedPath.map { $0 + suffix })
            }
        } catch {
            throw YapDatabaseError(
                .cannotOpen, "the damaged file can't be moved: \(error.reason) (\(error.path))")
        }
        // An error here must not hide the move from the app. After a power loss, the damaged file may be at
        // its old path again, where it is detected again.
        try? Folders.sync(Folders.parent(of: path), calls: calls)
        return renamedPath
    }

    private static func unusedPath(for path: String) -> String {
        var number = 1
        while access("\(path).\(number).corrupt", F_OK) == 0 { number += 1 }
        return "\(path).\(number).corrupt"
    }

    /// Renames a file, or deletes it if `newPath` is nil. A missing file is skipped.
    private func move(_ path: String, to newPath: String?) throws(FileError) {
        do throws(FileError) {
            if let newPath {
                try calls(.rename, path) { rename(path, newPath) }
            } else {
                try calls(.remove, path) { unlink(path) }
            }
        } catch {
            guard error.code == ENOENT else { throw error }
        }
    }

    /// The path without symbolic links, or the path itself if the file doesn't exist.
    private var realPath: String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Locks the file's folder for processes that use this library. Waits while another process holds the
    /// lock. Returns nil if the folder can't be locked.
    private func folderLock() -> OpenFile? {
        let folder = try? OpenFile(Folders.parent(of: realPath), .folder)
        return (try? folder?.lock(waits: true)) == true ? folder : nil
    }
}

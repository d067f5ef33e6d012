#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Detects whether other processes have a database open.
///
/// Each process that has one open holds a shared lock on a byte of the log's index (-shm)
/// (https://www.sqlite.org/walformat.html, "WAL Locks"; in SQLite's source `UNIX_SHM_DMS`). Closing a file releases
/// the locks that the process has on it, so the index stays open until the process ends. Create one before this
/// process opens the database, and few of them: for programs that run for one task.
package final class OtherOpeners {
    /// The byte after the eight locks, which begin at 120.
    private static let openByte: off_t = 128

    private let path: String
    private var index: Int32 = -1

    /// - Parameter path: Path of the database.
    package init(path: String) { self.path = path }

    /// Returns true if another process has it open now.
    ///
    /// - Throws: `SQLiteError` if that can't be determined.
    package func exist() throws -> Bool {
        guard let files = DatabaseFiles(path: path), files.index != nil else { return false }
        if index < 0 || !isCurrent(files.indexPath) { index = open(files.indexPath, O_RDONLY | O_CLOEXEC) }
        guard index >= 0 else {
            let code = errno
            if code == ENOENT { return false }
            throw SQLiteError(
                extendedCode: SQLiteError.cannotOpenCode,
                message: "\(files.indexPath) can't be opened: \(String(cString: strerror(code)))")
        }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = Self.openByte
        lock.l_len = 1
        guard fcntl(index, F_GETLK, &lock) == 0 else {
            throw SQLiteError(
                extendedCode: SQLiteError.cannotOpenCode,
                message: "the locks of \(files.indexPath) can't be read: \(String(cString: strerror(errno)))")
        }
        return lock.l_type != Int16(F_UNLCK)
    }

    /// Returns true if the open index is still the one at its path: the last process that closes a database removes
    /// it.
    private func isCurrent(_ path: String) -> Bool {
        var (opened, current) = (stat(), stat())
        return fstat(index, &opened) == 0 && stat(path, &current) == 0 && opened.st_ino == current.st_ino
            && opened.st_dev == current.st_dev
    }
}

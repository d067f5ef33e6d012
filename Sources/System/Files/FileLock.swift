#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension OpenFile {
    /// Which others a lock keeps out.
    package enum LockKind: Sendable {
        /// All.
        case exclusive
        /// Those that want it exclusively.
        case shared
    }

    /// Locks the file (`flock`), between processes and between open files of this one. The lock ends with the last
    /// reference to this object, or with the process, however it ends.
    ///
    /// - Parameter waits: Whether to wait while others hold it.
    /// - Returns: False if others hold it, and `waits` is false.
    /// - Throws: `FileError` if the file system has no locks.
    @discardableResult
    package func lock(_ kind: LockKind = .exclusive, waits: Bool) throws(FileError) -> Bool {
        let operation = (kind == .exclusive ? LOCK_EX : LOCK_SH) | (waits ? 0 : LOCK_NB)
        do throws(FileError) {
            try calls(.lock, path) { flock(descriptor, operation) }
            unlockAtEnd()
            return true
        } catch {
            guard error.code == EWOULDBLOCK else { throw error }
            return false
        }
    }
}

/// A lock on a file, as long as the value lives. `isLocked` sees it without locking the file meanwhile. The system
/// releases the lock of a process that is killed.
package final class FileLock: Sendable {
    /// The file, for reading and writing.
    package let file: OpenFile

    /// Opens the file at `path` and locks it. Returns nil if it doesn't exist, or others have locked it.
    ///
    /// - Parameter isNew: Creates the file, for its owner alone. Returns nil if one exists.
    package init?(_ path: String, isNew: Bool = false) {
        guard let file = try? OpenFile(path, isNew ? .creating(mode: 0o600) : .updating) else { return nil }
        var range = Self.wholeFile
        guard fcntl(file.descriptor, Command.set, &range) == 0 else { return nil }
        self.file = file
    }

    deinit {
        // As in `OpenFile`: a child process that is just being started has the lock too.
        var range = Self.wholeFile
        range.l_type = Int16(F_UNLCK)
        _ = fcntl(file.descriptor, Command.set, &range)
    }

    /// Returns whether others have locked the file at `path`.
    package static func isLocked(_ path: String) -> Bool {
        guard let file = try? OpenFile(path, .updating) else { return false }
        var range = wholeFile
        return fcntl(file.descriptor, Command.get, &range) == 0 && range.l_type != Int16(F_UNLCK)
    }

    private static var wholeFile: flock {
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        return range
    }

    /// The lock is the open file's and not the process's: two objects of one process keep each other out as well. These
    /// are Glibc's numbers, which Swift doesn't import.
    private enum Command {
        static let get: Int32 = 36
        static let set: Int32 = 37
    }
}

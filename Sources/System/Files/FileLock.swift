#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension OpenFile {
    /// Kind of a lock.
    package enum LockKind: Sendable {
        /// No other lock is allowed.
        case exclusive
        /// Other shared locks are allowed.
        case shared
    }

    /// Locks the file (`flock`) against other processes and other open files of this process. The lock ends
    /// when the last reference to this object is released, or when the process ends for any reason.
    ///
    /// - Parameter waits: True to wait until the lock is available.
    /// - Returns: False if another lock exists and `waits` is false.
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

/// A lock on a file for the lifetime of the value. `isLocked` tests it without locking the file. The system
/// releases the lock of a killed process.
package final class FileLock: Sendable {
    /// The file, open for reading and writing.
    package let file: OpenFile

    /// Opens the file at `path` and locks it. Returns nil if it doesn't exist or is locked.
    ///
    /// - Parameter isNew: True to create the file, accessible to its owner only. Then it returns nil if the
    ///   file exists.
    package init?(_ path: String, isNew: Bool = false) {
        guard let file = try? OpenFile(path, isNew ? .creating(mode: 0o600) : .updating) else { return nil }
        var range = Self.wholeFile
        guard fcntl(file.descriptor, Command.set, &range) == 0 else { return nil }
        self.file = file
    }

    deinit { unlock() }

    /// Ends the lock before the value is released. The file stays open.
    package func unlock() {
        // Closing the file isn't enough, as in `OpenFile`: a child process that is being started has the lock too.
        var range = Self.wholeFile
        range.l_type = Int16(F_UNLCK)
        _ = fcntl(file.descriptor, Command.set, &range)
    }

    /// Returns true if the file at `path` is locked.
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

    /// Commands for locks of the open file, not of the process: two objects of one process exclude each other
    /// too. The numbers are those of Glibc, which Swift doesn't import.
    private enum Command {
        static let get: Int32 = 36
        static let set: Int32 = 37
    }
}

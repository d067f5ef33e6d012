import Foundation

/// A lock on a file, as long as the value lives. The system releases the lock of a process that is killed, and a check
/// whether a file is locked doesn't lock it meanwhile.
final class FileLock: Sendable {
    /// The file, for reading and writing.
    let descriptor: Int32

    /// Opens the file at `path` and locks it; nil when it isn't there or somebody has locked it.
    init?(_ path: String, isNew: Bool = false) {
        let flags = O_RDWR | O_CLOEXEC | (isNew ? O_CREAT | O_EXCL : 0)
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { return nil }
        var range = Self.wholeFile
        guard fcntl(descriptor, Command.set, &range) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Whether somebody else has locked the file at `path`.
    static func isLocked(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var range = wholeFile
        return fcntl(descriptor, Command.get, &range) == 0 && range.l_type != Int16(F_UNLCK)
    }

    private static var wholeFile: flock {
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        return range
    }

    /// Of the open file and not of the process: two containers of one process keep each other out as well. Glibc's
    /// numbers, which Swift doesn't import.
    private enum Command {
        static let get: Int32 = 36
        static let set: Int32 = 37
    }
}

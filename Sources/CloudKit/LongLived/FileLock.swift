import Foundation

/// A lock on a file, held as long as the object lives. The system releases it if the process is killed. Checking for a
/// lock doesn't take it.
final class FileLock: Sendable {
    /// The file, open for reading and writing.
    let descriptor: Int32

    /// Opens the file at `path` and locks it; nil if it doesn't exist or is locked.
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

    /// Returns true if the file at `path` is locked through another descriptor.
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

    /// Locks belong to the open file, not to the process, so two containers of a process exclude each other. Swift
    /// doesn't import these constants of glibc.
    private enum Command {
        static let get: Int32 = 36
        static let set: Int32 = 37
    }
}

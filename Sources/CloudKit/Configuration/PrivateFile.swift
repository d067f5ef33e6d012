import Foundation

/// A file that only its owner may read.
package struct PrivateFile: Sendable {
    /// The reason that a private file can't be used, with what to do.
    package struct Failure: Error, Sendable {
        package var message: String
    }

    /// Identifies a version of the file without reading it.
    package struct Version: Hashable, Sendable {
        var inode: UInt64
        var byteCount: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    /// Maximum bytes of such a file.
    package static let bytesMax = 1 << 20

    /// The file's path.
    package let path: String

    /// A file at `path`.
    package init(path: String) {
        self.path = path
    }

    /// The folder of the file.
    package var folder: String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// The current version; nil if the file doesn't exist.
    package func version() -> Version? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Version(status)
    }

    /// Reads the file; nil if it doesn't exist.
    /// - Throws: `Failure` if others may read it, or it can't be read.
    package func read(bytesMax: Int = PrivateFile.bytesMax) throws(Failure) -> (
        bytes: [UInt8], version: Version
    )? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure("can't be opened")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("can't be looked at") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(message: "\(path) is no file.") }
        guard status.st_uid == geteuid() else {
            throw Failure(message: "\(path) belongs to another user of this machine; it isn't used.")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw Failure(
                message: """
                    \(path) holds a secret, and others may read it (its mode is \(mode)): it isn't used. \
                    Type: chmod 600 '\(path)'
                    """)
        }
        guard status.st_size <= bytesMax else {
            throw Failure(message: "\(path) has more than \(bytesMax) bytes.")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let got = bytes[count...].withUnsafeMutableBytes {
                Foundation.read(descriptor, $0.baseAddress, $0.count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure("can't be read") }
            if got == 0 { break }
            count += got
        }
        return (Array(bytes.prefix(count)), Version(status))
    }

    /// Puts `bytes` in the file's place, whole or not at all, so that they outlive a power failure.
    package func write(_ bytes: [UInt8], temporaryName: String) throws(Failure) {
        try makeFolder()
        let temporary = folder + "/." + temporaryName
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("can't be written beside: \(temporary)") }
        var isDone = false
        defer { if !isDone { unlink(temporary) } }
        let isWritten = Self.writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
        let code = errno
        close(descriptor)
        guard isWritten else {
            errno = code
            throw failure("can't be written")
        }
        guard rename(temporary, path) == 0 else { throw failure("can't be replaced") }
        isDone = true
        syncFolder()
    }

    /// Makes the file with `bytes` unless there is one, which then stays as it is.
    package func create(_ bytes: [UInt8], temporaryName: String) throws(Failure) {
        let temporary = PrivateFile(path: folder + "/" + temporaryName)
        try temporary.write(bytes, temporaryName: temporaryName + ".new")
        defer { unlink(temporary.path) }
        // A link, and not a renaming, fails when another process was first.
        guard link(temporary.path, path) == 0 || errno == EEXIST else { throw failure("can't be made") }
        syncFolder()
    }

    /// Runs `body` while no other process does so with a file of this folder.
    package func withFolderLocked<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try makeFolder()
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("lies in a folder that can't be opened") }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("lies in a folder that can't be locked") }
        }
        return try body()
    }

    private func makeFolder() throws(Failure) {
        var status = stat()
        if stat(folder, &status) == 0 { return }
        let parent = (folder as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw failure("can't be kept: its folder can't be made")
        }
    }

    /// Syncs the folder, so that new names in it outlive a power failure.
    func syncFolder() {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var count = 0
        while count < bytes.count {
            let put = bytes[count...].withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { return false }
            count += put
        }
        return true
    }

    private func failure(_ problem: String) -> Failure {
        Failure(message: "\(path) \(problem): \(String(cString: strerror(errno))).")
    }
}

extension PrivateFile.Version {
    fileprivate init(_ status: stat) {
        self.init(
            inode: UInt64(status.st_ino), byteCount: Int64(status.st_size),
            seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec))
    }
}

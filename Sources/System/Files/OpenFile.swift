#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An open file or folder. It is closed when the last reference is released.
///
/// Threads may share it, except for `read(bytesMax:)`, `write` and `seek`, which use the shared file
/// position.
package final class OpenFile: Sendable {
    /// The mode in which a file is opened. Child processes don't inherit the descriptor.
    package enum Access: Sendable {
        /// For reading. The file must exist.
        case reading
        /// For reading and writing. The file must exist.
        case updating
        /// For reading and writing. A missing file is created, accessible to its owner only.
        case updatingOrCreating
        /// For reading and writing a new file with this mode. The file must not exist.
        case creating(mode: mode_t)
        /// A folder, to sync or lock it.
        case folder

        fileprivate var flags: Int32 {
            switch self {
            case .reading: O_RDONLY
            case .updating: O_RDWR
            case .updatingOrCreating: O_RDWR | O_CREAT
            case .creating: O_RDWR | O_CREAT | O_EXCL
            case .folder: O_RDONLY | O_DIRECTORY
            }
        }

        fileprivate var mode: mode_t { if case .creating(let mode) = self { mode } else { 0o600 } }
    }

    /// Path with which the file was opened.
    package let path: String
    /// The file descriptor.
    package let descriptor: Int32
    let calls: FileCalls
    /// True if the file may be locked with `flock`.
    private let isLocked = Lock(false)

    /// Opens a file.
    ///
    /// - Parameter followsLinks: False to fail with `ELOOP` if the last part of the path is a symbolic link.
    /// - Throws: `FileError` of step `open`. Its code is `EEXIST` if a file to create exists.
    package init(
        _ path: String, _ access: Access, followsLinks: Bool = true, calls: FileCalls = .system
    ) throws(FileError) {
        self.path = path
        self.calls = calls
        let flags = access.flags | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW | O_NONBLOCK)
        descriptor = try calls(.open, path) { open(path, flags, access.mode) }
    }

    deinit {
        // A child process that is being started has a copy of the descriptor, and with it the lock, until it
        // executes its program. So closing the descriptor doesn't end the lock.
        if isLocked.withLock({ $0 }) { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    /// Makes the file end its `flock` lock before it is closed.
    func unlockAtEnd() { isLocked.withLock { $0 = true } }

    /// Returns the system's status of the file.
    ///
    /// - Throws: `FileError`.
    package func status() throws(FileError) -> stat {
        var status = stat()
        try calls(.status, path) { fstat(descriptor, &status) }
        return status
    }

    /// Returns the file's size in bytes.
    ///
    /// - Throws: `FileError`.
    package func size() throws(FileError) -> Int64 { Int64(try status().st_size) }

    /// Returns true if `path` still refers to this file: it was neither removed nor replaced.
    package func isStill(at path: String) -> Bool {
        var own = stat(), named = stat()
        return fstat(descriptor, &own) == 0 && stat(path, &named) == 0 && own.st_dev == named.st_dev
            && own.st_ino == named.st_ino
    }

    /// Reads the next bytes.
    ///
    /// - Returns: Up to `bytesMax` bytes. Empty at the end of the file.
    /// - Throws: `FileError`.
    package func read(bytesMax: Int) throws(FileError) -> [UInt8] {
        try bytes(bytesMax) { systemRead(descriptor, $0) }
    }

    /// Reads up to `bytesMax` bytes from the position to the end of the file.
    ///
    /// - Throws: `FileError`.
    package func readToEnd(bytesMax: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < bytesMax {
            let piece = try read(bytesMax: min(bytesMax - bytes.count, 1 << 20))
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    /// Reads bytes from `offset`. Doesn't change the file position.
    ///
    /// - Returns: Up to `bytesMax` bytes. Empty at the end of the file.
    /// - Throws: `FileError`.
    package func read(at offset: Int64, bytesMax: Int) throws(FileError) -> [UInt8] {
        try bytes(bytesMax) { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    }

    private func bytes(
        _ bytesMax: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int
    ) throws(FileError) -> [UInt8] {
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: bytesMax) { buffer, count in
            let space = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: bytesMax)
            do throws(FileError) {
                count = try calls(.read, path) { read(space) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all of `bytes` at the file position.
    ///
    /// - Throws: `FileError`. A part of the bytes may be written then.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try writeAll(bytes) { rest, _ in systemWrite(descriptor, rest) }
    }

    /// Writes all of `bytes` at the file position.
    ///
    /// - Throws: `FileError`. A part of the bytes may be written then.
    package func write(_ bytes: some Sequence<UInt8>) throws(FileError) {
        let result = bytes.withContiguousStorageIfAvailable { bytes in
            Result { () throws(FileError) in try write(UnsafeRawBufferPointer(bytes)) }
        }
        if let result { try result.get() } else { try write(Array(bytes)) }
    }

    /// Writes all of `bytes` from `offset`. Doesn't change the file position.
    ///
    /// - Throws: `FileError`. A part of the bytes may be written then.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        try writeAll(bytes) { rest, done in
            pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
        }
    }

    private func writeAll(
        _ bytes: UnsafeRawBufferPointer, _ write: (_ rest: UnsafeRawBufferPointer, _ done: Int) -> Int
    ) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = try calls(.write, path) { write(rest, done) }
            // A file that accepts no bytes is treated as full, to avoid an endless loop.
            guard count > 0 else { throw FileError(.write, path, ENOSPC) }
            done += count
        }
    }

    /// Sets the file position to `offset` bytes from the beginning.
    ///
    /// - Throws: `FileError`.
    package func seek(to offset: Int64) throws(FileError) {
        try calls(.seek, path) { lseek(descriptor, off_t(offset), SEEK_SET) }
    }

    /// Truncates the file to 0 bytes. Doesn't change the file position.
    ///
    /// - Throws: `FileError`.
    package func truncate() throws(FileError) {
        try calls(.write, path) { ftruncate(descriptor, 0) }
    }

    /// Waits until the file is on disk.
    ///
    /// - Throws: `FileError`.
    package func sync() throws(FileError) {
        try calls(.sync, path) { fsync(descriptor) }
    }
}

/// Wrappers of system calls that methods of the same names hide.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, bytes.baseAddress, bytes.count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that is read or written from front to back. One thread at a time, which its owner sees to.
final class PlainFile {
    /// Bytes that are read or written in one piece.
    static let pieceBytes = 1 << 20

    let path: String
    private let descriptor: Int32

    /// Opens a file for reading.
    ///
    /// - Throws: `DataFolderError.failed`.
    init(reading path: String) throws {
        self.path = path
        descriptor = try Self.open(path, O_RDONLY)
    }

    /// Makes a file for its owner only; there must be none.
    ///
    /// - Throws: `DataFolderError.failed`.
    init(making path: String) throws {
        self.path = path
        descriptor = try Self.open(path, O_RDWR | O_CREAT | O_EXCL)
    }

    deinit { close(descriptor) }

    /// The file's size in bytes.
    func size() throws -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure() }
        return Int64(status.st_size)
    }

    /// The next bytes, `bytesMax` at most; none at the end.
    func read(bytesMax: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: bytesMax)
        let count = try buffer.withUnsafeMutableBytes { bytes -> Int in
            while true {
                let count = systemRead(descriptor, bytes.baseAddress, bytes.count)
                if count >= 0 { return count }
                guard errno == EINTR else { throw failure() }
            }
        }
        buffer.removeLast(bytesMax - count)
        return buffer
    }

    /// Writes all of `bytes`.
    ///
    /// - Throws: `DataFolderError.failed`, also when the disk is full; then some of them may be written.
    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    throw failure()
                }
            }
        }
    }

    /// Shows others that somebody is at work on the file, until it is closed or the process ends, however it ends. Some
    /// file systems can't; there nobody concludes anything from it.
    func hold() {
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    }

    /// Goes to a place, in bytes from the beginning.
    func seek(to position: Int64) throws {
        guard lseek(descriptor, off_t(position), SEEK_SET) >= 0 else { throw failure() }
    }

    /// Waits until what was written is on the disk.
    func sync() throws {
        guard fsync(descriptor) == 0 else { throw failure() }
    }

    private func failure() -> DataFolderError {
        DataFolderError(path: path, errno)
    }

    private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
        let descriptor = systemOpen(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw DataFolderError(path: path, errno)
        }
        return descriptor
    }
}

@available(*, unavailable) extension PlainFile: Sendable {}

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

/// What the system says of folders.
enum Folders {
    /// The names in a folder, sorted; none when there is no such folder.
    ///
    /// - Throws: `DataFolderError.failed` for one that can't be read.
    static func names(in path: String) throws -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw DataFolderError(path: path, errno)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Makes what a folder names survive a loss of power.
    static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw DataFolderError(path: path, errno)
        }
    }

    /// The folder that `path` lies in.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

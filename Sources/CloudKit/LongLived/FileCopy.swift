import Foundation

/// Copies a file so that the copy outlives a power failure.
enum FileCopy {
    /// - Returns: false when there is no file to read, or it changed meanwhile: then there is no copy.
    /// - Throws: when the copy can't be written whole.
    static func copy(_ source: String, to target: String) throws(CKError) -> Bool {
        let from = open(source, O_RDONLY | O_CLOEXEC)
        guard from >= 0 else { return false }
        defer { close(from) }
        var status = stat()
        guard fstat(from, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard to >= 0 else { throw failure(target) }
        defer { close(to) }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(from, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                unlink(target)
                return false
            }
            guard count > 0 else { break }
            guard buffer.withUnsafeBytes({ writeAll(UnsafeRawBufferPointer(rebasing: $0[..<count]), to) })
            else { throw failure(target) }
        }
        guard fsync(to) == 0 else { throw failure(target) }
        var now = stat()
        guard fstat(from, &now) == 0, now.st_size == status.st_size,
            now.st_mtim.tv_sec == status.st_mtim.tv_sec, now.st_mtim.tv_nsec == status.st_mtim.tv_nsec
        else {
            unlink(target)
            return false
        }
        return true
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    private static func failure(_ path: String) -> CKError {
        CKError(.internalError, "The file \(path) can't be written: \(String(cString: strerror(errno))).")
    }
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes a file that gets its name when it is whole; "-" is the standard output.
final class ExportOutput {
    private let path: String
    private let draft: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isOver = false

    init(_ path: String, _ console: Console) throws {
        self.path = path
        draft = "\(path).part-\(getpid())"
        guard path != "-" else {
            descriptor = console.output
            return
        }
        guard access(path, F_OK) != 0 else {
            throw Failure.refused("\(path) is there already. Choose another name.")
        }
        let opened = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            throw Failure.failed("\(path) can't be written: \(String(cString: strerror(errno)))")
        }
        descriptor = opened
    }

    deinit {
        guard path != "-" else { return }
        close(descriptor)
        if !isOver { unlink(draft) }
    }

    func write(_ bytes: [UInt8]) throws {
        buffer += bytes
        if buffer.count >= 256 << 10 { try flush() }
    }

    /// All is on the disk, under its name.
    func finish() throws {
        try flush()
        guard path != "-" else { return }
        guard fsync(descriptor) == 0 else { throw failure() }
        // Some file systems have no second names for a file. What has the name by now is not overwritten.
        guard link(draft, path) == 0 || errno != EEXIST && rename(draft, path) == 0 else { throw failure() }
        unlink(draft)
        isOver = true
    }

    private func flush() throws {
        var rest = buffer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                if path == "-", errno == EPIPE { throw Failure.outputClosed }
                throw failure()
            }
        }
        buffer = []
    }

    private func failure() -> Failure {
        .failed("\(path) can't be written: \(String(cString: strerror(errno)))")
    }
}

/// Reads the lines of a file.
final class LineReader {
    private let path: String
    private let descriptor: Int32
    private let lineBytesMax: Int
    private var bytes: [UInt8] = []
    private var start = 0

    init(_ path: String, lineBytesMax: Int) throws {
        self.path = path
        self.lineBytesMax = lineBytesMax
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure.failed("\(path) can't be read: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Returns the next line without its end, or nil after the last one.
    func next() throws -> [UInt8]? {
        var searched = start
        while true {
            if let end = bytes[searched...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return Array(bytes[start..<end])
            }
            guard bytes.count - start <= lineBytesMax else {
                throw Failure.failed("\(path) has a line of more than \(lineBytesMax) bytes: it is no export")
            }
            bytes.removeFirst(start)
            start = 0
            searched = bytes.count
            var piece = [UInt8](repeating: 0, count: 256 << 10)
            let count = piece.withUnsafeMutableBytes { systemRead(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Failure.failed("\(path) can't be read: \(String(cString: strerror(errno)))")
            }
            guard count > 0 else {
                guard start < bytes.count else { return nil }
                defer { start = bytes.count }
                return Array(bytes[start...])
            }
            bytes += piece.prefix(count)
        }
    }
}

private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, bytes.baseAddress, bytes.count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

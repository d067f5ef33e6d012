import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes a file that gets its final name when it is complete. "-" is the standard output.
final class ExportOutput {
    private let path: String
    /// Nil for the standard output.
    private let draft: DraftFile?
    private let output: Int32
    private var buffer: [UInt8] = []

    init(_ path: String, _ console: Console) throws {
        self.path = path
        output = console.output
        guard path != "-" else {
            draft = nil
            return
        }
        guard access(path, F_OK) != 0 else {
            throw Failure.refused("\(path) exists already. Choose another name.")
        }
        draft = try Self.writing(path) { () throws(FileError) in
            return try DraftFile(path)
        }
    }

    func write(_ bytes: [UInt8]) throws {
        buffer += bytes
        if buffer.count >= 256 << 10 { try flush() }
    }

    /// Syncs the file and gives it its final name.
    func finish() throws {
        try flush()
        // A file that was created with this name in the meantime isn't overwritten.
        try Self.writing(path) { () throws(FileError) in try draft?.commit(replacing: false) }
    }

    private func flush() throws {
        defer { buffer = [] }
        if let draft { return try Self.writing(path) { () throws(FileError) in try draft.write(buffer) } }
        var rest = buffer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(output, $0) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                if errno == EPIPE { throw Failure.outputClosed }
                throw Failure.failed("\(path) can't be written: \(String(cString: strerror(errno)))")
            }
        }
    }

    private static func writing<Result>(
        _ path: String, _ body: () throws(FileError) -> Result
    ) throws -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw Failure.failed("\(path) can't be written: \(error.reason)")
        }
    }
}

/// Reads the lines of a file.
final class LineReader {
    private let path: String
    private let file: OpenFile
    private let lineBytesMax: Int
    private var bytes: [UInt8] = []
    private var start = 0

    init(_ path: String, lineBytesMax: Int) throws {
        self.path = path
        self.lineBytesMax = lineBytesMax
        do throws(FileError) {
            file = try OpenFile(path, .reading)
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: FileError) -> Failure {
        .failed("\(error.path) can't be read: \(error.reason)")
    }

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
            let piece: [UInt8]
            do throws(FileError) {
                piece = try file.read(bytesMax: 256 << 10)
            } catch {
                throw Self.failure(error)
            }
            guard !piece.isEmpty else {
                guard start < bytes.count else { return nil }
                defer { start = bytes.count }
                return Array(bytes[start...])
            }
            bytes += piece
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Lines of a file or a pipe, one at a time.
final class LineInput {
    /// Maximum bytes of a line.
    static let lineBytesMax = 512 << 20
    private static let chunkBytes = 256 << 10

    /// Interval of `whileWaiting` while a pipe has nothing to read.
    private static let waitMilliseconds: Int32 = 250

    /// Called while a pipe has nothing to read. It throws to stop reading.
    var whileWaiting: () throws -> Void = {}
    private let input: ConsoleInput
    private let lineBytesMax: Int
    /// Start of the first line: a shell may have read lines of its standard input.
    private let start: off_t
    private var buffer: [UInt8] = []
    private var position = 0
    private var hasEnded = false
    /// Number of the line that `next()` returned last, from 1.
    private(set) var number = 0

    /// - Parameter path: The file; "-" for the standard input.
    init(_ path: String, _ console: Console, lineBytesMax: Int = LineInput.lineBytesMax) throws {
        self.lineBytesMax = lineBytesMax
        input = try console.open(path, missing: Failure.notThere)
        start = max(0, lseek(input.descriptor, 0, SEEK_CUR))
    }

    /// Returns to the first line. False if that isn't possible, as with a pipe.
    func rewind() -> Bool {
        var status = stat()
        guard fstat(input.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            lseek(input.descriptor, start, SEEK_SET) == start
        else { return false }
        (buffer, position, hasEnded, number) = ([], 0, false, 0)
        return true
    }

    /// Returns the next line without its end, or nil after the last one.
    func next() throws -> [UInt8]? {
        var searched = position
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                defer { position = end + 1 }
                number += 1
                return Array(buffer[position..<end])
            }
            searched = buffer.count - position
            if hasEnded {
                guard position < buffer.count else { return nil }
                defer { position = buffer.count }
                number += 1
                return Array(buffer[position...])
            }
            guard searched <= lineBytesMax else {
                throw Failure.failed("\(input.name), line \(number + 1): more than \(lineBytesMax) bytes")
            }
            buffer.removeFirst(position)
            position = 0
            try fill()
        }
    }

    private func fill() throws {
        while true {
            var ready = pollfd(fd: input.descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&ready, 1, Self.waitMilliseconds) == 0 {
                try whileWaiting()
                continue
            }
            let chunk = try input.read(bytesMax: Self.chunkBytes)
            hasEnded = chunk.isEmpty
            buffer += chunk
            return
        }
    }
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Input and output of a command, and its environment.
struct Console: Sendable {
    static let inputBytesMax = 64 << 10

    /// Name with which the program was called, for suggested commands.
    let program: String
    let environment: [String: String]
    var output: Int32 = 1
    var errors: Int32 = 2
    var input: Int32 = 0

    /// Writes text to the standard output.
    ///
    /// - Throws: `Failure.outputClosed` if its reader has closed it.
    func print(_ text: String, end: String = "\n") throws {
        guard Self.write(text + end, to: output) else {
            guard errno == EPIPE else {
                throw Failure.failed("The output can't be written: \(String(cString: strerror(errno)))")
            }
            throw Failure.outputClosed
        }
    }

    func print(_ json: JSON) throws {
        try print(json.text)
    }

    /// Writes a line to the standard error. Output that can't be written is dropped.
    func note(_ text: String) {
        _ = Self.write(text + "\n", to: errors)
    }

    /// Returns the first line of `path`, or of the standard input if it is "-".
    func secret(from path: String, what: String = "password") throws -> String {
        let line = try reading(path) { try Self.line(from: $0, what: what) }
        guard !line.isEmpty else {
            throw Failure.failed("There is no \(what) in \(path == "-" ? "the standard input" : path).")
        }
        return line
    }

    /// Returns the bytes of `path`, or of the standard input if it is "-". One more than `max` if there are more.
    func bytes(from path: String, max: Int) throws -> [UInt8] {
        try reading(path) { descriptor in
            var (bytes, byte) = ([UInt8](), UInt8(0))
            while bytes.count <= max {
                let count = read(descriptor, &byte, 1)
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else {
                    throw Failure.failed("\(path) can't be read: \(String(cString: strerror(errno)))")
                }
                guard count == 1 else { break }
                bytes.append(byte)
            }
            return bytes
        }
    }

    private func reading<Value>(_ path: String, _ body: (Int32) throws -> Value) throws -> Value {
        let descriptor = path == "-" ? input : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure.failed("\(path) can't be read: \(String(cString: strerror(errno)))")
        }
        defer { if path != "-" { close(descriptor) } }
        return try body(descriptor)
    }

    /// Asks for a secret on the terminal, without echo.
    func secret(prompt: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw Failure.usage("there is no terminal to prompt for the password: use --password-stdin")
        }
        defer { close(terminal) }
        var mode = termios()
        guard tcgetattr(terminal, &mode) == 0 else { throw Failure.failed("The terminal can't be used.") }
        var silent = mode
        silent.c_lflag &= ~tcflag_t(ECHO)
        _ = Self.write(prompt, to: terminal)
        tcsetattr(terminal, TCSAFLUSH, &silent)
        defer {
            tcsetattr(terminal, TCSAFLUSH, &mode)
            _ = Self.write("\n", to: terminal)
        }
        let line = try Self.line(from: terminal)
        guard !line.isEmpty else { throw Failure.failed("No password was typed.") }
        return line
    }

    /// Asks a question on the terminal. Returns nil if there is none.
    func answer(prompt: String) throws -> String? {
        guard isatty(input) != 0 else { return nil }
        _ = Self.write(prompt, to: errors)
        return try Self.line(from: input)
    }

    private static func line(from descriptor: Int32, what: String = "password") throws -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < inputBytesMax {
            let count = read(descriptor, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            guard count == 1, byte != 0x0A else { break }
            bytes.append(byte)
        }
        if bytes.last == 0x0D { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure.failed("The \(what) isn't UTF-8.")
        }
        return text
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                #if canImport(Glibc)
                    Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                #else
                    Darwin.write(descriptor, bytes.baseAddress, bytes.count)
                #endif
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

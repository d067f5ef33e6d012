import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Input and output of a command, and its environment.
struct Console: Sendable {
    /// Maximum bytes of a line that is read as a secret or an answer.
    static let inputBytesMax = 64 << 10

    /// Name with which the program was called, for suggested commands.
    let program: String
    let environment: [String: String]
    var output: Int32 = 1
    var errors: Int32 = 2
    var input: Int32 = 0
    /// The calls that read.
    var calls = FileCalls.system

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
        let input = try open(path)
        let line = try line(from: input, what: what)
        guard !line.isEmpty else { throw Failure.failed("There is no \(what) in \(input.name).") }
        return line
    }

    /// Returns the bytes of `path`, or of the standard input if it is "-". One more than `max` if there are more.
    func bytes(from path: String, max: Int) throws -> [UInt8] {
        let input = try open(path)
        var bytes: [UInt8] = []
        while bytes.count <= max {
            let piece = try input.read(bytesMax: min(max + 1 - bytes.count, 256 << 10))
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    /// Opens `path`, or the standard input if it is "-".
    ///
    /// - Parameter missing: Makes the error of a missing file.
    /// - Throws: `Failure`.
    func open(_ path: String, missing: (String) -> Failure = Failure.failed) throws -> ConsoleInput {
        if path == "-" { return ConsoleInput(input, "the standard input", calls) }
        do {
            return try ConsoleInput(OpenFile(path, .reading, calls: calls), Shown.word(path), calls)
        } catch {
            let text = "\(Shown.word(path)) can't be read: \(error.reason)"
            throw error.code == ENOENT ? missing(text) : .failed(text)
        }
    }

    /// Asks for a secret on the terminal, without echo.
    func secret(prompt: String) throws -> String {
        let terminal = systemOpen("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
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
        let line = try line(from: ConsoleInput(terminal, "the terminal", calls))
        guard !line.isEmpty else { throw Failure.failed("No password was typed.") }
        return line
    }

    /// Asks a question on the terminal. Returns nil if there is none.
    func answer(prompt: String) throws -> String? {
        guard isatty(input) != 0 else { return nil }
        _ = Self.write(prompt, to: errors)
        return try line(from: open("-"), what: "answer")
    }

    /// Reads one line, and nothing of what follows it.
    private func line(from input: ConsoleInput, what: String = "password") throws -> String {
        var bytes: [UInt8] = []
        while let byte = try input.read(bytesMax: 1).first, byte != 0x0A {
            guard bytes.count < Self.inputBytesMax else {
                throw Failure.failed(
                    "The \(what) in \(input.name) is longer than \(Self.inputBytesMax) bytes.")
            }
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

/// A file, the standard input or a terminal that is read.
struct ConsoleInput {
    let descriptor: Int32
    /// The name for error messages.
    let name: String
    private let calls: FileCalls
    /// Closes the descriptor with its last reference. Nil for a descriptor of the caller.
    private let file: OpenFile?

    /// Reads a descriptor, which isn't closed.
    init(_ descriptor: Int32, _ name: String, _ calls: FileCalls) {
        (self.descriptor, self.name, self.calls, file) = (descriptor, name, calls, nil)
    }

    /// Reads a file.
    init(_ file: OpenFile, _ name: String, _ calls: FileCalls) {
        (descriptor, self.name, self.calls, self.file) = (file.descriptor, name, calls, file)
    }

    /// Reads the next bytes.
    ///
    /// - Returns: Up to `bytesMax` bytes; none at the end.
    /// - Throws: `Failure`.
    func read(bytesMax: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        do {
            let count = try calls(.read, name) { systemRead(descriptor, &bytes, bytesMax) }
            bytes.removeLast(bytesMax - count)
            return bytes
        } catch {
            throw Failure.failed("\(name) can't be read: \(error.reason)")
        }
    }
}

/// Wrappers of system calls that methods of the same names hide.
private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}

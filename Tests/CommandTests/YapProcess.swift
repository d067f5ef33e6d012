import Foundation
import SQLiteTestSupport
import System
import Testing

/// The program `yap` of this build, run as a user runs it: a process of its own, in a folder of its own.
struct YapProcess {
    struct Failure: Error {
        let words: String
    }

    /// What a process said, and how it ended.
    struct Ended {
        let output: String
        let errors: String
        /// Its exit code; 128 and the signal's number when a signal ended it, as a shell says.
        let code: Int32
    }

    /// The program's path.
    static var program: String {
        get throws {
            try #require(Bundle.main.executableURL).deletingLastPathComponent().appendingPathComponent("yap")
                .path
        }
    }

    /// Runs it with `words` in `folder` and waits for its end on a thread of its own.
    static func run(
        _ words: [String], in folder: TemporaryFolder, input: String = "", environment: [String: String] = [:]
    ) async throws -> Ended {
        try await shell(
            "exec \"$@\"", [try program] + words, in: folder, input: input, environment: environment)
    }

    /// Runs a line of bash, in which `yap` is the program and `$@` are `words`.
    static func shell(
        _ line: String, _ words: [String] = [], in folder: TemporaryFolder, input: String = "",
        environment: [String: String] = [:]
    ) async throws -> Ended {
        let scratch = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("yap"), withDestinationPath: try program)
        try Data(input.utf8).write(to: URL(filePath: scratch.file("input")))
        let surroundings =
            [
                "PATH=\(scratch.path):/usr/bin:/bin", "HOME=\(folder.path)",
                "XDG_CONFIG_HOME=\(folder.path)/config",
            ]
            + environment.map { "\($0.key)=\($0.value)" }.sorted()
        let arguments =
            ["/bin/bash", "-c", "set -o pipefail; cd \"$0\" && { \(line); }", folder.path] + words
        let code = try await onAThread {
            let id = try spawn(
                arguments, surroundings,
                files: [scratch.file("input"), scratch.file("output"), scratch.file("errors")])
            return wait(for: id)
        }
        func text(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(filePath: scratch.file(name))), as: UTF8.self)
        }
        return Ended(output: try text("output"), errors: try text("errors"), code: code)
    }

    /// Runs a line of bash as `shell` does, and expects that it ends with `code`.
    @discardableResult
    static func done(
        _ line: String, code: Int32 = 0, in folder: TemporaryFolder,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Ended {
        let ended = try await shell(line, in: folder)
        #expect(
            ended.code == code, "\(line): \(ended.output) \(ended.errors)", sourceLocation: sourceLocation)
        return ended
    }

    /// Runs what blocks off the pool that the tests run on.
    static func onAThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result(catching: body)) }.start()
        }
    }

    /// Starts a program; `files` are its input, output and errors, of which a nil one is a pipe's end.
    static func spawn(_ arguments: [String], _ environment: [String], files: [String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, file) in files.enumerated() {
            let flags = number == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
            posix_spawn_file_actions_addopen(&actions, Int32(number), file, flags, 0o600)
        }
        var words = arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var id: pid_t = 0
        let code = posix_spawn(&id, arguments[0], &actions, nil, &words, &variables)
        guard code == 0 else { throw Failure(words: "can't start \(arguments[0]): \(code)") }
        return id
    }

    static func wait(for id: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}

/// `yap serve` as a process, which ends with the value at the latest.
final class ServeProcess: Sendable {
    let id: pid_t
    let url: String
    /// What it told a person until it listened.
    let said: String
    private let folder: TemporaryFolder
    private let scratch: TemporaryFolder
    private let hasEnded = Lock(false)

    /// Starts it on a free port and waits until it listens.
    init(in folder: TemporaryFolder, _ words: [String] = []) async throws {
        let scratch = try TemporaryFolder()
        let arguments =
            ["/bin/bash", "-c", "cd \"$0\" && exec \"$@\"", folder.path, try YapProcess.program, "serve"]
            + ["--port", "0", "--port-file", scratch.file("port")] + words
        // A pipe with a name: opening it for reading waits until the other side is there, and its end is the
        // process's.
        let errors = scratch.file("errors")
        guard mkfifo(errors, 0o600) == 0 else { throw YapProcess.Failure(words: "no pipe: \(errno)") }
        let reader = open(errors, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        let files = ["/dev/null", scratch.file("log"), errors]
        let id = try YapProcess.spawn(arguments, ["PATH=/usr/bin:/bin"], files: files)
        let said = try await YapProcess.onAThread { try Self.read(reader, until: "Ctrl-C ends it.\n") }
        self.id = id
        self.said = said
        self.folder = folder
        self.scratch = scratch
        guard let found = said.firstMatch(of: /listening on (https?:\/\/127\.0\.0\.1:\d+)\n/) else {
            kill(id, SIGKILL)
            _ = YapProcess.wait(for: id)
            throw YapProcess.Failure(words: "it doesn't listen: \(said)")
        }
        url = String(found.output.1)
    }

    deinit {
        guard !hasEnded.withLock({ $0 }) else { return }
        kill(id, SIGKILL)
        _ = YapProcess.wait(for: id)
    }

    /// The port that it wrote into the port file; nil when there is no file.
    var portFile: String? {
        try? String(contentsOfFile: scratch.file("port"), encoding: .utf8)
    }

    /// What it has logged.
    var log: String {
        get throws { try String(contentsOfFile: scratch.file("log"), encoding: .utf8) }
    }

    /// Sends the signal and waits for the end. Returns the exit code.
    func end(with signal: Int32 = SIGTERM) async throws -> Int32 {
        kill(id, signal)
        hasEnded.withLock { $0 = true }
        let id = id
        return try await YapProcess.onAThread { YapProcess.wait(for: id) }
    }

    private static func read(_ descriptor: Int32, until mark: String) throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            // Our own end is open for writing too, so an end of the process alone would never be seen.
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, 20_000) == 1 else { break }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasSuffix(mark) || text.contains("yap: ") { return text }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

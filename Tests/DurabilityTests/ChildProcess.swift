#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A program that was started with its standard output in a pipe, and is killed and waited for by its own id.
final class ChildProcess {
    struct Failure: Error {
        let words: String
    }

    private let id: pid_t
    private let output: Int32

    init(_ path: String, _ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(words: "no pipe: \(errno)") }
        // Not to be inherited by a child that another test starts: it would hold the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var spawned: pid_t = 0
        let code = posix_spawn(&spawned, path, &actions, nil, &words, environ)
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw Failure(words: "can't start \(path): \(code)")
        }
        id = spawned
        output = ends[0]
    }

    deinit {
        close(output)
    }

    /// The next bytes of the output, waiting for them; `nil` at its end.
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            #if canImport(Glibc)
                let count = Glibc.read(output, &bytes, bytes.count)
            #else
                let count = Darwin.read(output, &bytes, bytes.count)
            #endif
            if count > 0 { return Array(bytes[..<count]) }
            if count == 0 || errno != EINTR { return nil }
        }
    }

    /// Kills it, as the system does with a process that takes too much memory: it gets no chance to do anything.
    func kill() {
        #if canImport(Glibc)
            _ = Glibc.kill(id, SIGKILL)
        #else
            _ = Darwin.kill(id, SIGKILL)
        #endif
    }

    /// Waits for its end. Returns the signal that ended it, 0 if none did.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F
    }
}

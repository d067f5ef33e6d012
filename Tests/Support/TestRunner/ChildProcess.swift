import Glibc
import TestRun

/// A program in a session of its own, with its output in a file.
struct ChildProcess {
    struct StartFailure: Error, CustomStringConvertible {
        let description: String
    }

    let id: pid_t

    init(_ words: [String], input: String = "/dev/null", output: String) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A process group wouldn't do: many tests put their children into groups of their own.
        let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID, which Swift doesn't import.
        posix_spawnattr_setflags(&attributes, Int16(newSession | POSIX_SPAWN_SETSIGMASK))
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var id: pid_t = 0
        let code = posix_spawnp(&id, words[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw StartFailure(description: "can't start \(words[0]): error \(code)") }
        self.id = id
    }

    /// How it ended, or nil if it is running.
    func end() -> ProcessEnd? {
        var status: Int32 = 0
        guard waitpid(id, &status, WNOHANG) == id else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
    }

    /// Waits for the end for up to `seconds`.
    func waitForEnd(seconds: Double) -> Bool {
        let deadline = Clock.seconds + seconds
        while end() == nil {
            guard Clock.seconds < deadline else { return false }
            _ = EndSignals.wait(seconds: 0.1)
        }
        return true
    }
}

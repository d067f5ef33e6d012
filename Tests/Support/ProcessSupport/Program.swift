import Foundation
import Glibc
import System

/// A program that was started, with what it says in pipes. It is ended and waited for by its own id.
package final class Program: Sendable {
    /// How a program ended.
    package enum End: Sendable, Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    /// What is left of a program that has ended.
    package struct Result: Sendable {
        package let end: End
        package let output: String
        package let errors: String
    }

    /// A program could not be started.
    package struct StartFailure: Error {
        package let words: String
    }

    private struct State {
        var output = [UInt8]()
        var errors = [UInt8]()
        var end: End?
        var waiters = [@Sendable (State) -> Bool]()

        mutating func append(_ bytes: ArraySlice<UInt8>, toErrors: Bool) {
            if toErrors { errors += bytes } else { output += bytes }
        }
    }

    /// The id of the process.
    package let id: pid_t
    private let state = Lock(State())

    /// Two programs that start at once must not inherit each other's pipes: their ends would never be seen.
    private static let starting = Lock(())
    /// Those that have not been waited for.
    private static let running = Lock<Set<pid_t>>([])

    /// Starts the program at `path`.
    ///
    /// - Parameters:
    ///   - environment: All that it gets, besides `PATH` and `HOME`.
    ///   - input: What it reads on its standard input.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String = ""
    ) throws {
        let (id, pipes) = try Self.starting.withLock { _ throws(StartFailure) in
            let (entry, output, errors) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
            defer { for end in [entry.read, output.write, errors.write] { close(end) } }
            let id = try Self.spawn(
                path, arguments, environment, [entry.read, output.write, errors.write])
            return (id, (entry: entry.write, output: output.read, errors: errors.read))
        }
        self.id = id
        // Small enough for the pipe: nobody waits here. Who has ended already reads nothing, which is no reason to end.
        Glibc.signal(SIGPIPE, SIG_IGN)
        _ = Array(input.utf8).withUnsafeBytes { write(pipes.entry, $0.baseAddress, $0.count) }
        close(pipes.entry)
        Thread { [self] in follow(pipes.output, pipes.errors) }.start()
    }

    private static func pipe() throws(StartFailure) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw StartFailure(words: "no pipe: error \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String], _ descriptors: [Int32]
    ) throws(StartFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        // A group of its own: a Ctrl-C is for who started it, and ends it in order.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        posix_spawnattr_setpgroup(&attributes, 0)
        // What this process ignores or holds back is not for its children.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var given = environment
        for name in ["PATH", "HOME", "LLVM_PROFILE_FILE"] where given[name] == nil {
            given[name] = ProcessInfo.processInfo.environment[name]
        }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = given.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var id: pid_t = 0
        let code = posix_spawn(&id, path, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw StartFailure(words: "can't start \(path): error \(code)") }
        running.withLock { _ = $0.insert(id) }
        return id
    }

    // MARK: Ending

    /// Sends a signal, unless it has ended already.
    package func signal(_ number: Int32) {
        Self.running.withLock { if $0.contains(id) { kill(id, number) } }
    }

    /// Kills every program that still runs, at the end of who started them.
    package static func killAll() {
        running.withLock { for id in $0 { kill(id, SIGKILL) } }
    }

    // MARK: Waiting

    /// The first line of the output for which `holds`, as soon as it is there; nil if the program ends without one.
    package func line(where holds: @escaping @Sendable (String) -> Bool) async -> String? {
        await wait { state in
            let line = Self.lines(state.output, isWhole: state.end != nil).first(where: holds)
            return line != nil || state.end != nil ? .some(line) : nil
        }
    }

    /// The first line of the errors for which `holds`, as soon as it is there; nil if the program ends without one.
    package func errorLine(where holds: @escaping @Sendable (String) -> Bool) async -> String? {
        await wait { state in
            let line = Self.lines(state.errors, isWhole: state.end != nil).first(where: holds)
            return line != nil || state.end != nil ? .some(line) : nil
        }
    }

    /// Waits for the end.
    package func result() async -> Result {
        await wait { state in
            state.end.map { end in
                Result(
                    end: end, output: String(decoding: state.output, as: UTF8.self),
                    errors: String(decoding: state.errors, as: UTF8.self))
            }
        }
    }

    /// Waits for the end on this thread, which must not be one of Swift's pool.
    @discardableResult
    package func waitForEnd() -> End {
        let ended = DispatchSemaphore(value: 0)
        add { state in
            if state.end != nil { ended.signal() }
            return state.end != nil
        }
        ended.wait()
        return state.withLock { $0.end } ?? .exit(-1)
    }

    /// Kills the program if the task is cancelled: nothing else would end the waiting.
    private func wait<Value: Sendable>(_ value: @escaping @Sendable (State) -> Value?) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add { state in
                    guard let value = value(state) else { return false }
                    continuation.resume(returning: value)
                    return true
                }
            }
        } onCancel: {
            signal(SIGKILL)
        }
    }

    /// Calls `waiter` now and after each change, until it returns true.
    private func add(_ waiter: @escaping @Sendable (State) -> Bool) {
        state.withLock { state in
            if !waiter(state) { state.waiters.append(waiter) }
        }
    }

    private static func lines(_ bytes: [UInt8], isWhole: Bool) -> [String] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if !isWhole { lines.removeLast() }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: The thread

    private func follow(_ output: Int32, _ errors: Int32) {
        var polled = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while polled.contains(where: { $0.fd >= 0 }) {
            guard poll(&polled, 2, -1) >= 0 || errno == EINTR else { break }
            for index in polled.indices where polled[index].fd >= 0 && polled[index].revents != 0 {
                let count = read(polled[index].fd, &bytes, bytes.count)
                if count > 0 {
                    change { $0.append(bytes[..<count], toErrors: index == 1) }
                } else if count == 0 || errno != EINTR {
                    close(polled[index].fd)
                    polled[index].fd = -1
                }
            }
        }
        // Waited for without taking it away, so that its id can't be another's while a signal is sent to it.
        var information = siginfo_t()
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        var status: Int32 = 0
        Self.running.withLock { running in
            running.remove(id)
            while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        }
        let signal = status & 0x7F
        change { $0.end = signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal) }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.waiters = state.waiters.filter { !$0(state) }
        }
    }
}

import CloudServer
import CloudService
import CloudStore
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// The command `yap serve` as a process of its own, over a folder that the test made. Known and ended by its id.
final class ServerProcess: @unchecked Sendable {
    // Sendable because what changes is touched only under the condition's lock.
    private let condition = NSCondition()
    private var output: [UInt8] = []
    private var isAtEnd = false
    private var status: Int32?
    let id: pid_t

    /// Starts it. `port` waits until it listens.
    ///
    /// - Parameter descriptorsMax: how many descriptors it may have, by order of the shell that starts it.
    init(folder: String, arguments: [String] = [], descriptorsMax: Int? = nil) throws {
        var words = [try Self.executable(), "serve", "--data", folder, "--port", "0"] + arguments
        if let descriptorsMax {
            // What other tests have open at the moment would be inherited, and count against the limit.
            let close = "for f in /proc/self/fd/*; do n=${f##*/}; ((n > 2)) && eval \"exec $n>&-\"; done"
            let limit = "ulimit -n \(descriptorsMax) && exec \"$@\""
            words = ["/bin/bash", "-c", "\(close); \(limit)", "bash"] + words
        }
        let path = words[0]
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure("no pipe: \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var spawned: pid_t = 0
        let code = posix_spawn(&spawned, path, &actions, nil, &pointers, environ)
        close(ends[1])
        id = spawned
        guard code == 0 else {
            close(ends[0])
            throw Failure("can't start \(path): \(code)")
        }
        let source = ends[0]
        Thread { [self] in readAll(source) }.start()
    }

    deinit { end() }

    /// The port, as soon as the process listens.
    func port() throws -> Int {
        let mark = "://127.0.0.1:"
        let text = try waitForOutput { text in
            guard let range = text.range(of: mark) else { return false }
            return text[range.upperBound...].contains { !$0.isNumber }
        }
        guard let range = text.range(of: mark),
            let port = Int(text[range.upperBound...].prefix { $0.isNumber })
        else { throw Failure("no port: \(text)") }
        return port
    }

    /// All output so far.
    var text: String { condition.withLock { String(decoding: output, as: UTF8.self) } }

    /// One that couldn't be started has no id, and 0 would mean every process of the group.
    func signal(_ number: Int32) { if id > 0 { _ = Glibc.kill(id, number) } }

    /// Waits for the end. Returns the status as `waitpid` gives it; its low seven bits are the signal.
    @discardableResult
    func wait() -> Int32 {
        condition.lock()
        defer { condition.unlock() }
        if let status { return status }
        guard id > 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        self.status = status
        return status
    }

    /// Whether it ends within so many seconds: its output is closed then. `wait` returns its status.
    func ends(withinSeconds seconds: Double) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while !isAtEnd {
            guard condition.wait(until: deadline) else { return false }
        }
        return true
    }

    /// Ends it as the system does with a process that takes too much memory.
    func end() {
        guard condition.withLock({ status == nil }) else { return }
        signal(SIGKILL)
        wait()
    }

    /// The memory that it has in use, in bytes.
    func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw Failure("no VmRSS") }
        return kilobytes << 10
    }

    func waitForOutput(deadlineSeconds: Double = 30, _ isEnough: (String) -> Bool) throws -> String {
        let deadline = Date(timeIntervalSinceNow: deadlineSeconds)
        condition.lock()
        defer { condition.unlock() }
        while true {
            let text = String(decoding: output, as: UTF8.self)
            if isEnough(text) { return text }
            guard !isAtEnd, condition.wait(until: deadline) else { throw Failure("it said: \(text)") }
        }
    }

    private func readAll(_ source: Int32) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(source, &bytes, bytes.count)
            if count < 0 && errno == EINTR { continue }
            condition.withLock {
                if count > 0 { output += bytes[..<count] } else { isAtEnd = true }
                condition.broadcast()
            }
            if count <= 0 { break }
        }
        close(source)
    }

    /// Products lie beside the test bundle.
    private static func executable() throws -> String {
        guard let folder = Bundle.main.executableURL?.deletingLastPathComponent() else {
            throw Failure("no bundle")
        }
        return folder.appending(path: "yap").path
    }
}

import Foundation
import TestRun

/// The processes of the machine at one moment.
struct ProcessTable {
    private struct Entry {
        let parent: pid_t
        let session: pid_t
        let seconds: Double
    }

    private let entries: [pid_t: Entry]

    init() {
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        entries = names.compactMap(pid_t.init).reduce(into: [:]) { $0[$1] = Self.entry($1, ticks) }
    }

    private static func entry(_ id: pid_t, _ ticks: Double) -> Entry? {
        // The name of the program, in parentheses, may have spaces.
        let text = RunFiles.text(of: "/proc/\(id)/stat").split(separator: ")").last ?? ""
        let fields = text.split(separator: " ")
        guard fields.count > 14, let parent = pid_t(fields[1]), let session = pid_t(fields[3]) else {
            return nil
        }
        // In user mode and in the kernel: its own, and that of its children that have ended.
        let used = fields[11...14].compactMap { Double($0) }.reduce(0, +)
        return Entry(parent: parent, session: session, seconds: used / ticks)
    }

    /// The processes of a session, with those that have left it for one of their own.
    func members(of session: pid_t) -> Set<pid_t> {
        var members = Set(entries.filter { $0.value.session == session }.keys)
        var added = members
        while !added.isEmpty {
            added = Set(entries.filter { added.contains($0.value.parent) }.keys).subtracting(members)
            members.formUnion(added)
        }
        return members
    }

    /// The command lines of the members of a session, without its leader.
    func commandLines(of session: pid_t) -> [String] {
        members(of: session).subtracting([session]).sorted().map { id in
            let words = RunFiles.text(of: "/proc/\(id)/cmdline").split(separator: "\0")
            return Text.bounded("\(id) \(words.joined(separator: " "))")
        }
    }

    /// Processor seconds that the members of a session have used.
    func processorSeconds(of session: pid_t) -> Double {
        members(of: session).reduce(0) { $0 + (entries[$1]?.seconds ?? 0) }
    }

    /// Ends all members of the sessions: with SIGTERM, and with SIGKILL what is left after `patience` seconds.
    static func end(_ sessions: [pid_t], patience: Double = 2) {
        func members() -> Set<pid_t> {
            let table = ProcessTable()
            return Set(sessions.flatMap(table.members).filter { table.isRunning($0) })
        }
        let known = members()
        for id in known { kill(id, SIGTERM) }
        let deadline = Clock.seconds + patience
        while !members().isEmpty, Clock.seconds < deadline { _ = EndSignals.wait(seconds: 0.05) }
        // A child that has left the session has no parent any more.
        let table = ProcessTable()
        let left = known.filter { table.isRunning($0) }
        for id in members().union(left) { kill(id, SIGKILL) }
    }

    private func isRunning(_ id: pid_t) -> Bool {
        entries[id] != nil
    }
}

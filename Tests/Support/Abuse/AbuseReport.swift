import Foundation

/// Prints what the attacks came to, and judges what must hold. Latencies are told, and not judged.
package struct AbuseReport {
    private let bounds: AbuseBounds
    private let idle: AbusePhase
    private var failures: [String] = []

    /// Begins with the phase in which nobody attacks.
    package init(_ bounds: AbuseBounds, idle: AbusePhase) {
        self.bounds = bounds
        self.idle = idle
        Self.say("                          lookup            save         changes        times idle")
        Self.say(
            "attack               p50    p99     p50    p99     p50    p99     p50   p99   memory  disk  clients"
        )
        add(idle)
    }

    /// Adds an attack.
    package mutating func add(_ phase: AbusePhase) {
        let columns = Work.allCases.map { work in
            String(
                format: "%7.2f %6.1f", phase.latencies.percentile(0.5, of: work),
                phase.latencies.percentile(0.99, of: work))
        }
        let times = [0.5, 0.99].map { part in
            phase.latencies.percentile(part) / max(0.001, idle.latencies.percentile(part))
        }
        var line = phase.name.padding(toLength: max(16, phase.name.count), withPad: " ", startingAt: 0)
        line += columns.joined(separator: " ")
        line += String(format: " %7.1f %5.1f", times[0], times[1])
        line += String(
            format: " %4d MB %4d MB %3.0f %%", phase.memoryBytes >> 20, phase.diskBytes >> 20,
            phase.clientsPart * 100)
        if !phase.answers.isEmpty { line += "  answers \(Self.text(phase.answers))" }
        if !phase.retries.isEmpty { line += "  tried again \(Self.text(phase.retries))" }
        Self.say(line)
        if phase.memoryBytes > bounds.memoryBytesMax {
            fail(
                "\(phase.name): \(phase.memoryBytes >> 20) MB of memory, above \(bounds.memoryBytesMax >> 20)"
            )
        }
        if phase.diskBytes > bounds.diskBytesMax {
            fail("\(phase.name): \(phase.diskBytes >> 20) MB on the disk, above \(bounds.diskBytesMax >> 20)")
        }
        for failure in phase.failures { fail("\(phase.name): \(failure)") }
    }

    /// Adds what the kills and the reading back came to.
    package mutating func addAudit(_ found: [String], audited: Int) {
        Self.say("two kills: \(audited) acknowledged records read back")
        for failure in found { fail("kills: \(failure)") }
        if audited == 0 { fail("nothing was read back") }
    }

    /// Says how it ended.
    /// - Returns: Whether all held.
    package func end() -> Bool {
        Self.say(failures.isEmpty ? "abuse: all held" : "abuse: \(failures.count) did not hold")
        return failures.isEmpty
    }

    private mutating func fail(_ what: String) {
        failures.append(what)
        // Ninety-nine users tell the same.
        if failures.count <= 20 { Self.say("NOT HELD: \(what)") }
    }

    /// A line at once, also into a pipe.
    package static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    private static func text(_ counts: [Int: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key == 0 ? "cut" : "\($0.key)") \($0.value)" }
            .joined(separator: ", ")
    }
}

import Abuse
import Foundation

/// What an abuser does to ninety-nine ordinary users of a real `yap serve`, attack by attack.
func abuseLines() -> [Line] {
    Attacks.all.map { attack in
        Line(name: "service.abuse.\(attack.name)", unit: "1/s", bar: 0.25, roundsCount: 2) {
            try AbuseLineRun(attack, in: $0)
        }
    }
}

/// The inverse of the ordinary users' p99 during an attack, against that of the same users just before or after it.
private final class AbuseLineRun: LineRun {
    private static let secondsEach = 3.0
    /// How many times as long the median may be.
    private static let medianMax = 2.0

    private let attack: any Attack
    private let run: AbuseRun
    private var attacked: [AbusePhase] = []
    private var idle: [AbusePhase] = []

    init(_ attack: any Attack, in folder: URL) throws {
        self.attack = attack
        var plan = AbusePlan()
        plan.secondsEach = Self.secondsEach
        plan.size.zoneRecords = 20_000
        plan.attacks = [attack]
        run = try AbuseRun(plan, in: folder.appendingPathComponent("data"))
    }

    func ours() throws -> Double { try measure([attack], &attacked) }

    func reference() throws -> Double { try measure([], &idle) }

    private func measure(_ attacks: [any Attack], _ phases: inout [AbusePhase]) throws -> Double {
        let phase = try run.phase(attacks)
        if let failure = phase.failures.first { throw BenchError(failure) }
        phases.append(phase)
        return 1000 / phase.latencies.percentile(0.99)
    }

    func remarks() -> [LineRemark] {
        let (idle, attacked) = (Self.median(of: idle), Self.median(of: attacked))
        let text = String(
            format: "p50 %.2f ms, and %.2f ms under attack: %.1f times (bar %.0f)", idle, attacked,
            attacked / idle, Self.medianMax)
        return [LineRemark(text: text, passes: attacked <= Self.medianMax * idle)]
    }

    private static func median(of phases: [AbusePhase]) -> Double {
        LineResult.median(phases.dropFirst().map { $0.latencies.percentile(0.5) })
    }

    func close() { run.server.stop() }
}

import Foundation
import OwnThreads
import Simulation
import Testing

/// Devices of one user and their cloud, under faults drawn from a seed: when the faults stop and the devices sync, all
/// hold the same, and nothing that was committed is missing without a reason.
///
/// `YAP_SEED=17` runs one seed and prints its trace, `YAP_SEEDS=1000` that many from 1, `YAP_FLEETS=1000` that many
/// from 10,000. With `YAP_FROM=11000` it runs `YAP_SEEDS` seeds from that one, and no others.
@Suite(.serialized, .onOwnThreads) struct ConvergenceTests {
    /// Seeds that found a bug. They draw the same as then as long as the harness draws in the same order.
    static let regressions: [UInt64] = [
        1, 5, 26, 44, 101, 127, 142, 970, 10_321, 10_361, 10_372, 10_412, 10_488, 10_607, 10_740,
        11_339, 11_794, 11_910,
    ]

    static let seedsCount = number("YAP_SEEDS") ?? 90
    static let fleetsCount = number("YAP_FLEETS") ?? 60
    static let oneSeed = number("YAP_SEED")
    static let from = number("YAP_FROM")

    private static func number(_ variable: String) -> UInt64? {
        ProcessInfo.processInfo.environment[variable].flatMap(UInt64.init)
    }

    /// The kept seeds, so many in which all devices are `CloudSync`, and so many with fleets drawn by the seed.
    static var seeds: [UInt64] {
        if let oneSeed { return [oneSeed] }
        if let from { return Array(from..<from + seedsCount) }
        let fleets = Scenario.firstFleet..<Scenario.firstFleet + fleetsCount
        return regressions + Array(1..<seedsCount + 1) + fleets
    }

    @Test(
        "119, 120. after any failures, devices of every kind end equal to the server, and no committed value is lost"
    )
    func devicesConvergeAndNoCommittedValueIsLost() async throws {
        let seeds = Self.seeds
        let outcomes = try await Runs.all(seeds) { try World.run(seed: $0) }
        var total = Tally()
        for outcome in outcomes {
            total.add(outcome)
            if !outcome.failures.isEmpty {
                Issue.record(
                    "\(outcome.scenario)\n\(outcome.failures.map(\.description).joined(separator: "\n"))")
            }
            if Self.oneSeed != nil { print(outcome.trace.lines.joined(separator: "\n")) }
        }
        print(total)
        // A run that hardly wrote, or in which a fault never happened, would prove nothing.
        guard Self.oneSeed == nil, seeds.count >= 150 else { return }
        #expect(total.acknowledgedWrites >= 20 * seeds.count)
        for fault in Fault.allCases {
            #expect(total.firings[fault, default: 0] >= seeds.count / 5, "\(fault) happened too seldom")
        }
    }

    @Test(arguments: [1, 2, 3, 10_001, 10_002] as [UInt64])
    func theSameSeedGivesTheSameTrace(seed: UInt64) throws {
        let first = try World.run(seed: seed)
        let second = try World.run(seed: seed)
        #expect(first.trace.lines == second.trace.lines)
        #expect(first.trace.hash == second.trace.hash)
        #expect(try World.run(seed: seed + 1000).trace.hash != first.trace.hash)
    }
}

/// What many runs came to.
struct Tally: CustomStringConvertible {
    var seeds = 0
    var acknowledgedWrites = 0
    var localCommits = 0
    var healingRoundsMax = 0
    var firings = [Fault: Int]()
    var drops = [String: Int]()
    var trace = Trace()

    mutating func add(_ outcome: Outcome) {
        seeds += 1
        acknowledgedWrites += outcome.acknowledgedWrites
        localCommits += outcome.localCommits
        healingRoundsMax = max(healingRoundsMax, outcome.healingRounds)
        firings.merge(outcome.firings) { $0 + $1 }
        for (rule, count) in outcome.dropsByRule { drops[rule, default: 0] += count }
        trace.note(outcome.trace.hashText)
    }

    var description: String {
        let faults = Fault.allCases.map { "\($0.rawValue) \(firings[$0, default: 0])" }.joined(
            separator: ", ")
        let rules = drops.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return """
            convergence: seeds \(seeds), committed values \(localCommits), acknowledged writes \
            \(acknowledgedWrites), healing rounds at most \(healingRoundsMax)
            convergence: faults: \(faults)
            convergence: given up by rule: \(rules)
            convergence: trace hash \(trace.hashText)
            """
    }
}

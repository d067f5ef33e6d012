/// What a run has come to.
package struct Outcome: Sendable {
    /// The plan with the faults that happened: it replays the run.
    package var plan: Plan
    package var trace: Trace
    /// What the checker found; empty when every demand was met.
    package var failures: [Failure]
    package var firings: [Fault: Int]
    /// Rows that the service wrote.
    package var acknowledgedWrites: Int
    /// Values and deletions that devices committed.
    package var localCommits: Int
    /// Rounds of syncing that it took after the faults had stopped.
    package var healingRounds: Int
    /// Simulated time until all was checked, in milliseconds.
    package var simulatedMilliseconds: Int64
    package var events: Int
    package var dropsByRule: [(rule: String, count: Int)]
}

/// A demand that was not met.
package struct Failure: CustomStringConvertible, Sendable {
    package enum Demand: String, Sendable {
        /// Nothing throws that no fault explains.
        case noError
        /// Nothing goes round in circles.
        case comesToAnEnd
        /// No device sends what none may send.
        case wireIsRight
        case devicesEqualServer, queuesEmpty
        /// A further sync sends nothing.
        case nothingLeftToSend
        /// What was committed is in the server's history, or in the merge log with its rule.
        case everyValueAccountedFor
        case mergeLogIsTrue
        /// No device finds that its zones differ from the server's checksums.
        case checksumsAgree
        /// The files of all objects are on the server and on each device, and no others are.
        case filesAreThere
    }

    package let demand: Demand
    package let details: String

    package var description: String { "\(demand.rawValue): \(details)" }
}

/// What many runs came to.
package struct Tally: CustomStringConvertible, Sendable {
    package private(set) var runs = 0
    package private(set) var failed = 0
    package private(set) var acknowledgedWrites = 0
    package private(set) var localCommits = 0
    package private(set) var healingRoundsMax = 0
    private var deviceMilliseconds: Int64 = 0
    package private(set) var firings: [Fault: Int] = [:]
    private var drops: [String: Int] = [:]

    package init() {}

    package mutating func add(_ outcome: Outcome) {
        runs += 1
        failed += outcome.failures.isEmpty ? 0 : 1
        acknowledgedWrites += outcome.acknowledgedWrites
        localCommits += outcome.localCommits
        healingRoundsMax = max(healingRoundsMax, outcome.healingRounds)
        deviceMilliseconds += outcome.simulatedMilliseconds * Int64(outcome.plan.devicesCount)
        firings.merge(outcome.firings) { $0 + $1 }
        for (rule, count) in outcome.dropsByRule { drops[rule, default: 0] += count }
    }

    /// A run that could not be made counts as failed.
    package mutating func addBroken() {
        runs += 1
        failed += 1
    }

    package var deviceHours: Int64 { deviceMilliseconds / 3_600_000 }

    package var description: String {
        let faults = Fault.allCases.map { "\($0.rawValue) \(firings[$0, default: 0])" }.joined(
            separator: ", ")
        let rules = drops.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return """
            runs \(runs), failed \(failed), committed values \(localCommits), acknowledged writes \
            \(acknowledgedWrites), device-hours \(deviceHours), healing rounds at most \
            \(healingRoundsMax)
            faults: \(faults)
            given up by rule: \(rules)
            """
    }
}

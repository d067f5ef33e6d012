import OwnThreads
import Simulation
import Testing

/// The checker is checked: each of these faults must be seen. A harness that passes them proves nothing.
@Suite(.serialized, .onOwnThreads) struct CanaryTests {
    private static let seedsMax: UInt64 = 20

    /// Runs seeds until the sabotage has happened and was seen.
    private func demandsBroken(by kind: Mutant) throws -> (
        seen: Set<Failure.Demand>, runs: Int, seenRuns: Int
    ) {
        var seen = Set<Failure.Demand>()
        var (runs, seenRuns) = (0, 0)
        for seed in 1...Self.seedsMax {
            let sabotage = Sabotage(kind)
            let outcome = try World.run(seed: seed, sabotage: sabotage)
            guard sabotage.firings > 0 else { continue }
            runs += 1
            seenRuns += outcome.failures.isEmpty ? 0 : 1
            seen.formUnion(outcome.failures.map(\.demand))
        }
        return (seen, runs, seenRuns)
    }

    @Test func anAcknowledgedWriteThatTheServerDroppedIsSeen() throws {
        let (seen, runs, seenRuns) = try demandsBroken(by: .acknowledgedWriteDropped)
        #expect(runs > 0)
        #expect(seenRuns > 0)
        #expect(seen.contains(.everyValueAccountedFor))
    }

    @Test func aTokenStoredWithoutItsPageIsSeen() throws {
        let (seen, runs, seenRuns) = try demandsBroken(by: .tokenWithoutItsPage)
        #expect(runs > 0)
        #expect(seenRuns > 0)
        #expect(seen.contains(.devicesEqualServer))
    }

    @Test func aTagThatLeakedOverADeletionIsSeen() throws {
        let (seen, runs, seenRuns) = try demandsBroken(by: .tagLeakedOverADeletion)
        #expect(runs > 0)
        #expect(seenRuns == runs)
        #expect(seen.contains(.wireIsRight))
    }
}

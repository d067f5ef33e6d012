import FaultProxy
import Foundation
import TestSeed
import Testing

/// The same promise as `ConvergenceTests`, with the real server, the real client, real threads, and a network that
/// loses, cuts, delays and repeats.
@Suite(.serialized) struct ConvergenceOverHTTPTests {
    static let seedsCount = ProcessInfo.processInfo.environment["YAP_HTTP_SEEDS"].flatMap(UInt64.init) ?? 20

    @Test func devicesConvergeOverHTTPAndNoCommittedValueIsLost() async {
        // On a thread of its own: everything in it blocks.
        let total = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: Self.runAll()) }.start()
        }
        for failure in total.failures { Issue.record("\(failure)") }
        let faults = total.faults
        print(
            """
            convergence over HTTP: seeds \(Self.seedsCount), committed values \(total.commits), acknowledged writes \
            \(total.writes), exchanges \(faults.exchanges): requests lost \(faults.requestsLost), cut \
            \(faults.requestsCut), repeated \(faults.requestsDuplicated), delayed \(faults.requestsDelayed); \
            replies lost \(faults.repliesDropped), cut \(faults.repliesCut)
            """)
        // A run in which a fault never happened would prove nothing.
        for count in [
            faults.requestsLost, faults.requestsCut, faults.requestsDuplicated, faults.requestsDelayed,
            faults.repliesDropped, faults.repliesCut,
        ] { #expect(count >= 20) }
    }

    private static func runAll() -> HTTPWorld.Outcome {
        var total = HTTPWorld.Outcome()
        for seed in TestSeed.values(count: Int(seedsCount)) {
            do {
                let outcome = try HTTPWorld.run(seed: seed)
                total.failures += outcome.failures.map { "seed \(seed): \($0)" }
                total.faults.add(outcome.faults)
                total.commits += outcome.commits
                total.writes += outcome.writes
            } catch {
                total.failures.append("seed \(seed): \(error)")
            }
        }
        return total
    }
}

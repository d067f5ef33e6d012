import FaultProxy
import Foundation
import OwnThreads
import System
import TestSeed
import Testing

/// The same promise as `ConvergenceTests` and the simulation, with real threads: with `TestCloud`, and with the real
/// server and client and a network that loses, cuts, delays and repeats.
@Suite(.serialized, .onOwnThreads) struct FleetTests {
    /// `YAP_THREAD_FLEETS=200` runs that many fleets of each kind.
    static let fleetsCount = ProcessInfo.processInfo.environment["YAP_THREAD_FLEETS"].flatMap(Int.init) ?? 12

    @Test func devicesConvergeOverHTTPAndNoCommittedValueIsLost() throws {
        var faults = ProxyCounts()
        for seed in TestSeed.values(count: Self.fleetsCount) {
            let made = Lock<FleetOverHTTP?>(nil)
            let outcome = try Fleet.run(seed: seed, upgrades: false) { folder, ledger in
                let cloud = try FleetOverHTTP(seed: seed, folder: folder, ledger: ledger)
                made.withLock { $0 = cloud }
                return cloud
            }
            for failure in outcome.failures { Issue.record("seed \(seed): \(failure)") }
            if let cloud = made.withLock({ $0 }) { faults.add(cloud.faults) }
        }
        // A run in which a fault never happened would prove nothing.
        for count in [
            faults.requestsLost, faults.requestsCut, faults.requestsDuplicated, faults.requestsDelayed,
            faults.repliesDropped, faults.repliesCut,
        ] { #expect(count >= 20) }
    }

    @Test(arguments: [false, true])
    func devicesOnThreadsConvergeAndLeaveNothingBehind(upgrades: Bool) throws {
        var (commits, writes, upgradesCount, rests) = (0, 0, 0, 0)
        for seed in TestSeed.values(count: Self.fleetsCount) {
            let outcome = try Fleet.run(seed: seed, upgrades: upgrades) { _, ledger in
                FleetInTestCloud(seed: seed, ledger: ledger)
            }
            for failure in outcome.failures { Issue.record("seed \(seed): \(failure)") }
            commits += outcome.commits
            writes += outcome.writes
            upgradesCount += outcome.upgrades
            rests += outcome.rests
        }
        #expect(commits > 20 * Self.fleetsCount)
        #expect(writes > 5 * Self.fleetsCount)
        #expect(rests > Self.fleetsCount)
        #expect(upgrades ? upgradesCount > Self.fleetsCount / 2 : upgradesCount == 0)
    }
}

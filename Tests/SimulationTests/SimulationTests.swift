import Foundation
import OwnThreads
import Simulation
import System
import Testing

/// Devices of one user and their cloud in simulated time. The program `Simulator` runs many thousand seeds; here are
/// the kept runs, and as many fixed seeds as a debug build has time for.
@Suite(.serialized, .onOwnThreads) struct SimulationTests {
    /// `YAP_RUNS=1000` runs that many seeds from 1.
    static let runsCount = ProcessInfo.processInfo.environment["YAP_RUNS"].flatMap(Int.init) ?? 75

    private static func keptPlans() throws -> [URL] {
        let folder = try #require(Bundle.module.resourceURL).appending(path: "Kept")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    private func expectNoFailures(_ outcomes: [Outcome]) {
        for outcome in outcomes where !outcome.failures.isEmpty {
            let texts = outcome.failures.map(\.description).joined(separator: "\n")
            Issue.record(
                "seed \(outcome.plan.seed), found before: \(outcome.plan.found ?? "nothing")\n\(texts)")
        }
    }

    @Test("119, 120. runs that failed once, kept as their events, meet every demand")
    func keptRunsMeetEveryDemand() async throws {
        let plans = try Self.keptPlans().map { try Plan(contentsOf: $0) }
        #expect(plans.count >= 20)
        #expect(plans.allSatisfy { $0.faults != nil && $0.found != nil })
        expectNoFailures(try await Runs.all(plans) { try World.run($0) })
    }

    @Test(
        "119, 120. after any failures, devices of every kind end equal to the server, and no committed value is lost"
    )
    func devicesEndEqualAndNothingIsLost() async throws {
        let seeds = (1...Self.runsCount).map(UInt64.init)
        let outcomes = try await Runs.all(seeds) { try World.run(Plan(seed: $0)) }
        expectNoFailures(outcomes)
        var tally = Tally()
        for outcome in outcomes { tally.add(outcome) }
        print("simulation: \(tally)")
        #expect(tally.acknowledgedWrites > 20 * Self.runsCount)
        // A run in which a fault never happens proves nothing of it.
        guard Self.runsCount >= 75 else { return }
        for fault in Fault.allCases {
            #expect(tally.firings[fault, default: 0] > 0, "\(fault) never happened")
        }
    }

    @Test func editsOfAnyTwoRequestsHaveDifferentValues() {
        var numbers = Set<Int>()
        for step in -1..<9 {
            for device in 0..<5 {
                for request in 0..<300 {
                    let name = RequestFault.Name(device: device, step: step, request: request)
                    for first in [1_000_000, 100_000_000] {
                        numbers.insert(World.editNumber(of: name, from: first))
                    }
                }
            }
        }
        #expect(numbers.count == 10 * 5 * 300 * 2)
    }

    @Test(arguments: [1, 2, 3, 5, 8] as [UInt64])
    func aSeedIsOneRunAndItsEventsReplayIt(seed: UInt64) throws {
        let first = try World.run(Plan(seed: seed), keepsTrace: true)
        let second = try World.run(Plan(seed: seed), keepsTrace: true)
        #expect(first.trace.hash == second.trace.hash)
        // The plan has all its faults now, and nothing is drawn for it any more but what has a name.
        let replayed = try World.run(first.plan, keepsTrace: true)
        #expect(replayed.trace.hash == first.trace.hash)
        #expect(try World.run(Plan(seed: seed + 1_000), keepsTrace: true).trace.hash != first.trace.hash)
    }

    @Test func aPlanComesBackFromItsFile() throws {
        let outcome = try World.run(Plan(seed: 3), keepsTrace: true)
        let file = URL(filePath: NSTemporaryDirectory()).appending(path: "plan-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try outcome.plan.write(to: file)
        let read = try Plan(contentsOf: file)
        #expect(try World.run(read, keepsTrace: true).trace.hash == outcome.trace.hash)
    }

    @Test func aDecisionMoreOrFewerChangesNoOther() {
        let draws = Draws(seed: 7)
        let before = draws.named("step 2").number(in: 0..<1_000_000, "kind")
        _ = draws.named("step 1").number(in: 0..<10, "something new")
        #expect(draws.named("step 2").number(in: 0..<1_000_000, "kind") == before)
        #expect(draws.named("step 3").value("kind") != draws.named("step 2").value("kind"))
        #expect(Draws(seed: 8).value("kind") != draws.value("kind"))
    }

    @Test func aFailingRunIsShrunkToOneThatStillFails() throws {
        let found = try (1...40).lazy.map { seed in
            try World.run(Plan(seed: UInt64(seed)), sabotage: Sabotage(.deletionNotQueued))
        }.first { !$0.failures.isEmpty }
        let outcome = try #require(found)
        let (plan, runsCount) = Shrinker.shrink(outcome, seconds: 20) { Sabotage(.deletionNotQueued) }
        #expect(runsCount > 0)
        #expect(plan.steps.count < outcome.plan.steps.count)
        let again = try World.run(plan, keepsTrace: true, sabotage: Sabotage(.deletionNotQueued))
        #expect(!again.failures.isEmpty)
        #expect(again.trace.text.contains("FAILS"))
    }
}

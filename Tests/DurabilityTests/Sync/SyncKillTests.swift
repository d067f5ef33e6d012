import Foundation
import SyncDevices
import System
import TestSeed
import Testing

/// A device that is killed at any step from a commit to its completion goes on in its next life: no acknowledged change
/// is lost, none is sent again with another outcome, and all devices and the server agree.
///
/// `YAP_TEST_SEED=17` repeats a run, `YAP_KILLS=1000` kills as often.
@Suite(.serialized) struct SyncKillTests {
    static let killsCount = ProcessInfo.processInfo.environment["YAP_KILLS"].flatMap(Int.init) ?? 210
    static let seed = TestSeed.value

    /// What a number of kills must have met at least, of each activity and of each action.
    private static let activitiesMin = 5
    private static let actionsMin = 2

    struct Outcome: Sendable {
        var kills: [String: Int] = [:]
        var failures: [String] = []
        var committed = 0
        var replaced = 0
    }

    @Test("40, 41, 42, 87. a device that is killed at any step loses nothing and sends nothing twice")
    func aDeviceThatIsKilledAtAnyStepLosesNothingAndSendsNothingTwice() async {
        let uses = KillDevice.Use.allCases
        let outcomes = await withTaskGroup(of: Outcome.self) { group in
            for (index, use) in uses.enumerated() {
                group.addTask {
                    // On a thread of its own: everything in it blocks.
                    await withCheckedContinuation { continuation in
                        Thread { continuation.resume(returning: Self.run(use, index, uses.count)) }.start()
                    }
                }
            }
            var outcomes: [Outcome] = []
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        var total = Outcome()
        for outcome in outcomes {
            total.kills.merge(outcome.kills) { $0 + $1 }
            total.failures += outcome.failures
            total.committed += outcome.committed
            total.replaced += outcome.replaced
        }
        Self.report(total)
        if !total.failures.isEmpty {
            Issue.record("seed \(Self.seed)\n\(total.failures.joined(separator: "\n"))")
        }
        Self.expectEveryStep(total)
    }

    private static func run(_ use: KillDevice.Use, _ index: Int, _ usesCount: Int) -> Outcome {
        var outcome = Outcome()
        do {
            let world = try KillWorld(use, seed: seed &* 31 &+ UInt64(index))
            try world.run(killsCount: (killsCount + usesCount - 1) / usesCount)
            (outcome.kills, outcome.failures) = (world.kills, world.failures)
            (outcome.committed, outcome.replaced) = (world.committedCount, world.replacedCount)
            try world.end()
        } catch {
            outcome.failures.append("\(use.rawValue): \(error)")
        }
        return outcome
    }

    private static func report(_ total: Outcome) {
        print(
            """
            sync kills: seed \(seed), \(total.kills.values.reduce(0, +)) kills, changes committed \
            \(total.committed), replaced by later ones before they were sent \(total.replaced)
            """)
        for activity in Failpoints.Activity.allCases {
            let actions = total.kills.filter { $0.key.hasPrefix(activity.rawValue + "/") }.sorted {
                $0.key < $1.key
            }
            let words = actions.map { "\($0.key.dropFirst(activity.rawValue.count + 1)) \($0.value)" }
            print("sync kills: \(activity.rawValue): \(words.joined(separator: ", "))")
        }
    }

    /// A run that hardly killed in some step would prove nothing of it.
    private static func expectEveryStep(_ total: Outcome) {
        // A small run, or one that was ended by a failure, met what it met.
        guard killsCount >= 200, total.failures.isEmpty else { return }
        #expect(total.kills.values.reduce(0, +) >= 200)
        for activity in Failpoints.Activity.allCases {
            let count = total.kills.filter { $0.key.hasPrefix(activity.rawValue + "/") }.values.reduce(0, +)
            #expect(count >= activitiesMin, "\(activity)")
        }
        for action in Failpoints.Action.allCases {
            let count = total.kills.filter { $0.key.hasSuffix("/" + action.rawValue) }.values.reduce(0, +)
            #expect(count >= actionsMin, "\(action)")
        }
    }
}

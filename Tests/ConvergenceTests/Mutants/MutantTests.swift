import OwnThreads
import Simulation
import Testing

/// Each seeded bug is caught within the drawn seeds; `make mutants` lists by which seed and which demand.
@Suite(.serialized, .onOwnThreads) struct MutantTests {
    /// The seeds that hunt: of fleets, which draw every way of use.
    private static let hunters = Scenario.firstFleet..<Scenario.firstFleet + 60

    @Test func eachMutantIsCaughtWithinTheDrawnSeeds() async throws {
        // These devices have no files: `Scripts/mutants` shows the others.
        let mutants = Mutant.allCases.filter { !$0.isOfFiles }
        let numbers = Array(0..<UInt64(mutants.count))
        let catches = try await Runs.all(numbers) { try Self.hunt(mutants[Int($0)]) }
        #expect(catches.count == mutants.count)
        for (mutant, caught) in zip(mutants, catches) {
            print("mutant \(mutant.rawValue): \((caught ?? "not caught").prefix(100))")
            #expect(caught != nil, "\(mutant)")
        }
    }

    /// Runs seeds until one sees the mutant.
    /// - Returns: The seed, and what it saw first.
    private static func hunt(_ mutant: Mutant) throws -> String? {
        for seed in hunters {
            let outcome = try World.run(seed: seed, sabotage: Sabotage(mutant))
            if let first = outcome.failures.first { return "seed \(seed), \(first)" }
        }
        return nil
    }
}

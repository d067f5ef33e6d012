import Foundation
import Seams
import Simulation

/// Runs devices and their cloud, seed by seed, under faults, and says what did not hold.
@main struct Simulator {
    static func main() {
        do {
            let options = try SimulatorOptions(Array(CommandLine.arguments.dropFirst()))
            exit(try Simulator(options).run() ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("Simulator: \(error)\n\(SimulatorOptions.help)\n".utf8))
            exit(2)
        }
    }

    private let options: SimulatorOptions

    private init(_ options: SimulatorOptions) {
        self.options = options
    }

    /// - Returns: Whether every demand was met.
    private func run() throws -> Bool {
        if let seed = options.seed { return try one(Plan(seed: seed)) }
        return try many()
    }

    private func one(_ plan: Plan) throws -> Bool {
        let outcome = try World.run(plan, keepsTrace: options.traces)
        if options.traces { print(outcome.trace.text) }
        for failure in outcome.failures { print("seed \(plan.seed): \(failure)") }
        return outcome.failures.isEmpty
    }

    private func many() throws -> Bool {
        let tally = Lock(Tally())
        let start = SystemMonotonicSource().elapsedMilliseconds()
        let end = options.minutes.map { start + Int64($0 * 60_000) } ?? .max
        let options = options
        Runs.each(options.seedsCount, threads: options.threads) { index in
            let seed = options.firstSeed &+ UInt64(index)
            do {
                let plan =
                    options.size.map { Plan(seed: seed, devicesCount: $0.devices, stepsCount: $0.steps) }
                    ?? Plan(seed: seed)
                let outcome = try World.run(plan)
                tally.withLock { $0.add(outcome) }
                if let first = outcome.failures.first { print("seed \(seed): \(first)") }
            } catch {
                print("seed \(seed): the run could not be made: \(error)")
            }
            return SystemMonotonicSource().elapsedMilliseconds() < end
        }
        let seconds = Double(SystemMonotonicSource().elapsedMilliseconds() - start) / 1000
        let total = tally.withLock { $0 }
        print(total)
        let rate = Double(total.runs) / seconds * 60 / Double(options.threads)
        print(String(format: "%.1f seconds, %.0f runs a core-minute", seconds, rate))
        return total.failed == 0
    }
}

import Foundation
import SQLite
import Simulation
import System

/// Runs devices and their cloud, seed by seed, under faults, and says what did not hold.
@main struct Simulator {
    static func main() {
        SQLiteProcess.turnOffMemoryStatistics()
        do {
            let options = try SimulatorOptions(Array(CommandLine.arguments.dropFirst()))
            exit(try Simulator(options).run() ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("Simulator: \(error)\n\(SimulatorOptions.help)\n".utf8))
            exit(2)
        }
    }

    private let options: SimulatorOptions
    /// After how many runs each it says how many there were.
    private static let progressRuns = 5_000

    private init(_ options: SimulatorOptions) {
        self.options = options
    }

    /// - Returns: Whether every demand was met.
    private func run() throws -> Bool {
        if options.listsMutants {
            for mutant in Mutant.allCases { print(mutant.rawValue) }
            return true
        }
        if !options.replays.isEmpty {
            let areGood = try options.replays.map { path in
                try one(Plan(contentsOf: URL(filePath: path)), path)
            }
            print("kept runs \(areGood.count), failed \(areGood.count { !$0 })")
            return areGood.allSatisfy { $0 }
        }
        if options.hashes { return try hash() }
        if let seed = options.seed { return try one(Plan(seed: seed), "seed \(seed)") }
        return try many()
    }

    private func one(_ plan: Plan, _ name: String) throws -> Bool {
        let outcome = try World.run(
            plan, keepsTrace: options.traces, sabotage: options.mutant.map { Sabotage($0) })
        if options.traces { print(outcome.trace.text) }
        guard !outcome.failures.isEmpty else {
            if options.replays.count < 2 { print("\(name): every demand was met") }
            return true
        }
        try Explanation(outcome, name, options).print()
        return false
    }

    /// Prints one hash of the traces of all runs.
    private func hash() throws -> Bool {
        var sum: UInt64 = 0
        for index in 0..<options.seedsCount {
            let plan = Plan(seed: options.firstSeed &+ UInt64(index))
            sum = sum &* 31 &+ (try World.run(plan, keepsTrace: true).trace.hash)
        }
        print(String(sum, radix: 16))
        return true
    }

    /// Prints at once: runs of hours are read in a file while they go on.
    private func tell(_ line: String) {
        print(line)
        fflush(nil)
    }

    private func many() throws -> Bool {
        let tally = Lock(Tally())
        let first = Lock<Outcome?>(nil)
        let clock = SystemMonotonicSource()
        let start = clock.elapsedMilliseconds()
        let end = options.minutes.map { start + Int64($0 * 60_000) } ?? .max
        let options = options
        print("seeds from \(options.firstSeed), at most \(options.seedsCount)")
        Runs.each(options.seedsCount, threads: options.threads) { index in
            let seed = options.firstSeed &+ UInt64(index)
            let plan =
                options.size.map { Plan(seed: seed, devicesCount: $0.devices, stepsCount: $0.steps) }
                ?? Plan(seed: seed)
            do {
                let outcome = try World.run(plan, sabotage: options.mutant.map { Sabotage($0) })
                let runs = tally.withLock { tally in
                    tally.add(outcome)
                    return tally.runs
                }
                if runs % Self.progressRuns == 0 { tell("\(runs) runs") }
                if let failure = outcome.failures.first {
                    if !options.stopsAtFailure { tell("seed \(seed): \(failure)") }
                    first.withLock { $0 = $0 ?? outcome }
                    if options.stopsAtFailure { return false }
                }
            } catch {
                tell("seed \(seed): the run could not be made: \(error)")
                tally.withLock { $0.addBroken() }
            }
            return clock.elapsedMilliseconds() < end
        }
        if options.stopsAtFailure, let failed = first.withLock({ $0 }), let failure = failed.failures.first {
            let runs = tally.withLock { $0.runs }
            print("caught: seed \(failed.plan.seed), after \(runs) runs, \(failure)")
            return false
        }
        let seconds = Double(clock.elapsedMilliseconds() - start) / 1000
        let total = tally.withLock { $0 }
        print(total)
        let rate = Double(total.runs) / seconds * 60 / Double(options.threads)
        print(String(format: "%.1f seconds, %.0f runs a core-minute", seconds, rate))
        if let path = options.logFile { try SoakLog(path: path).append(total, options) }
        if let failed = first.withLock({ $0 }) {
            try Explanation(failed, "seed \(failed.plan.seed)", options).print()
        }
        return total.failed == 0
    }
}

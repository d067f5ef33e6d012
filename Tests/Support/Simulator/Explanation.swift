import Foundation
import Simulation

/// What went wrong in a run: the smallest run that still goes wrong, as a story.
struct Explanation {
    private let outcome: Outcome
    private let name: String
    private let options: SimulatorOptions

    init(_ outcome: Outcome, _ name: String, _ options: SimulatorOptions) {
        self.outcome = outcome
        self.name = name
        self.options = options
    }

    func print() throws {
        for failure in outcome.failures { Swift.print("\(name): \(failure)") }
        var plan = outcome.plan
        let sabotage = options.mutant.map { mutant in { Sabotage(mutant) } }
        if options.shrinkSeconds > 0 {
            let (smaller, runsCount) = Shrinker.shrink(
                outcome, seconds: options.shrinkSeconds, sabotage: sabotage)
            plan = smaller
            Swift.print("shrunk in \(runsCount) runs to \(plan.summary)")
        }
        plan.found = outcome.failures.first.map { "\($0)" }
        let story = try World.run(plan, keepsTrace: true, watches: true, sabotage: sabotage?())
        Swift.print("     time  place      what it did")
        Swift.print(story.trace.text)
        for failure in story.failures { Swift.print("\(name), shrunk: \(failure)") }
        guard let folder = options.keepFolder else { return }
        let file = URL(filePath: folder).appending(path: "\(plan.seed).json")
        try FileManager.default.createDirectory(
            at: URL(filePath: folder), withIntermediateDirectories: true)
        try plan.write(to: file)
        Swift.print("kept in \(file.path); Simulator --replay \(file.path) runs it again")
    }
}

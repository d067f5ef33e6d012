import System

/// Does the work that is due between requests. The next step is kept in memory.
final class Upkeep: Sendable {
    private let pushes: PushDelivery
    private let indexes: IndexBuilding
    private let zoneCounting: ZoneCounting
    private let clearedRows: ClearedRows
    private let pruning: Pruning
    private let files: AssetCollection
    private let answers: KeptAnswers
    /// The raw value of the next step.
    private let nextStep = Lock(0)

    init(
        pushes: PushDelivery, indexes: IndexBuilding, zoneCounting: ZoneCounting, clearedRows: ClearedRows,
        pruning: Pruning, files: AssetCollection, answers: KeptAnswers
    ) {
        (self.pushes, self.indexes, self.zoneCounting) = (pushes, indexes, zoneCounting)
        (self.clearedRows, self.pruning, self.files, self.answers) = (clearedRows, pruning, files, answers)
    }

    /// True if there may be work.
    var isWanted: Bool { UpkeepStep.allCases.contains(where: isDue) || answers.hasTrimmed }

    /// Does each step that is due, pushes first. Returns true if there may be more.
    func keepUp() throws -> Bool {
        pruning.tell(trimmedAnswers: answers.takeTrimmedCount())
        for step in UpkeepStep.allCases where isDue(step) { try run(step) }
        return isWanted
    }

    /// Does the next step that is due, so that writes wait for one step at a time, and a failing step doesn't
    /// block others. Returns true if there may be more.
    func keepUpInTurn() throws -> Bool {
        pruning.tell(trimmedAnswers: answers.takeTrimmedCount())
        let steps = UpkeepStep.allCases
        let first = nextStep.withLock { $0 }
        guard let step = (steps[first...] + steps[..<first]).first(where: isDue) else { return false }
        nextStep.withLock { $0 = (step.rawValue + 1) % steps.count }
        try run(step)
        return isWanted
    }

    private func isDue(_ step: UpkeepStep) -> Bool {
        switch step {
        case .pushes: pushes.tasksMayWait
        case .indexes: indexes.mayWait
        case .checksums: zoneCounting.mayWait
        case .clearedRows: clearedRows.mayWait
        case .pruning: pruning.isDue
        case .files: files.isDue
        }
    }

    private func run(_ step: UpkeepStep) throws {
        switch step {
        case .pushes: _ = try pushes.prepare()
        case .indexes: _ = try indexes.buildStep()
        case .checksums: _ = try zoneCounting.countStep()
        case .clearedRows: _ = try clearedRows.removeStep()
        case .pruning: try pruning.pruneInTurn()
        case .files: files.collectInTurn()
        }
    }
}

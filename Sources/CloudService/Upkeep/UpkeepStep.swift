import Seams

/// What a service has to do beside answering. Each step is bounded, in transactions of its own.
enum UpkeepStep: Int, CaseIterable {
    /// Bytes of records that one step goes through while all writes wait.
    static let recordBytesMax = 1 << 20

    case pushes
    case indexes
    case checksums
    case clearedRows
    case pruning
    case files
}

extension CloudService {
    /// True when there may be something to do.
    var wantsUpkeep: Bool {
        UpkeepStep.allCases.contains(where: isDue) || trimmedAnswers.withLock { $0 > 0 }
    }

    /// Does each step that is due, pushes first. True when there may be more.
    package func keepUp() throws -> Bool {
        tellTrimmedAnswers()
        for step in UpkeepStep.allCases where isDue(step) { try run(step) }
        return wantsUpkeep
    }

    /// Does the next step that is due, so that writes wait for one at a time, and one that fails holds up no other.
    /// True when there may be more.
    func keepUpInTurn() throws -> Bool {
        tellTrimmedAnswers()
        let steps = UpkeepStep.allCases
        let first = nextUpkeepStep.withLock { $0 }
        guard let step = (steps[first...] + steps[..<first]).first(where: isDue) else { return false }
        nextUpkeepStep.withLock { $0 = (step.rawValue + 1) % steps.count }
        try run(step)
        return wantsUpkeep
    }

    private func isDue(_ step: UpkeepStep) -> Bool {
        switch step {
        case .pushes: pushTasksMayWait
        case .indexes: indexWorkMayWait.withLock { $0 }
        case .checksums: zoneCounting.withLock { $0.mayWait }
        case .clearedRows: clearedRowsMayWait.withLock { $0 }
        case .pruning: isPruningDue
        case .files: collection.isDue
        }
    }

    private func run(_ step: UpkeepStep) throws {
        switch step {
        case .pushes: try preparePushes()
        case .indexes: _ = try buildIndexes()
        case .checksums: _ = try countZones()
        case .clearedRows: _ = try removeClearedRows()
        case .pruning: try pruneInTurn()
        case .files: collection.collectInTurn()
        }
    }
}

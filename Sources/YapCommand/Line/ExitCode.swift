import CloudStore

/// Exit codes of commands. `docs/OPERATING.md` has the table.
enum ExitCode: Int32, CaseIterable {
    case done = 0
    case failed
    case usage
    case notThere
    case refused
    case unreachable

    /// Meaning in two or three words.
    var what: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .usage: "wrong usage"
        case .notThere: "not there"
        case .refused: "refused"
        case .unreachable: "no server there"
        }
    }

    /// Returns the code of a command that ends with `error`.
    init(_ error: any Error) {
        self =
            switch error {
            case Failure.outputClosed: .done
            case Failure.usage: .usage
            case Failure.notThere, ControlError.noFile, ControlError.noSuchAccount,
                ControlError.noSuchContainer:
                .notThere
            case Failure.refused, is ControlError, BackupError.exists, BackupError.notEmpty: .refused
            case Failure.unreachable: .unreachable
            default: .failed
            }
    }
}

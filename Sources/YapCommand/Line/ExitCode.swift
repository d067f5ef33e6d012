import CloudStore

/// What the end of a command tells a script. `docs/OPERATING.md` shows the table.
enum ExitCode: Int32, CaseIterable {
    case done = 0
    case failed
    case usage
    case notThere
    case refused
    case unreachable

    /// In two or three words.
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

    /// The code of a command that ends with `error`.
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

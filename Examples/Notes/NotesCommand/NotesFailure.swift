/// Errors of a command.
enum NotesFailure: Error {
    /// The command line was invalid: exit code 2.
    case usage(String)
    /// It could not be done: exit code 1.
    case failed(String)

    var isUsage: Bool {
        if case .usage = self { true } else { false }
    }

    var words: String {
        switch self {
        case .usage(let words): words + " (`notes --help` shows how)"
        case .failed(let words): words
        }
    }
}

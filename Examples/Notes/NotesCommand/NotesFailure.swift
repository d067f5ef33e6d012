/// Why a command ends otherwise than well.
enum NotesFailure: Error {
    /// The line was wrong: exit code 2.
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

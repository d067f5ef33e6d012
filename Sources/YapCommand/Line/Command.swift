/// A command of `yap`: its arguments, its help texts, and its action.
struct Command: Sendable {
    /// An argument after the command's name.
    struct Operand: Sendable {
        let name: String
        let help: String
        var repeats = false
        /// The allowed values, if there are only a few.
        var choices: [String] = []
    }

    /// An option. Without `value` it is a switch.
    struct Option: Sendable {
        let name: String
        var value: String?
        let help: String
        var isRequired = false
        var repeats = false
        /// The allowed values, if there are only a few.
        var choices: [String] = []
    }

    /// Its name, for example `account create`.
    let name: String
    /// Summary in one line.
    let summary: String
    /// Further information for users.
    var details = ""
    var operands: [Operand] = []
    var options: [Option] = []
    /// Keys of the `--json` output.
    let json: String
    /// Example lines without the program's name. A test runs each, in order.
    let examples: [String]
    let run: @Sendable (Invocation, Console) throws -> Void

    /// Options of every command.
    static let commonOptions = [
        Option(name: "json", help: "print JSON instead of text"),
        Option(name: "help", help: "print this help"),
    ]

    static let dataOption = Option(
        name: "data", value: "DIR", help: "the server's folder (default: $YAP_DATA, else ./yap-data)")

    var allOptions: [Option] { options + Self.commonOptions }
}

/// A parsed command line.
struct Invocation {
    var operands: [String] = []
    private var values: [String: [String]] = [:]

    mutating func add(_ value: String, to option: String) {
        values[option, default: []].append(value)
    }

    func has(_ option: String) -> Bool { values[option] != nil }

    /// Returns the last value of an option, which overrides earlier ones.
    func value(_ option: String) -> String? { values[option]?.last }

    func values(_ option: String) -> [String] { values[option] ?? [] }

    /// Returns the value of a required option.
    func required(_ option: String) throws -> String {
        guard let value = value(option) else { throw Failure.usage("--\(option) is missing") }
        return value
    }

    func number(_ option: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = value(option) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Failure.usage(
                "--\(option) takes a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\""
            )
        }
        return number
    }
}

/// Errors of a command. `ExitCode` has the exit code of each.
enum Failure: Error {
    /// The command line was invalid.
    case usage(String)
    /// The command failed.
    case failed(String)
    /// Something that the command line names doesn't exist.
    case notThere(String)
    /// A rule, or existing data, forbids it.
    case refused(String)
    /// No server responds at the address.
    case unreachable(String)
    /// The reader of the output has closed it, so nothing more can be done or reported.
    case outputClosed
}

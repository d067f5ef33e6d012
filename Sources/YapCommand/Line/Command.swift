/// A command of `yap`: what it takes, what it says about itself, and what it does.
struct Command: Sendable {
    /// Something that stands after the command's name.
    struct Operand: Sendable {
        let name: String
        let help: String
        var repeats = false
        /// The allowed values, if there are few.
        var choices: [String] = []
    }

    /// An option; without `value` it is a switch.
    struct Option: Sendable {
        let name: String
        var value: String?
        let help: String
        var isRequired = false
        var repeats = false
        /// The allowed values, if there are few.
        var choices: [String] = []
    }

    /// The words that call it, as `account create`.
    let name: String
    /// One line.
    let summary: String
    /// What a user should know besides.
    var details = ""
    var operands: [Operand] = []
    var options: [Option] = []
    /// The keys of `--json`'s output.
    let json: String
    /// Lines to type, without the program's name. Each is run by a test, in order.
    let examples: [String]
    let run: @Sendable (Invocation, Console) throws -> Void

    /// What every command takes.
    static let commonOptions = [
        Option(name: "json", help: "print JSON instead of text"),
        Option(name: "help", help: "print this help"),
    ]

    static let dataOption = Option(
        name: "data", value: "DIR", help: "the server's folder (default: $YAP_DATA, else ./yap-data)")

    var allOptions: [Option] { options + Self.commonOptions }
}

/// A command line that was understood.
struct Invocation {
    var operands: [String] = []
    private var values: [String: [String]] = [:]

    mutating func add(_ value: String, to option: String) {
        values[option, default: []].append(value)
    }

    func has(_ option: String) -> Bool { values[option] != nil }

    /// The last value: a later one overrides.
    func value(_ option: String) -> String? { values[option]?.last }

    func values(_ option: String) -> [String] { values[option] ?? [] }

    /// The value of an option that the command declares as required.
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

/// Why a command ends otherwise than well. `ExitCode` says what each tells a script.
enum Failure: Error {
    /// The line was wrong.
    case usage(String)
    /// It could not be done.
    case failed(String)
    /// Something that the line names isn't there.
    case notThere(String)
    /// A rule, or what is there already, forbids it.
    case refused(String)
    /// No server answers where one is asked.
    case unreachable(String)
    /// Who read the output has gone: nothing more to do, and nobody to tell.
    case outputClosed
}

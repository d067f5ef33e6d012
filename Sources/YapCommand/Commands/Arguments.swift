import CloudService
import CloudStore
import System

/// Arguments that several commands share.
extension Invocation {
    /// Returns the server's folder from the option, the environment variable or the default.
    func dataFolder(_ console: Console) -> DataFolder {
        DataFolder(path: value("data") ?? console.environment["YAP_DATA"] ?? "yap-data")
    }

    /// Returns the control file of the folder, which `yap init` has created.
    func control(_ console: Console, _ lengths: SignInLengths = SignInLengths()) throws -> ControlStore {
        let folder = dataFolder(console)
        guard folder.isMade else {
            throw Failure.notThere(
                "There is no data folder at \(folder.path). If it is elsewhere, name it with --data DIR or by "
                    + "the variable YAP_DATA. To make one: \(ShellText.word(console.program)) init"
                    + dataWords(console) + " --container iCloud.com.example.todo")
        }
        return try ControlStore(path: folder.controlPath, signInLengths: lengths)
    }

    /// Returns the container that the command line names.
    ///
    /// - Parameter remedy: How to create a missing container. Nil: by `yap init`.
    /// - Throws: `Failure.notThere` with the existing containers, closest first; `ControlError.isBeingRemoved`.
    func container(in control: ControlStore, _ console: Console, remedy: String? = nil) throws -> String {
        let named = try required("container")
        guard try !control.containers.exists(named) else { return named }
        if try control.containers.removals().contains(where: {
            $0.container == named && $0.environment == nil
        }) {
            throw ControlError.isBeingRemoved(container: named, environment: nil)
        }
        let there = Nearest.sentence(try control.containers.list().map(\.identifier), to: named)
        let program = ShellText.word(console.program)
        throw Failure.notThere(
            "There is no container \(named). \(there). To make it: "
                + (remedy ?? "\(program) init\(dataWords(console)) --container \(ShellText.word(named))"))
    }

    /// Returns every environment that has data.
    func environments(_ control: ControlStore, _ console: Console) throws -> [EnvironmentData] {
        let folder = dataFolder(console)
        return try folder.environments().map { container, environment in
            EnvironmentData(
                folder: folder, control: control,
                container: CloudService.Container(identifier: container, environment: environment))
        }
    }

    /// Returns the option that a further command needs for the folder, or nothing for the default folder.
    func dataWords(_ console: Console) -> String {
        value("data").map { " --data \(ShellText.word($0))" } ?? ""
    }

    /// Returns the environment. Default: development.
    func environment() throws -> String {
        let environment = value("environment") ?? "development"
        guard ["development", "production"].contains(environment) else {
            throw Failure.usage("--environment is development or production, not \"\(environment)\"")
        }
        return environment
    }

    /// Returns a new password, read as in `password`.
    ///
    /// - Throws: `Failure.refused` with the rule if it is too short.
    func newPassword(_ console: Console) throws -> String? {
        guard let password = try password(console) else { return nil }
        guard password.count >= AccountTables.passwordCharactersMin else {
            throw Failure.refused(
                "The password has \(password.count) characters. A new one has "
                    + "\(AccountTables.passwordCharactersMin) at least; without --password-stdin and "
                    + "--password-file one is made up.")
        }
        return password
    }

    /// Returns a password from a file or the standard input, or nil if neither is given.
    func password(_ console: Console) throws -> String? {
        if has("password-stdin") { return try console.secret(from: "-") }
        return try value("password-file").map { try console.secret(from: $0) }
    }
}

extension Command.Option {
    static let container = Command.Option(
        name: "container", value: "ID", help: "the container's identifier", isRequired: true)
    static let environment = Command.Option(
        name: "environment", value: "NAME", help: "development (default) or production",
        choices: ["development", "production"])
    static let passwordFile = Command.Option(
        name: "password-file", value: "FILE", help: "take the password from the file's first line")
    static let passwordInput = Command.Option(
        name: "password-stdin", help: "take the password from the standard input's first line")
}

/// Quotes words for a shell.
enum ShellText {
    /// Returns the word quoted for a shell, if necessary.
    static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x2B...0x3A, 0x40...0x5A, 0x5F, 0x61...0x7A: true
            default: false
            }
        }
        return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}

/// Formats times in UTC as ISO 8601, without a calendar.
enum TimeText {
    static func utc(_ milliseconds: Int64) -> String {
        CivilTime(milliseconds: milliseconds).text()
    }
}

/// Formats rows of text as columns.
enum TextTable {
    static func text(_ header: [String], _ rows: [[String]]) -> String {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            zip(row, widths).enumerated().map { index, cell in
                index == row.count - 1 ? cell.0 : HelpText.padded(cell.0, cell.1)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

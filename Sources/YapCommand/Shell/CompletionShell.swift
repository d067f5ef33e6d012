/// A shell that has a completion script.
enum CompletionShell: String, CaseIterable {
    case bash, zsh, fish

    /// Returns the script that completes these commands.
    func script(_ commands: [Command]) -> String {
        let names = CommandNames(commands)
        return switch self {
        case .bash: BashCompletion.script(names)
        case .zsh: ZshCompletion.script(names)
        case .fish: FishCompletion.script(names)
        }
    }
}

/// Commands by their first word: some have one word, the others belong to a family with a second word each.
struct CommandNames {
    let commands: [Command]
    /// The first words in the order of the help, each with a summary.
    let first: [(name: String, summary: String)]
    /// The families: the first word, and the second words, each with a summary.
    let families: [(name: String, second: [(name: String, summary: String)])]

    init(_ commands: [Command]) {
        self.commands = commands
        var order: [String] = []
        var second: [String: [(name: String, summary: String)]] = [:]
        for command in commands {
            let words = command.name.split(separator: " ", maxSplits: 1).map(String.init)
            if !order.contains(words[0]) { order.append(words[0]) }
            guard words.count == 2 else { continue }
            second[words[0], default: []].append((words[1], command.summary))
        }
        first = order.map { name in
            let family = second[name].map { $0.map(\.name).joined(separator: ", ") }
            return (name, family ?? commands.first { $0.name == name }?.summary ?? "")
        }
        families = order.compactMap { name in second[name].map { (name, $0) } }
    }
}

/// What a shell suggests for the value of an option or for an operand.
enum CompletionValue: Equatable {
    case file
    case folder
    case oneOf([String])
    /// Any text: no suggestions.
    case text

    init(name: String, choices: [String]) {
        self =
            switch name {
            case _ where !choices.isEmpty: .oneOf(choices)
            case "FILE": .file
            case "DIR": .folder
            default: .text
            }
    }
}

extension Command.Option {
    /// What may follow the option. Nil for a switch.
    var completion: CompletionValue? { value.map { CompletionValue(name: $0, choices: choices) } }
}

extension Command.Operand {
    var completion: CompletionValue { CompletionValue(name: name, choices: choices) }
}

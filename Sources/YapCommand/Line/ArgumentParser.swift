/// Parses the words after a command's name according to the command's declaration.
enum ArgumentParser {
    static func parse(_ words: [String], for command: Command) throws -> Invocation {
        var invocation = Invocation()
        var rest = words[...]
        var takesOptions = true
        while let word = rest.popFirst() {
            if takesOptions && word == "--" {
                takesOptions = false
            } else if takesOptions && word.hasPrefix("-") && word != "-" {
                try option(word, &rest, for: command, into: &invocation)
            } else {
                invocation.operands.append(word)
            }
        }
        if !invocation.has("help") { try check(invocation, for: command) }
        return invocation
    }

    private static func option(
        _ word: String, _ rest: inout ArraySlice<String>, for command: Command,
        into invocation: inout Invocation
    ) throws {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = word == "-h" ? "help" : String(parts[0].drop { $0 == "-" })
        let isKnownForm = word == "-h" || word.hasPrefix("--")
        guard isKnownForm, let option = command.allOptions.first(where: { $0.name == name }) else {
            let nearest = Nearest.sorted(command.allOptions.map { "--\($0.name)" }, to: String(parts[0]))
                .first
            throw Failure.usage(
                "there is no option \(parts[0])" + (nearest.map { "; the nearest is \($0)" } ?? ""))
        }
        if option.value == nil {
            guard parts.count == 1 else { throw Failure.usage("--\(name) takes no value") }
            invocation.add("", to: name)
        } else if parts.count == 2 {
            invocation.add(String(parts[1]), to: name)
        } else {
            guard let value = rest.popFirst() else { throw Failure.usage("--\(name) needs a value") }
            invocation.add(value, to: name)
        }
        guard option.repeats || invocation.values(name).count == 1 || option.value == nil else {
            throw Failure.usage("--\(name) is given twice")
        }
    }

    private static func check(_ invocation: Invocation, for command: Command) throws {
        for option in command.options where option.isRequired && !invocation.has(option.name) {
            throw Failure.usage("--\(option.name) is missing")
        }
        let repeats = command.operands.last?.repeats ?? false
        if invocation.operands.count < command.operands.count {
            throw Failure.usage("\(command.operands[invocation.operands.count].name) is missing")
        }
        if invocation.operands.count > command.operands.count && !repeats {
            throw Failure.usage("\"\(invocation.operands[command.operands.count])\" is too much")
        }
    }
}

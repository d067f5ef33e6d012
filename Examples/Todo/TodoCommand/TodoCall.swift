import Foundation

/// The parsed command line.
struct TodoCall {
    private static let valueOptions = [
        "device", "folder", "server", "container", "environment", "api-token", "account", "patience",
        "failpoint",
    ]
    private static let switches = ["json", "all", "help", "password-stdin"]

    let command: String
    let operands: [String]
    private let values: [String: String]

    var wantsHelp: Bool { has("help") || command == "help" || command.isEmpty }

    init(_ words: [String]) throws {
        var values = [String: String]()
        var operands = [String]()
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                rest = []
            } else if word == "-h" {
                values["help"] = ""
            } else if word.hasPrefix("--") {
                let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1).map(String.init)
                let name = parts.first ?? ""
                if Self.switches.contains(name), parts.count == 1 {
                    values[name] = ""
                } else if Self.valueOptions.contains(name) {
                    guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                        throw TodoFailure.usage("--\(name) needs a value")
                    }
                    values[name] = value
                } else {
                    throw TodoFailure.usage("there is no option \(word)")
                }
            } else {
                operands.append(word)
            }
        }
        self.values = values
        command = operands.first ?? ""
        self.operands = Array(operands.dropFirst())
    }

    func has(_ option: String) -> Bool { values[option] != nil }
    func value(_ option: String) -> String? { values[option] }
    var isJSON: Bool { has("json") }

    /// The only operand.
    func operand(_ name: String) throws -> String {
        guard let first = operands.first, operands.count == 1 else {
            throw TodoFailure.usage("`todo \(command)` takes one \(name)")
        }
        return first
    }

    /// Runs the command.
    /// - Returns: The exit code.
    func run() async throws -> Int32 {
        guard Help.commands.contains(where: { $0.name == command }) else {
            throw TodoFailure.usage("there is no command \(command)")
        }
        let folder = try DeviceFolder(self)
        let failpoint = try value("failpoint").map { try Failpoint($0) }
        switch command {
        case "login": return try await LoginCommand(call: self, folder: folder).run()
        case "status": return try await StatusCommand(call: self, folder: folder).run()
        case "sync": return try await SyncCommand(call: self, folder: folder, failpoint: failpoint).run()
        case "watch": return try await WatchCommand(call: self, folder: folder).run()
        default: return try await EditCommands(call: self, folder: folder, failpoint: failpoint).run()
        }
    }
}

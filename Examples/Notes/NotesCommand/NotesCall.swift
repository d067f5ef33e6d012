import CloudKit
import CloudKitAdditions
import Foundation
import NotesKit

/// The parsed command line.
struct NotesCall {
    private static let valueOptions = [
        "device", "folder", "server", "container", "environment", "api-token", "account",
    ]
    private static let switches = ["json", "help", "password-stdin"]

    private let command: String
    private let words: [String]
    private var values: [String: String] = [:]
    private var isJSON: Bool { values["json"] != nil }

    init(_ arguments: [String]) throws {
        var words: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                words.append(word)
                continue
            }
            let name = String(word.dropFirst(2))
            if name.isEmpty {
                words += rest
                rest = []
            } else if Self.switches.contains(name) {
                values[name] = ""
            } else if Self.valueOptions.contains(name), let value = rest.popFirst() {
                values[name] = value
            } else {
                throw NotesFailure.usage("there is no option \(word), or it needs a value")
            }
        }
        command = words.first ?? ""
        self.words = Array(words.dropFirst())
    }

    /// Runs the command.
    func run() async throws {
        if values["help"] != nil || command.isEmpty || command == "help" { return Output.line(Self.help) }
        guard let name = values["device"] else { throw NotesFailure.usage("which device? --device NAME") }
        let device = try Device(name: name, folder: values["folder"])
        switch command {
        case "login": try await logIn(device)
        case "logout": try device.container().signOut()
        case "show": try Output.show(await book(device).shown, asJSON: isJSON)
        case "write", "sync": try await write(device)
        case "open", "watch": try await open(device)
        default: throw NotesFailure.usage("there is no command \(command)")
        }
    }

    private func book(_ device: Device) throws -> NoteBook {
        try NoteBook(container: device.container(), shelf: device.shelf)
    }

    // MARK: Commands

    /// `notes login`: signs this device in.
    private func logIn(_ device: Device) async throws {
        func setting(_ option: String) throws -> String {
            let variable = "CLOUDKIT_" + option.uppercased()
            guard let value = values[option] ?? ProcessInfo.processInfo.environment[variable] else {
                throw NotesFailure.usage("--\(option) is missing")
            }
            return value
        }
        guard let account = values["account"] else { throw NotesFailure.usage("--account is missing") }
        let place = Device.Place(
            server: try setting("server"), container: try setting("container"),
            environment: values["environment"] ?? "development",
            apiToken: values["api-token"] ?? ProcessInfo.processInfo.environment["CLOUDKIT_API_TOKEN"])
        let user = try await device.container(place).signIn(account: account, password: password())
        try device.remember(place)
        Output.line("\(device.name) is signed in as \(account) (\(user.recordName))")
    }

    private func password() throws -> String {
        if values["password-stdin"] != nil {
            guard let line = readLine(), !line.isEmpty else {
                throw NotesFailure.failed("there is no password to read")
            }
            return line
        }
        guard let typed = getpass("Password: ") else {
            throw NotesFailure.usage("no terminal: use --password-stdin")
        }
        return String(cString: typed)
    }

    /// `notes write TEXT` and `notes sync`: up to one edit, and one sync. A note that can't be sent is no failure.
    private func write(_ device: Device) async throws {
        try device.lock()
        let book = try book(device)
        if command == "write" {
            guard !words.isEmpty else { throw NotesFailure.usage("`notes write` takes a text") }
            try await book.edit(words.joined(separator: " "))
        }
        await book.sync()
        try Output.show(await book.shown, asJSON: isJSON)
    }

    private enum Event: Sendable {
        case screen(NoteScreen)
        case line(String)
        case end
    }

    /// `notes open`: what an app's window does. Each line of input is added to the note. `notes watch` only shows it.
    private func open(_ device: Device) async throws {
        try device.lock()
        let book = try book(device)
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let screens = await book.screens()
        let pushes = try device.container().notifications()
        let tasks = [
            Task { for await screen in screens { continuation.yield(.screen(screen)) } },
            Task {
                await book.start()
                for await event in pushes {
                    switch event {
                    // Changes that other devices made before it listened aren't reported.
                    case .listening: await book.sync()
                    case .notification(let notification): await book.receive(notification)
                    case .interrupted: break
                    }
                }
            },
        ]
        if command == "open" {
            // Reading blocks, so it runs on its own thread.
            Thread {
                while let line = readLine() { continuation.yield(.line(line)) }
                continuation.yield(.end)
            }.start()
        }
        loop: for await event in events {
            switch event {
            case .screen(let screen): try Output.show(screen, asJSON: isJSON)
            case .line(let line):
                let text = await book.shown.text
                try await book.edit(text.isEmpty ? line : text + "\n" + line)
            case .end: break loop
            }
        }
        await book.sync()
        try Output.show(await book.shown, asJSON: isJSON)
        for task in tasks { task.cancel() }
    }

    private static let help = """
        notes: one note that is the same on all your devices

        Usage: notes --device NAME [--folder DIR] COMMAND [options]

          login    sign in: --server URL --container ID --account NAME [--api-token TOKEN] [--password-stdin]
          logout   delete the sign-in
          show     print the note as this device has it, without a network
          write    replace the note, and send it: notes --device phone write "Buy milk"
          sync     fetch and send
          open     show the note and its changes; each line you type is added. Ctrl-D ends
          watch    the same without typing, until Ctrl-C

        A device is a folder: ./notes-NAME, or --folder. --json prints {"text", "status", "isUnsent"}, a line for each
        screen. Exit codes: 0 done (also when the note waits for a network), 1 failed, 2 wrong usage.
        """
}

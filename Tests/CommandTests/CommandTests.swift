import CloudStore
import Foundation
import SQLite
import SQLiteTestSupport
import Testing

@testable import YapCommand

/// The command as a user types it: real processes, their words, and their exit codes.
@Suite struct CommandTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func yap(_ words: String...) async throws -> YapProcess.Ended {
        try await YapProcess.run(words, in: folder)
    }

    /// The help of every command is kept in a file, so that a change of it is seen. `YAP_GOLDEN=write` writes it anew.
    @Test func helpIsAsItWasAgreed() async throws {
        var all = try await yap("--help").output
        for command in YapProgram.commands {
            let words = command.name.split(separator: " ").map(String.init)
            let help = try await YapProcess.run(words + ["--help"], in: folder)
            #expect(help.code == 0 && help.errors.isEmpty, "\(command.name)")
            all += "\n" + String(repeating: "=", count: 20) + "\n" + help.output
        }
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "help.golden").path
        if ProcessInfo.processInfo.environment["YAP_GOLDEN"] == "write" {
            try all.write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == all)
    }

    /// `serve` and `login` are typed in `ServeTests`, and what reads a device's file in `SyncInspectTests` and
    /// `DatabaseCommandTests`.
    static let examples = YapProgram.commands
        .filter { !["serve", "login", "sync inspect"].contains($0.name) && !$0.name.hasPrefix("db ") }.map(
            \.name)

    @Test(arguments: examples) func everyExampleInAHelpWorksWhenTyped(_ name: String) async throws {
        let command = try #require(YapProgram.commands.first { $0.name == name })
        for example in command.examples {
            let ended = try await YapProcess.shell("yap \(example)", in: folder)
            #expect(ended.code == 0, "\(example): \(ended.errors)")
        }
    }

    @Test(arguments: examples) func jsonOfEveryCommandIsJSONWithTheKeysOfItsHelp(_ name: String) async throws
    {
        let command = try #require(YapProgram.commands.first { $0.name == name })
        for example in command.examples.dropLast() {
            _ = try await YapProcess.shell("yap \(example)", in: folder)
        }
        let last = try #require(command.examples.last).replacing(" || echo 'not there'", with: "")
        let words = last.hasSuffix("--json") ? "" : "\"$@\""
        let line = last.contains("<<<") ? last.replacing(" <<<", with: " --json <<<") : "\(last) \(words)"
        let ended = try await YapProcess.shell("yap \(line)", ["--json"], in: folder)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any], "\(ended)")
        for key in object.keys where key != "records" {
            #expect(command.json.contains("\"\(key)\""), "\(key)")
        }
        #expect(!object.isEmpty)
    }

    @Test(arguments: [
        ["frob"], ["account"], ["account", "frob"], ["account", "create"], ["account", "create", "a", "b"],
        ["token", "create"], ["init", "--frob"], ["init", "--data"], ["serve", "--port", "65536"],
        ["serve", "--port", "x"],
        ["serve", "--tls-key", "x"],
        ["record", "query", "Todo", "--container", "c", "--limit", "0", "--public"],
        ["record", "query", "Todo", "--container", "c", "--where", "x", "--public"],
        ["zone", "list", "--container", "c", "--environment", "test"], ["--frob"],
        ["sync"], ["sync", "inspect"], ["sync", "inspect", "a", "b"],
        ["sync", "inspect", "a", "--limit", "0"],
    ])
    func wrongUsageEndsWith2AndSaysWhereHelpIs(_ words: [String]) async throws {
        try DataFolder(path: folder.file("yap-data")).make()
        try ControlStore(path: folder.file("yap-data/control.sqlite")).containers.add("c")
        let ended = try await YapProcess.run(words, in: folder)
        #expect(ended.code == 2)
        #expect(ended.output.isEmpty)
        #expect(ended.errors.hasPrefix("yap: "))
        #expect(ended.errors.contains("help") || ended.errors.contains("another word"))
    }

    @Test func withoutADataFolderEachCommandSaysHowToMakeIt() async throws {
        let lines = [
            ["serve"], ["account", "list"], ["account", "create", "ann"], ["token", "list"],
            ["zone", "list", "--container", "c"], ["record", "get", "x", "--container", "c", "--public"],
        ]
        for words in lines {
            let ended = try await YapProcess.run(words, in: folder)
            #expect(ended.code == 3)
            #expect(ended.errors.contains("yap init"), "\(words): \(ended.errors)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "and makes nothing")
    }

    @Test func aControlFileThatIsNoneIsRefusedAndLeftAsItIs() async throws {
        try FileManager.default.createDirectory(
            atPath: folder.file("yap-data"), withIntermediateDirectories: false)
        let path = folder.file("yap-data/control.sqlite")
        let newer = folder.file("newer")
        try ControlStore.make(path: newer)
        try Connection(path: newer).execute("PRAGMA user_version = 9")
        let foreign = folder.file("foreign")
        try Connection(path: foreign).execute("CREATE TABLE songs (title TEXT)")
        let contents = [
            (Data(repeating: 0x41, count: 5000), "not a database"),
            (try Data(contentsOf: URL(filePath: newer)), "version"),
            (try Data(contentsOf: URL(filePath: foreign)), "another program"),
        ]
        for (content, word) in contents {
            for words in [["serve", "--port", "0"], ["account", "list"], ["init"], ["token", "list"]] {
                try content.write(to: URL(filePath: path))
                let ended = try await YapProcess.run(words, in: folder)
                #expect(ended.code == 1, "\(words)")
                #expect(
                    ended.errors.contains(word) && ended.errors.contains(path.suffix(23)), "\(ended.errors)")
                #expect(try Data(contentsOf: URL(filePath: path)) == content, "\(words)")
            }
        }
    }

    @Test func accountsAndTokensAreMadeListedAndRefusedTwice() async throws {
        #expect(try await yap("init", "--container", Self.todo).code == 0)
        let made = try await yap("account", "create", "ann", "--given-name", "Ann")
        #expect(made.output.contains(/password [a-z2-9]{4}(-[a-z2-9]{4}){3}\n/))
        let again = try await yap("account", "create", "ANN")
        #expect(again.code == 4 && again.errors.contains("already"))
        let input = try await YapProcess.run(
            ["account", "create", "bob", "--password-stdin"], in: folder, input: "a secret\n")
        #expect(input.code == 0 && !input.output.contains("password"))
        let empty = try await YapProcess.run(["account", "create", "c", "--password-stdin"], in: folder)
        #expect(empty.code == 1 && empty.errors.contains("no password"))
        let file = try await yap("account", "create", "c", "--password-file", "absent")
        #expect(file.code == 1 && file.errors.contains("absent"))
        #expect(try await yap("account", "list").output.contains(/ann +Ann +- +- +\d{4}-\d\d-\d\dT/))
        let token = try await yap("token", "create", "--container", Self.todo, "--name", "app")
        #expect(token.output.contains(/token [0-9a-f]{64}\n/))
        #expect(try await yap("token", "create", "--container", Self.todo, "--name", "app").code == 4)
        #expect(try await yap("token", "revoke", "--container", Self.todo, "--name", "other").code == 3)
        #expect(try await yap("token", "revoke", "--container", Self.todo, "--name", "app").code == 0)
        #expect(try await yap("token", "list").output.isEmpty)
    }

    @Test func aNewPasswordHasEightCharacters() async throws {
        #expect(try await yap("init").code == 0)
        for (word, code) in [("secret", Int32(4)), ("sécret7", 4), ("sécret78", 0)] {
            let made = try await YapProcess.run(
                ["account", "create", "ann", "--password-stdin"], in: folder, input: "\(word)\n")
            #expect(made.code == code, "\(word): \(made.errors)")
            guard code != 0 else { continue }
            #expect(made.errors.contains("has \(word.count) characters. A new one has 8 at least"))
        }
        let changed = try await YapProcess.run(
            ["account", "password", "ann", "--password-stdin"], in: folder, input: "short\n")
        #expect(changed.code == 4)
    }

    @Test func theFolderAndItsFilesAreForTheirOwnerOnly() async throws {
        let ended = try await YapProcess.shell("umask 000; yap init && yap account create ann", in: folder)
        #expect(ended.code == 0)
        let manager = FileManager.default
        for name in ["yap-data"]
            + (try manager.subpathsOfDirectory(atPath: folder.file("yap-data"))).map({ "yap-data/\($0)" })
        {
            let mode = try manager.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0, "\(name)")
        }
    }

    @Test func aRemovedReaderIsNoError() async throws {
        let ended = try await YapProcess.shell(
            """
            yap init > /dev/null
            for n in 1 2 3 4 5 6 7 8; do yap account create "$n" --password-stdin <<< "x of eight"; done > /dev/null
            for n in 1 2 3 4 5 6 7 8; do yap help; done | head -n 1
            yap account list | true
            """, in: folder)
        #expect(ended.code == 0)
        #expect(ended.errors.isEmpty)
    }

    @Test func theVersionIsPrinted() async throws {
        #expect(try await yap("--version").output == "yap \(YapProgram.version)\n")
        #expect(try await yap("--version", "--json").output == "{\"version\":\"\(YapProgram.version)\"}\n")
        #expect(try await yap().output == yap("help").output)
        #expect(try await yap("help", "account", "create").output == yap("account", "create", "-h").output)
    }

    @Test func theVersionIsTheNewestOfTheChangelog() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let log = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let heading = try #require(log.split(separator: "\n").first { $0.hasPrefix("## ") })
        #expect(heading == "## \(YapProgram.version)")
    }
}

import Foundation
import SQLite
import SQLiteTestSupport
import Testing
import Yap

@testable import YapCommand

/// `yap db` with encrypted files. With the system's SQLite these tests hold that a key is refused with words for what
/// to do. `Scripts/sqlcipher` runs them with SQLCipher in its place, which the program loads too.
@Suite struct EncryptedFileTests {
    private let folder: TemporaryFolder
    private let hasEncryption = Connection.hasEncryption
    private let key = (0..<32).map { UInt8(200 + $0) }
    private let line = #"{"collection":"todos","key":"1","object":{"title":"a sentence"}}"# + "\n"

    init() throws {
        folder = try TemporaryFolder()
        try write(key, "key")
        try write(Array((key.map { String($0, radix: 16) }.joined() + "\n").utf8), "hex")
        try write([UInt8](repeating: 1, count: 32), "other")
        try write(Array("correct horse\n".utf8), "passphrase")
        try write(Array(line.utf8), "lines")
    }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(filePath: folder.file(name)))
    }

    /// What no message has: the keys' digits, the form that SQLCipher takes, and the passphrase.
    private var secrets: [String] {
        [key, [UInt8](repeating: 1, count: 32)].map { $0.map { String($0, radix: 16) }.joined() }
            + ["c8c9cacb", "01010101", "x'", "correct horse"]
    }

    private func yap(_ words: String, input: String = "") async throws -> YapProcess.Ended {
        let ended = try await run(words, input: input)
        for secret in secrets {
            #expect(!ended.output.lowercased().contains(secret), "\(words)")
            #expect(!ended.errors.lowercased().contains(secret), "\(words)")
        }
        return ended
    }

    private func run(_ words: String, input: String) async throws -> YapProcess.Ended {
        let library = ProcessInfo.processInfo.environment["LD_PRELOAD"]
        return try await YapProcess.run(
            words.split(separator: " ").map(String.init), in: folder, input: input,
            environment: library.map { ["LD_PRELOAD": $0] } ?? [:])
    }

    private func done(_ words: String, input: String = "") async throws -> String {
        let ended = try await yap(words, input: input)
        #expect(ended.code == 0, "\(words): \(ended)")
        return ended.output
    }

    private func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.file(name))
    }

    @Test func anEncryptedFileIsReadWithTheKeyInAFileOnly() async throws {
        let loaded = try await yap("db load a.yap lines --create --key-file key")
        guard hasEncryption else {
            #expect(loaded.code == 1 && loaded.errors.contains("can't encrypt. Load SQLCipher"), "\(loaded)")
            #expect(!exists("a.yap"))
            return
        }
        #expect(loaded.code == 0, "\(loaded)")
        let bytes = try Data(contentsOf: URL(filePath: folder.file("a.yap")))
        #expect(bytes.range(of: Data("sentence".utf8)) == nil && bytes.range(of: Data("SQLite".utf8)) == nil)
        for command in [
            "info a.yap", "get a.yap todos 1", "dump a.yap", "collections a.yap", "check a.yap",
            "query a.yap todos --count", "vacuum a.yap", "watch a.yap --seconds 1",
        ] {
            // To watch takes the whole second.
            for option in command.hasPrefix("watch") ? ["hex"] : ["key", "hex"] {
                _ = try await done("db \(command) --key-file \(option)")
            }
            let without = try await yap("db \(command)")
            #expect(without.code == 1 && without.errors.contains("--key-file, or that of"), "\(without)")
            let other = try await yap("db \(command) --key-file other")
            #expect(other.code == 1 && other.errors.contains("can't be read with this key"), "\(other)")
        }
        let digits = try String(contentsOfFile: folder.file("hex"), encoding: .utf8)
        #expect(try await done("db dump a.yap --key-file -", input: digits) == line)
        let sync = try await yap("sync inspect a.yap --key-file key")
        #expect(sync.code == 3 && sync.errors.contains("has no sync"), "\(sync)")
    }

    @Test func aPassphraseIsReadFromAFileAndMakesANewDatabase() async throws {
        let loaded = try await yap("db load a.yap lines --create --passphrase-file passphrase")
        guard hasEncryption else {
            #expect(loaded.code == 1 && loaded.errors.contains("can't encrypt. Load SQLCipher"), "\(loaded)")
            #expect(!exists("a.yap"))
            return
        }
        #expect(loaded.code == 0, "\(loaded)")
        #expect(try await done("db dump a.yap --passphrase-file passphrase") == line)
        let other = try await yap("db dump a.yap --passphrase-file lines")
        #expect(other.code == 1 && other.errors.contains("can't be read with this key"), "\(other)")
    }

    @Test func aCopyHasTheSameKeyUnlessTheLineHasAnotherOrNone() async throws {
        _ = try await done("db load plain.yap lines --create")
        guard hasEncryption else {
            let copied = try await yap("db backup plain.yap copy.yap --new-key-file key")
            #expect(copied.code == 1 && copied.errors.contains("can't encrypt. Load SQLCipher"), "\(copied)")
            #expect(!exists("copy.yap") && !exists("copy.yap.part"))
            return
        }
        _ = try await done("db backup plain.yap a.yap --new-key-file key")
        _ = try await done("db backup a.yap same.yap --key-file key")
        _ = try await done("db backup a.yap other.yap --key-file key --new-key-file other")
        _ = try await done("db backup a.yap words.yap --key-file key --new-passphrase-file passphrase")
        _ = try await done("db backup a.yap none.yap --key-file key --new-without-key")
        for options in [
            "a.yap --key-file key", "same.yap --key-file hex", "other.yap --key-file other",
            "words.yap --passphrase-file passphrase", "none.yap",
        ] {
            #expect(try await done("db dump \(options)") == line, "\(options)")
        }
        let plain = try await yap("db dump none.yap --key-file key")
        #expect(plain.code == 1 && plain.errors.contains("or isn't an encrypted database"), "\(plain)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!files.contains { $0.contains(".part") })
    }

    @Test func aCopyIsReadableByItsOwnerAlone() async throws {
        _ = try await done("db load plain.yap lines --create")
        _ = try await done("db backup plain.yap copy.yap")
        // What has no encryption is copied without it by any SQLite.
        _ = try await done("db backup plain.yap none.yap --new-without-key")
        #expect(try await done("db dump none.yap") == line)
        var copies = ["copy.yap", "none.yap"]
        if hasEncryption {
            _ = try await done("db backup plain.yap other.yap --new-key-file key")
            _ = try await done("db backup other.yap same.yap --key-file key")
            copies += ["other.yap", "same.yap"]
        }
        for copy in copies {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(copy))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(copy)")
        }
    }

    @Test func aCopyWithAnotherKeyLeavesAFileWithARollbackJournalAsItIs() async throws {
        _ = try await done("db load plain.yap lines --create")
        let connection = try Connection(path: folder.file("plain.yap"))
        try connection.execute("PRAGMA journal_mode=DELETE")
        try connection.close()
        let before = try Data(contentsOf: URL(filePath: folder.file("plain.yap")))
        let copied = try await yap("db backup plain.yap copy.yap --new-key-file key")
        #expect(copied.code == (hasEncryption ? 0 : 1), "\(copied)")
        #expect(try Data(contentsOf: URL(filePath: folder.file("plain.yap"))) == before)
    }

    @Test func whatIsNoKeyIsRefusedAndTheKeyIsNotShown() async throws {
        try write(Array("0123".utf8), "short")
        try write([UInt8](repeating: 7, count: 100_000), "long")
        try write([], "empty")
        _ = try await done("db load plain.yap lines --create")
        for (options, words, code) in [
            ("--key-file short", "There is no key in short: a key is 32 bytes", 1),
            ("--key-file long", "There is no key in long: a key is 32 bytes", 1),
            ("--key-file empty", "There is no key in empty", 1),
            ("--passphrase-file empty", "There is no passphrase in empty", 1),
            ("--key-file absent", "absent can't be read", 1),
            ("--key-file key --passphrase-file passphrase", "exclude each other", 2),
        ] as [(String, String, Int32)] {
            let ended = try await yap("db info plain.yap \(options)")
            #expect(ended.code == code && ended.errors.contains(words), "\(options): \(ended)")
            #expect(ended.output.isEmpty && !ended.errors.contains("0123"), "\(ended)")
        }
        let both = try await yap("db load plain.yap - --key-file -")
        #expect(both.code == 2 && both.errors.contains("can't be both"), "\(both)")
        for (options, words) in [
            // Refused before a key is read: there is none in the first.
            ("--key-file absent --new-key-file key --new-without-key", "exclude each other"),
            ("--key-file - --new-key-file -", "can't be both keys"),
            ("--key-file - --new-passphrase-file -", "can't be both keys"),
            ("--passphrase-file - --new-key-file -", "can't be both keys"),
        ] {
            let copy = try await yap("db backup plain.yap copy.yap \(options)")
            #expect(copy.code == 2 && copy.errors.contains(words), "\(options): \(copy)")
            #expect(!exists("copy.yap"))
        }
    }
}

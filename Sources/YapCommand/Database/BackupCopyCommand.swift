import System
import Yap

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap db backup`: copies a device's database.
enum BackupCopyCommand {
    static let command = Command(
        name: "db backup", summary: "copy an app's database as it is now, also while the app writes",
        details: """
            The file is read and not changed, also while an app has it open.
            The copy is whole: it has one commit and all before it. Nothing is overwritten.

            The copy of an encrypted database has the same key, unless another key is given, or
            --new-without-key: then rows are copied one by one, which takes longer. A database without encryption gets a
            key in the same way. Only its owner can read the copy.
            """,
        operands: [
            Command.Operand(name: "FILE", help: "the app's database file"),
            Command.Operand(name: "COPY", help: "the file to write"),
        ],
        options: KeyOptions.options + [
            Command.Option(
                name: "new-key-file", value: "FILE", help: "encrypt the copy with this key, as --key-file"),
            Command.Option(
                name: "new-passphrase-file", value: "FILE",
                help: "encrypt the copy with this passphrase, as --passphrase-file"),
            Command.Option(name: "new-without-key", help: "write a copy without encryption"),
        ],
        json: #"{"backup", "bytes"}"#,
        examples: [
            "db backup phone.yap \"copy-$(date +%N).yap\"",
            "db backup phone.yap \"copy-$(date +%N).yap\" --json",
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let copy = invocation.operands[1]
        guard access(copy, F_OK) != 0 else { throw Failure.refused("\(Shown.word(copy)) exists already.") }
        let isWithoutKey = invocation.has("new-without-key")
        try check(invocation, isWithoutKey: isWithoutKey)
        let device = try invocation.deviceFile(console)
        let newKey = try KeyOptions.key(invocation, console, prefix: "new-")
        let draft = copy + ".part"
        unlink(draft)
        try device.opening {
            let file = try device.openForReading()
            if newKey != nil || (isWithoutKey && device.encryptionKey != nil) {
                try file.export(to: draft, encryptionKey: newKey)
            } else {
                try file.backup(to: draft)
            }
        }
        try move(draft, to: copy)
        let bytes = DatabaseCommands.size(of: copy)
        if invocation.has("json") {
            return try console.print(.object([("backup", .string(copy)), ("bytes", .integer(bytes))]))
        }
        try console.print("\(Shown.word(copy)): \(bytes) bytes")
    }

    /// Gives the draft its final name. SQLite has synced its bytes.
    ///
    /// - Throws: `Failure.failed`. After it, the copy exists only if syncing the folder failed.
    static func move(_ draft: String, to copy: String, calls: FileCalls = .system) throws(Failure) {
        do throws(FileError) {
            try DurableFile.rename(draft, to: copy, replacing: false, calls: calls)
        } catch {
            if error.step == .syncFolder {
                throw Failure.failed(
                    "\(Shown.word(copy)) is complete, but its folder can't be synced: \(error.reason). "
                        + "A loss of power may remove it.")
            }
            unlink(draft)
            throw Failure.failed("\(Shown.word(copy)) can't be written: \(error.reason)")
        }
    }

    /// Rejects options that exclude each other, before a key is read.
    private static func check(_ invocation: Invocation, isWithoutKey: Bool) throws {
        let newKeyFiles = KeyOptions.files(invocation, prefix: "new-")
        guard newKeyFiles.isEmpty || !isWithoutKey else {
            throw Failure.usage("--new-without-key and a new key exclude each other")
        }
        guard !newKeyFiles.contains("-") || !KeyOptions.files(invocation).contains("-") else {
            throw Failure.usage("the standard input can't be both keys")
        }
    }
}

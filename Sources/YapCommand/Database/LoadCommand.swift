import SQLite
import Yap
import YapCloudKit

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap db load`: writes what `yap db dump` printed.
enum LoadCommand {
    static let command = Command(
        name: "db load", summary: "write the rows of a dump into an app's database, also while the app runs",
        details: """
            LINES is what db dump printed, or lines like it; - is the standard input. A file is checked as a whole
            before anything is written. The rows are written a few hundred in a transaction, in the order of the lines.
            A row that is there with the same bytes isn't written; one with others is an error, unless --replace or
            --skip-existing says what to do.

            Views, indexes and searches take the rows in when the app next uses them, also while it runs. The
            sync uploads them when the app next registers it: while a process has a file with a sync open, load
            refuses, unless --while-open says that the rows may wait for that. No closure of the app sees the rows:
            they aren't checked against its types.

            The columns of an error are bytes. A line with storedObject or storedMetadata has bytes that its object or
            metadata alone doesn't give; remove them if you change the object or the metadata.
            """,
        operands: [
            Command.Operand(name: "FILE", help: "the app's database file"),
            Command.Operand(name: "LINES", help: "a file of lines of JSON, or -"),
        ],
        options: [
            Command.Option(name: "replace", help: "overwrite rows that are there"),
            Command.Option(name: "skip-existing", help: "leave rows that are there as they are"),
            Command.Option(name: "create", help: "make the database if there is none"),
            Command.Option(name: "dry-run", help: "check the lines and count, and write nothing"),
            Command.Option(
                name: "while-open", help: "also if the file has a sync and another process has it open"),
        ],
        json: """
            {"file", "lines", "inserted", "replaced", "unchanged", "skipped", "isDryRun", "syncs": [name]}: syncs, which
            upload the rows when the app next registers them
            """,
        examples: [
            "db dump phone.yap | tee phone.jsonl", "db load phone.yap phone.jsonl",
            "db load phone.yap phone.jsonl --replace --dry-run --json",
            "db load copy.yap phone.jsonl --create --skip-existing",
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let (path, lines) = (invocation.operands[0], invocation.operands[1])
        guard !invocation.has("replace") || !invocation.has("skip-existing") else {
            throw Failure.usage("--replace and --skip-existing exclude each other")
        }
        let existing: RowLoad.Existing =
            invocation.has("replace") ? .replaced : invocation.has("skip-existing") ? .skipped : .refused
        let isNew = invocation.has("create") && access(path, F_OK) != 0 && errno == ENOENT
        let openers = OtherOpeners(path: path)
        let syncs = isNew ? [] : try syncNames(path)
        let guardSync = SyncGuard(
            path: path, syncs: invocation.has("while-open") ? [] : syncs, openers: openers)
        if !invocation.has("dry-run") { try guardSync.check(loaded: nil) }

        let input = try LineInput(lines, console)
        let load = RowLoad(
            path, input, existing, Progress(console, whatIsLeft: "each row is whole, or absent"))
        let isDryRun = invocation.has("dry-run")
        if isDryRun || input.rewind() { try load.check(isNew: isNew) }
        if !isDryRun {
            load.startAgain()
            try load.write(guardSync)
        }
        try report(load, path, isDryRun, syncs, invocation.has("json"), console)
    }

    private static func syncNames(_ path: String) throws -> [String] {
        try DeviceFile(path: path).read { file in
            try file.extensions().filter { $0.className == YapDatabaseCloudKit.className }.map(\.name)
        }
    }

    private static func report(
        _ load: RowLoad, _ path: String, _ isDryRun: Bool, _ syncs: [String], _ isJSON: Bool,
        _ console: Console
    ) throws {
        let counts = load.counts
        if isJSON {
            return try console.print(
                .object([
                    ("file", .string(path)), ("lines", .integer(Int64(counts.lines))),
                    ("inserted", .integer(Int64(counts.inserted))),
                    ("replaced", .integer(Int64(counts.replaced))),
                    ("unchanged", .integer(Int64(counts.unchanged))),
                    ("skipped", .integer(Int64(counts.skipped))), ("isDryRun", .bool(isDryRun)),
                    ("syncs", .array(syncs.map { .string($0) })),
                ]))
        }
        try console.print(
            "\(Shown.word(path)): \(counts.inserted) inserted, \(counts.replaced) replaced, "
                + "\(counts.unchanged) unchanged, \(counts.skipped) skipped"
                + (isDryRun ? "; nothing was written (--dry-run)" : ""))
        guard !isDryRun, counts.inserted + counts.replaced > 0 else { return }
        for name in syncs {
            console.note("The sync \(Shown.word(name)) uploads the rows when the app next registers it.")
        }
    }
}

/// Keeps rows from a file whose sync wouldn't notice them before the app starts again.
struct SyncGuard {
    let path: String
    /// The names of the syncs that the file has.
    let syncs: [String]
    let openers: OtherOpeners

    /// - Parameter loaded: What is in the file already, in words.
    /// - Throws: `Failure.refused` if the file has a sync, and another process has it open.
    func check(loaded: String?) throws {
        guard let sync = syncs.first, try DeviceFile(path: path).opening({ try openers.exist() }) else {
            return
        }
        throw Failure.refused(
            "\(Shown.word(path)) has the sync \(Shown.word(sync)), and another process has the file open: rows that "
                + "are loaded now would be uploaded only when the app registers the sync again, at its next start. "
                + "End the app first, or add --while-open." + (loaded.map { " \($0)" } ?? ""))
    }
}

import SQLite
import Yap
import YapCloudKit

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap db load`: writes the output of `yap db dump` to a database.
enum LoadCommand {
    static let command = Command(
        name: "db load", summary: "write the rows of a dump into an app's database, also while the app runs",
        details: """
            LINES is what db dump printed, or lines like it; - is the standard input. A file is checked as a whole
            before anything is written, and has at most 3,000,000 rows; a pipe isn't, and has any number. The rows are
            written a few hundred in a transaction, in the order of the lines. An existing row with the same bytes,
            also from an earlier line, isn't written. One with other bytes is an error, unless --replace or
            --skip-existing is given.

            A running app's automatic views, indexes, searches and relationships catch up before the app's next write,
            with up to 100,000 rows. With more rows they can't, nor can a manual view with any: the app can't read
            them then until it registers them again. The sync uploads the rows when the app next registers it. So
            while a process has the file open, load refuses rows that would have to wait for a registration, unless
            --while-open is given. No closure of the app is called: the rows aren't checked against its types.

            The columns of an error are bytes. A line with storedObject or storedMetadata has bytes that its object or
            metadata alone doesn't give; remove them if you change the object or the metadata.
            """,
        operands: [
            Command.Operand(name: "FILE", help: "the app's database file"),
            Command.Operand(name: "LINES", help: "a file of lines of JSON, or -"),
        ],
        options: [
            Command.Option(name: "replace", help: "overwrite existing rows"),
            Command.Option(name: "skip-existing", help: "keep existing rows"),
            Command.Option(
                name: "create", help: "create the database if it doesn't exist, with the key if one is given"),
            Command.Option(name: "dry-run", help: "check the lines and count, and write nothing"),
            Command.Option(
                name: "while-open",
                help: "also if another process has the file open and would have to register again"),
        ] + KeyOptions.options,
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
        guard lines != "-" || !KeyOptions.files(invocation).contains("-") else {
            throw Failure.usage("the standard input can't be both the lines and the key")
        }
        let file = try invocation.deviceFile(console)
        let openers = OtherOpeners(path: path)
        let syncs = isNew ? [] : try syncNames(file)
        let openFile = OpenFileGuard(
            file: file, syncs: syncs, openers: invocation.has("while-open") ? nil : openers)
        if !invocation.has("dry-run") { try openFile.checkSyncs() }

        let input = try LineInput(lines, console)
        let load = RowLoad(
            file, input, existing, Progress(console, whatIsLeft: "each row is whole, or absent"))
        let isDryRun = invocation.has("dry-run")
        if isDryRun || input.rewind() { try load.check(isNew: isNew) }
        if !isDryRun {
            try openFile.checkExtensions(rowsCount: load.counts.inserted + load.counts.replaced)
            load.startAgain()
            try load.write(openFile)
        }
        try report(load, path, isDryRun, syncs, invocation.has("json"), console)
    }

    private static func syncNames(_ file: DeviceFile) throws -> [String] {
        try file.read { file in
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

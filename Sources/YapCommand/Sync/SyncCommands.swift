import YapCloudKit

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap sync ...`: the sync state of a device, read beside the app that has the file open.
enum SyncCommands {
    private static let listedMax = 1_000_000
    private static let portMax = 65_535
    /// Maximum bytes of the values that `--values` reads.
    private static let valueBytesMax = 64 << 20

    static let inspect = Command(
        name: "sync inspect", summary: "show the sync state in a device's database",
        details: """
            Reads an app's database file, also while the app runs, and changes nothing. It shows for each registered
            sync, each account and each cloud database: the queue in the order in which it is sent, changes in flight,
            quarantined changes with their reasons, the zones with their change tokens and records, records of types
            that the app doesn't know yet, and the last errors, newest first. It shows only the names of values,
            unless --values or --open is given. If no app has the file open, SQLite leaves its two helper files beside
            it (-wal, empty, and -shm), which the app reuses. A file that you may read but not write, or in a folder
            that you may not write, is read without them while no app has it open. Otherwise the error names the
            missing permission.

            With --open it serves the same as a page that follows the file, until Ctrl-C, and prints the page's address.
            The page can be reached from this machine only, and needs its address: the last part is a secret.
            """,
        operands: [Command.Operand(name: "FILE", help: "the app's database file")],
        options: [
            Command.Option(
                name: "name", value: "NAME", help: "only the sync that is registered under this name"),
            Command.Option(
                name: "limit", value: "NUMBER",
                help: "maximum number of change-sets, of changes in each, and of errors (default: 20)"),
            Command.Option(
                name: "records", value: "NUMBER",
                help: "list this many records of each zone, with their change tags"),
            Command.Option(
                name: "values",
                help: "show the values of changed fields, before and after, and the merge log"),
            Command.Option(name: "open", help: "serve a page that shows the file and follows it"),
            Command.Option(
                name: "port", value: "NUMBER", help: "serve the page on this port (default: any free one)"),
        ] + KeyOptions.options,
        json: """
            {"file", "snapshot", "syncs": [{"name", "tablesVersion", "handlerVersion", "untoldMerges", "merges",
            "accounts": [{"account", "current", "databases": [{"identifier", "userRecordName", "subscription",
            "pending": {"changeSets", "inFlight", "changes", "putAside"}, "changeSets", "putAside", "zonesCount",
            "unknownCount", "zones", "errors"}]}]}]};
            with --open {"event": "listening", "url", "port", "process"}
            """,
        examples: [
            "sync inspect phone.yap", "sync inspect phone.yap --records 100 --json",
            "sync inspect phone.yap --values",
        ],
        run: inspect)

    private static func inspect(_ invocation: Invocation, _ console: Console) throws {
        let file = SyncFile(
            path: invocation.operands[0], name: invocation.value("name"),
            encryptionKey: try KeyOptions.key(invocation, console))
        if invocation.has("open") { return try open(file, invocation, console) }
        guard !invocation.has("port") else { throw Failure.usage("--port needs --open") }
        let limits = try limits(invocation)
        let (inspection, registrations) = try file.read(limits)
        if invocation.has("json") {
            return try console.print(
                .object(SyncInspectionJSON.members(file.path, inspection, registrations)))
        }
        try console.print("\(Shown.word(file.path)): commit \(inspection.snapshot)")
        for registration in registrations {
            try console.print("\n" + SyncInspectionText(limits: limits).text(of: registration))
        }
    }

    private static func limits(_ invocation: Invocation) throws -> SyncInspection.Limits {
        var limits = SyncInspection.Limits()
        if let limit = try invocation.number("limit", in: 1...listedMax) {
            limits.changeSetsMax = limit
            limits.changesMax = limit
        }
        limits.recordsMax = try invocation.number("records", in: 1...listedMax) ?? 0
        if invocation.has("values") {
            limits.valueBytesOfAllMax = valueBytesMax
            limits.mergesMax = limits.changesMax
        }
        return limits
    }

    /// Serves the file's page until a signal ends it.
    private static func open(_ file: SyncFile, _ invocation: Invocation, _ console: Console) throws {
        for name in ["limit", "records", "values"] where invocation.has(name) {
            throw Failure.usage("--\(name) is for the text output. The page of --open has its own controls.")
        }
        let port = try invocation.number("port", in: 0...portMax) ?? 0
        // An unreadable file is reported here, and not by a page.
        _ = try file.read(SyncInspection.Limits())
        // Before the server's threads start, because they inherit the signal mask.
        let signals = StopSignals()
        let page = try DevicePage(file)
        try page.start(port: port)
        if invocation.has("json") {
            try console.print(
                .object([
                    ("event", .string("listening")), ("url", .string(page.url)),
                    ("port", .integer(Int64(page.port))), ("process", .integer(Int64(getpid()))),
                ]))
        } else {
            console.note("the page of \(Shown.word(file.path)), for you alone:")
            try console.print(page.url)
            console.note("Ctrl-C ends it.")
        }
        signals.wait()
        page.stop()
        console.note("ended")
    }
}

/// Text from a file, escaped for the terminal.
enum Shown {
    /// Returns the text itself if it is one plain word. Otherwise in quotes, escaped for the terminal.
    static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
        return isPlain && !text.isEmpty ? text : JSON.string(text).text
    }
}

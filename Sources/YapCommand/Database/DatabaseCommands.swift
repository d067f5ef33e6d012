import SQLite
import Yap

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap db ...`: contents of a device's database, read beside the app that has the file open.
enum DatabaseCommands {
    static let commands = [
        info, CollectionsCommand.command, get, QueryCommand.command, dump, LoadCommand.command, check,
        BackupCopyCommand.command, VacuumCommand.command, WatchCommand.command,
    ]

    private static let file = Command.Operand(name: "FILE", help: "the app's database file")
    /// Text about the file for the help of all commands.
    private static let reading = "The file is read and not changed, also while an app has it open."

    // MARK: Info

    private static let info = Command(
        name: "db info", summary: "show the collections and extensions of an app's database",
        details: reading + """

            It shows the rows and bytes of each collection, and for each extension its class and whether another
            process has written without it since.
            """,
        operands: [file], options: KeyOptions.options,
        json: """
            {"file", "snapshot", "bytes", "collections": [{"name", "rows", "bytes"}], "extensions": [{"name", "class",
            "version", "isBehind"}]}
            """,
        examples: ["db info phone.yap", "db info phone.yap --json"], run: info)

    private static func info(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.operands[0]
        let (snapshot, collections, extensions) = try invocation.deviceFile(console).read {
            (try $0.snapshot(), try $0.collections(), try $0.extensions())
        }
        let bytes = [path, path + "-wal"].reduce(0) { $0 + size(of: $1) }
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("file", .string(path)), ("snapshot", .integer(Int64(clamping: snapshot))),
                    ("bytes", .integer(bytes)),
                    ("collections", .array(collections.map(json))),
                    ("extensions", .array(extensions.map(json))),
                ]))
        }
        try console.print("\(Shown.word(path)): commit \(snapshot), \(bytes) bytes")
        for collection in collections {
            let rows = rows(collection.rowsCount)
            try console.print(
                "collection \(Shown.word(collection.name)): \(rows), \(collection.bytesCount) bytes")
        }
        for stored in extensions {
            let behind = stored.hasMissedCommits ? ", which lacks what another process wrote" : ""
            try console.print(
                "extension \(Shown.word(stored.name)): \(Shown.word(stored.className))\(behind)")
        }
    }

    private static func json(_ collection: DatabaseFile.Collection) -> JSON {
        .object([
            ("name", .string(collection.name)), ("rows", .integer(Int64(collection.rowsCount))),
            ("bytes", .integer(collection.bytesCount)),
        ])
    }

    private static func json(_ stored: DatabaseFile.StoredExtension) -> JSON {
        .object([
            ("name", .string(stored.name)), ("class", .string(stored.className)),
            ("version", .integer(Int64(stored.classVersion))), ("isBehind", .bool(stored.hasMissedCommits)),
        ])
    }

    private static func rows(_ count: Int) -> String { count == 1 ? "1 row" : "\(count) rows" }

    /// Returns the size of a file in bytes, or 0 if it doesn't exist.
    static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    // MARK: Rows

    private static let values = """

        Objects are shown as they are stored, by the names of their properties. A date is a number of seconds since
        2001. Bytes are {"$bytes": base64}, numbers that aren't finite {"$double": "nan"}, numbers of 32 bits
        {"$float": 0.5}, what a serializer of the app wrote is {"$foreign": base64}, and a map with other keys than
        texts is {"$map": [[key, value]]}.
        """

    private static let get = Command(
        name: "db get", summary: "print an object of an app's database by its key", details: reading + values,
        operands: [
            file, Command.Operand(name: "COLLECTION", help: "its collection"),
            Command.Operand(name: "KEY", help: "its key"),
        ],
        options: KeyOptions.options,
        json: #"{"collection", "key", "object", "metadata"}: metadata if there is any; as a line of db dump"#,
        examples: ["db get phone.yap todos 1", "db get phone.yap todos 1 --json"], run: get)

    private static func get(_ invocation: Invocation, _ console: Console) throws {
        let words = invocation.operands
        let file = try invocation.deviceFile(console)
        guard let row = try file.read({ try $0.row(words[2], inCollection: words[1]) }) else {
            throw Failure.notThere(
                "\(Shown.word(words[0])) has no key \(Shown.word(words[2])) in \(Shown.word(words[1])).")
        }
        if invocation.has("json") { return try console.print(row.json) }
        try console.print(JSON(row.object))
        if let metadata = row.metadata { try console.print("metadata \(JSON(metadata).text)") }
    }

    private static let dump = Command(
        name: "db dump", summary: "print all objects of an app's database as lines of JSON",
        details: reading
            + "\nOne line for each row, in the order of collections and keys, of one snapshot. db load reads them."
            + values,
        operands: [file],
        options: [
            Command.Option(name: "collection", value: "NAME", help: "only the rows of this collection")
        ] + KeyOptions.options,
        json: """
            {"collection", "key", "object", "metadata"} on each line, with --json or without. Where they are needed to
            write the same bytes again, also "version" of the type if it isn't 1, "kept" and "keptVersion" (properties
            that were kept for other versions), "storedObject" and "storedMetadata" (the bytes)
            """,
        examples: ["db dump phone.yap", "db dump phone.yap --collection todos --json"], run: dump)

    private static func dump(_ invocation: Invocation, _ console: Console) throws {
        let collection = invocation.value("collection")
        try invocation.deviceFile(console).read { file in
            try file.forEachRow(inCollection: collection) { try console.print($0.json) }
        }
    }

    // MARK: The whole file

    private static let check = Command(
        name: "db check", summary: "check an app's database for damage",
        details: reading + """

            SQLite checks the structure of the whole file, and each object is read. Damage is an error. An object that
            a serializer of the app wrote is counted, but not checked.
            """,
        operands: [file], options: KeyOptions.options,
        json: #"{"file", "rows", "foreign", "messages"}: messages is empty without damage"#,
        examples: ["db check phone.yap", "db check phone.yap --json"], run: check)

    private static func check(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.operands[0]
        var (rowsCount, foreignCount) = (0, 0)
        let messages = try invocation.deviceFile(console).read { file in
            let messages = try file.integrityMessages()
            guard messages.isEmpty else { return messages }
            try file.forEachRow { row in
                rowsCount += 1
                if case .foreign = row.object { foreignCount += 1 }
            }
            return []
        }
        if invocation.has("json") {
            try console.print(
                .object([
                    ("file", .string(path)), ("rows", .integer(Int64(rowsCount))),
                    ("foreign", .integer(Int64(foreignCount))),
                    ("messages", .array(messages.map { .string($0) })),
                ]))
        } else if messages.isEmpty {
            let foreign = foreignCount == 0 ? "" : ", \(foreignCount) of them by a serializer of the app"
            try console.print("\(Shown.word(path)): no damage; \(rows(rowsCount))\(foreign)")
        }
        if let first = messages.first {
            throw Failure.failed(
                "\(Shown.word(path)) is damaged: keep it for inspection, and restore a backup. \(first)")
        }
    }
}

import SQLite
import Yap

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap db vacuum`: makes a database's file smaller.
enum VacuumCommand {
    static let command = Command(
        name: "db vacuum", summary: "return the free space in an app's database to the disk",
        details: """
            Removed rows leave free pages in the file, which later writes use. This rebuilds the file without them. No
            row changes, and a crash or Ctrl-C leaves the file as it was. It takes up to twice the bytes of the rows on
            the disk meanwhile, half of that where SQLite keeps temporary files; without that space it refuses.

            While another process has the file open it refuses, unless --while-open is given: that process continues
            to read, but its writes wait, and fail if they wait longer than its busy timeout (5 seconds if the app
            sets none).
            """,
        operands: [Command.Operand(name: "FILE", help: "the app's database file")],
        options: [Command.Option(name: "while-open", help: "also if another process has the file open")]
            + KeyOptions.options,
        json:
            #"{"file", "bytesBefore", "bytesAfter", "freeBytes"}: freeBytes, of the pages without content before"#,
        examples: [
            "db backup phone.yap old.yap || true", "db vacuum old.yap",
            "db vacuum old.yap --while-open --json",
        ],
        run: run)

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.operands[0]
        let device = try invocation.deviceFile(console)
        let openers = OtherOpeners(path: path)
        let isOpen = try device.opening { try openers.exist() }
        guard !isOpen || invocation.has("while-open") else {
            throw Failure.refused(
                "Another process has \(Shown.word(path)) open, and its writes would wait: end it first, or add "
                    + "--while-open.")
        }
        let pages = try device.opening { try device.openForReading().pageCounts() }
        try VacuumSpace(path: path).check(neededBytes: pages.usedBytes)
        let before = DatabaseCommands.size(of: path)
        let signals = StopSignals()
        do {
            try device.opening {
                let database = try device.openForWriting()
                try database.blocking.vacuum { signals.isPending }
                try database.blocking.close()
            }
        } catch is CancellationError {
            throw Failure.failed("interrupted; \(Shown.word(path)) is unchanged")
        }
        let after = DatabaseCommands.size(of: path)
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("file", .string(path)), ("bytesBefore", .integer(before)),
                    ("bytesAfter", .integer(after)),
                    ("freeBytes", .integer(pages.freeCount * pages.pageBytes)),
                ]))
        }
        try console.print("\(Shown.word(path)): \(before) bytes before, \(after) after")
        if pages.freeCount > 0, after >= before {
            console.note(
                "A process reads an older state of the file, or writes: the file becomes smaller with a later commit."
            )
        }
    }
}

/// Checks that the disks have enough space for the files that SQLite writes while it rebuilds a file: a copy
/// in its temporary folder, and a log beside the file.
struct VacuumSpace {
    /// A file system and its free bytes.
    struct Place: Equatable {
        let folder: String
        let device: UInt64
        let freeBytes: Int64
    }

    let log: Place?
    let temporary: Place?

    init(log: Place?, temporary: Place?) { (self.log, self.temporary) = (log, temporary) }

    init(path: String) {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        self.init(log: Self.place(folder), temporary: Self.temporaryFolder.flatMap(Self.place))
    }

    /// - Throws: `Failure.refused` with the file system that lacks space. If the free space is unknown,
    ///   SQLite itself reports a full disk, and then changes nothing.
    func check(neededBytes: Int64) throws {
        let isOne = log?.device == temporary?.device
        for place in [log, temporary].compactMap(\.self) {
            let needed = isOne ? 2 * neededBytes : neededBytes
            guard place.freeBytes < needed else { continue }
            throw Failure.refused(
                "\(Shown.word(place.folder)) has \(SizeText.bytes(place.freeBytes)) free, and this needs "
                    + "\(SizeText.bytes(needed)). Free disk space"
                    + (isOne ? "." : ", or name another folder for temporary files in SQLITE_TMPDIR."))
        }
    }

    /// Folder in which SQLite writes temporary files (https://www.sqlite.org/tempfiles.html, "Temporary File Storage
    /// Locations").
    private static var temporaryFolder: String? {
        let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { (name: String) -> String? in
            getenv(name).map { String(cString: $0) }
        }
        return (named + ["/var/tmp", "/usr/tmp", "/tmp", "."]).first { folder in
            var status = stat()
            return stat(folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
                && access(folder, W_OK | X_OK) == 0
        }
    }

    private static func place(_ folder: String) -> Place? {
        var (status, system) = (stat(), statvfs())
        guard stat(folder, &status) == 0, statvfs(folder, &system) == 0 else { return nil }
        let (free, isTooLarge) = UInt64(system.f_bavail).multipliedReportingOverflow(
            by: UInt64(system.f_frsize))
        return Place(
            folder: folder, device: UInt64(status.st_dev),
            freeBytes: isTooLarge ? .max : Int64(clamping: free))
    }
}

import CloudKit
import SQLite
import Yap
import YapCloudKit

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap sync ...`: what a device keeps of its sync, asked beside the app that has the file open.
enum SyncCommands {
    private static let listedMax = 1_000_000

    static let inspect = Command(
        name: "sync inspect", summary: "show what a device's database keeps of its sync",
        details: """
            Reads an app's database file, also while the app runs, and changes nothing. It shows for each registered
            sync, each account and each cloud database: the queue in the order in which it is sent, what is in flight,
            what was put aside and why, the zones with their change tokens and records, records of types that the app
            doesn't know yet, and the last errors, the newest first. Of values it shows the names only. Where no app has
            the file open, SQLite leaves its two helper files beside it (-wal, empty, and -shm), which the app takes
            over. A file that you may read but not write, or in a folder that you may not write, is read without them
            while no app has it open. Else a permission that is missing is named.
            """,
        operands: [Command.Operand(name: "FILE", help: "the app's database file")],
        options: [
            Command.Option(name: "name", value: "NAME", help: "only the sync that is registered so"),
            Command.Option(
                name: "limit", value: "NUMBER",
                help: "at most so many change-sets, and changes of each, and errors (default: 20)"),
            Command.Option(
                name: "records", value: "NUMBER",
                help: "list so many records of each zone, with their change tags"),
        ],
        json: """
            {"file", "snapshot", "syncs": [{"name", "tablesVersion", "handlerVersion", "untoldMerges",
            "accounts": [{"account", "current", "databases": [{"identifier", "userRecordName", "subscription",
            "pending": {"changeSets", "inFlight", "changes", "putAside"}, "changeSets", "putAside", "zones",
            "errors"}]}]}]}
            """,
        examples: ["sync inspect phone.yap", "sync inspect phone.yap --records 100 --json"],
        run: inspect)

    private static func inspect(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.operands[0]
        var limits = SyncInspection.Limits()
        if let limit = try invocation.number("limit", in: 1...listedMax) {
            limits.changeSetsMax = limit
            limits.changesMax = limit
        }
        limits.recordsMax = try invocation.number("records", in: 1...listedMax) ?? 0
        let inspection = try open(path, limits)
        let registrations = try chosen(inspection, invocation.value("name"))
        if invocation.has("json") {
            return try console.print(
                .object([
                    ("file", .string(path)), ("snapshot", .integer(Int64(clamping: inspection.snapshot))),
                    ("syncs", .array(registrations.map(SyncInspectionJSON.registration))),
                ]))
        }
        try console.print("\(Shown.word(path)): commit \(inspection.snapshot)")
        for registration in registrations {
            try console.print("\n" + SyncInspectionText(limits: limits).text(of: registration))
        }
    }

    private static func open(_ path: String, _ limits: SyncInspection.Limits) throws -> SyncInspection {
        let file = Shown.word(path)
        do {
            return try SyncInspection(path: path, limits: limits)
        } catch let error as YapDatabaseError {
            guard access(path, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno) else {
                throw Failure.notThere("\(file) is not there.")
            }
            let what =
                switch error.code {
                case .cannotOpen:
                    "can't be opened: \((error.underlying as? SQLiteError)?.message ?? error.message)."
                case .notADatabase: "is no database."
                case .notAYapDatabase: "is no database of an app that uses Yap."
                case .unsupportedFormat: "was written by a later version: use the yap of that version."
                case .corrupt: "is damaged: keep it for inspection, and restore a backup. \(error.message)"
                case .busy: "is being written by another program: try again."
                default: "can't be read: \(error.message)"
                }
            throw Failure.failed("\(file) \(what)")
        }
    }

    /// The registrations that are asked for, which can be read.
    private static func chosen(
        _ inspection: SyncInspection, _ name: String?
    ) throws -> [SyncInspection.Registration] {
        let file = Shown.word(inspection.path)
        let all = inspection.registrations
        guard !all.isEmpty else {
            let others = inspection.otherExtensions.map(Shown.word).joined(separator: ", ")
            throw Failure.notThere(
                "\(file) has no sync: no YapDatabaseCloudKit was ever registered in it. "
                    + (others.isEmpty ? "It has no other extension either." : "Its extensions: \(others)."))
        }
        let chosen = all.filter { name == nil || $0.name == name }
        guard !chosen.isEmpty else {
            let names = all.map { Shown.word($0.name) }.joined(separator: ", ")
            throw Failure.notThere(
                "\(file) has no sync that is registered as \(Shown.word(name ?? "")): \(names).")
        }
        let unread = chosen.filter { $0.content == nil }
        if unread.count == chosen.count, let first = unread.first {
            throw Failure.failed(unreadable(first))
        }
        return chosen
    }

    /// Why a registration's tables are not read, and what to do.
    static func unreadable(_ registration: SyncInspection.Registration) -> String {
        let version = registration.classVersion
        let known = YapDatabaseCloudKit.classVersion
        let what =
            "The tables of \(Shown.word(registration.name)) have version \(version), and this program reads \(known): "
        return what
            + (version < known
                ? "start the app once with this version of the library, which brings them up to it."
                : "use the yap of the library that wrote them.")
    }
}

/// Text from a file, as a terminal may show it.
enum Shown {
    /// The text itself when it is one plain word, else in quotes, with what steers a terminal escaped.
    static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
        return isPlain && !text.isEmpty ? text : JSON.string(text).text
    }
}

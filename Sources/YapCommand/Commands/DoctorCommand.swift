import CloudServer
import CloudService
import CloudStore
import HTTPServer
import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap doctor`: checks the state of a server's folder and settings.
enum DoctorCommand {
    static let command = Command(
        name: "doctor", summary: "check a server's folder and its environment for problems",
        details: """
            Checks permissions, the integrity of every file, the consistency of references, zones, files of records and
            counts, the free space on the disk, the clock, and the settings in yap.json: their values, the port, the
            certificate's expiry, its chain, its key, and the permissions of the key. Pass serve's options here too.
            Reads all data, also while the server runs; changes nothing. The first line says whether there are problems
            (exit code 1), the lines below it list them with their remedies. The last line has the version of SQLite,
            and says whether it has the WAL-reset bug, which yap works around.
            """,
        options: [
            Command.dataOption,
            Command.Option(
                name: "config", value: "FILE", help: "the settings (default: yap.json in the data folder)"),
            Command.Option(name: "host", value: "ADDRESS", help: "the address (default: the settings')"),
            Command.Option(
                name: "port", value: "NUMBER", help: "the port (default: the settings'); 0 checks none"),
            Command.Option(
                name: "tls-certificate", value: "FILE", help: "the certificate (default: the settings')"),
            Command.Option(name: "tls-key", value: "FILE", help: "its key (default: the settings')"),
        ],
        json:
            #"{"findings": [{"check", "what", "todo"}], "checked", "sqlite": {"version", "hasWALResetBug"}}: "#
            + "checked counts the checked items",
        examples: ["init --container iCloud.com.example.todo", "doctor --port 0"],
        run: run)

    /// A problem.
    struct Finding {
        let check: String
        let what: String
        let todo: String
    }

    private static let freeBytesMin: Int64 = 256 << 20
    /// 2024. A clock before that was never set.
    private static let clockMillisecondsMin: Int64 = 1_704_067_200_000

    private static func run(_ invocation: Invocation, _ console: Console) throws {
        let folder = invocation.dataFolder(console)
        let control = try invocation.control(console)
        let progress = Progress(console)
        var findings: [Finding] = []
        var checked = 0
        func check(_ body: () throws -> [Finding]) throws {
            checked += 1
            findings += try body()
        }
        try check { permissions(folder) }
        try check {
            try control.integrityCheck().map {
                Finding(check: "control file", what: $0, todo: "restore a backup: yap restore")
            }
        }
        for (container, environment) in try folder.environments() {
            try progress.step("checking \(container), \(environment)")
            try check { try store(folder, container, environment) }
        }
        try check { try disk(folder) }
        try check { clock(control: try control.accounts.list().map(\.createdMilliseconds).max()) }
        let (settings, wrong) = try settings(invocation, folder)
        try check { wrong }
        let http = settings.options.http
        if http.port > 0 { try check { port(http, isServed: folder.isServed) } }
        if let path = settings.tlsCertificate { try check { certificate(path, key: settings.tlsKey) } }
        try print(findings, checked, invocation, console)
    }

    private static func print(
        _ findings: [Finding], _ checked: Int, _ invocation: Invocation, _ console: Console
    ) throws {
        if invocation.has("json") {
            let rows = findings.map { finding -> JSON in
                .object([
                    ("check", .string(finding.check)), ("what", .string(finding.what)),
                    ("todo", .string(finding.todo)),
                ])
            }
            let version = SQLiteVersion.loaded
            let sqlite = JSON.object([
                ("version", .string(version.text)), ("hasWALResetBug", .bool(version.hasWALResetBug)),
            ])
            try console.print(
                .object([
                    ("findings", .array(rows)), ("checked", .integer(Int64(checked))), ("sqlite", sqlite),
                ]))
        } else {
            try console.print("\(verdict(findings)) (\(checked) checks)")
            for finding in findings {
                try console.print("\(finding.check): \(finding.what)\n  what to do: \(finding.todo)")
            }
            try console.print(sqliteText(.loaded))
        }
        guard findings.isEmpty else { throw Failure.failed(verdict(findings)) }
    }

    private static func verdict(_ findings: [Finding]) -> String {
        switch findings.count {
        case 0: "nothing is wrong"
        case 1: "1 thing is wrong"
        default: "\(findings.count) things are wrong"
        }
    }

    /// Returns the last line of the output, which isn't about the server's state.
    static func sqliteText(_ version: SQLiteVersion) -> String {
        guard version.hasWALResetBug else { return "SQLite \(version.text)" }
        return "SQLite \(version.text): yap's checkpoints avoid its WAL-reset bug "
            + "(https://www.sqlite.org/wal.html), so the server is safe from it. Other programs should only read these "
            + "files."
    }

    // MARK: The checks

    private static func permissions(_ folder: DataFolder) -> [Finding] {
        let paths = [folder.path, folder.controlPath] + ((try? storePaths(folder)) ?? [])
        return paths.compactMap { path in
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
            return Finding(
                check: "permissions", what: "\(path) can be read or written by others",
                todo: "chmod go= \(ShellText.word(path))")
        }
    }

    private static func storePaths(_ folder: DataFolder) throws -> [String] {
        try folder.environments().map {
            try folder.storePath(container: $0.container, environment: $0.environment)
        }
    }

    private static func store(
        _ folder: DataFolder, _ container: String, _ environment: String
    ) throws -> [Finding] {
        let path = try folder.storePath(container: container, environment: environment)
        let todo = "stop the server, keep a copy of the folder, and restore a backup: yap restore"
        do {
            guard let file = try StoreFile(path: path) else { return [] }
            var findings = try file.findings().map {
                Finding(check: "\(path), \($0.check)", what: $0.what, todo: todo)
            }
            guard findings.isEmpty else { return findings }
            let unmet = try file.read { try IndexDemand.unmetCount(in: $0) }
            if unmet > 0 {
                findings.append(
                    Finding(
                        check: "\(path), indexes",
                        what: "\(unmet) records have other index entries than the schema requires", todo: todo
                    ))
            }
            let files = DiskAssetStore(
                path: try folder.assetsPath(container: container, environment: environment),
                clock: SystemTimeSource())
            var missing = 0
            try file.forEachAsset { use in
                if try files.open(use.digest)?.bytes != use.bytes { missing += 1 }
            }
            if missing > 0 {
                findings.append(
                    Finding(
                        check: "\(path), files of records",
                        what: "\(missing) files are missing or have another size",
                        todo:
                            "copy the folder \(files.path) from a backup's archive: its files are named by their "
                            + "content"
                    ))
            }
            return findings
        } catch CloudStoreError.olderFormat(_, let version) {
            return [
                Finding(
                    check: path,
                    what:
                        "it has format \(version) of an earlier version; nothing has opened it since the upgrade",
                    todo: "take a backup (yap backup), then open it: yap schema export "
                        + "--container \(container) --environment \(environment)")
            ]
        } catch let error as CloudStoreError {
            return [Finding(check: path, what: "\(error)", todo: todo)]
        }
    }

    private static func disk(_ folder: DataFolder) throws -> [Finding] {
        var status = statvfs()
        guard statvfs(folder.path, &status) == 0 else { return [] }
        let free = Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
        let sizes = try storePaths(folder).map { path -> Int64 in
            var status = stat()
            return stat(path, &status) == 0 ? Int64(status.st_size) : 0
        }
        let wanted = max(freeBytesMin, sizes.max() ?? 0)
        guard free < wanted else { return [] }
        return [
            Finding(
                check: "disk", what: "\(SizeText.bytes(free)) are free where \(folder.path) is",
                todo: "make room: at least \(SizeText.bytes(wanted)), as much as the largest store has")
        ]
    }

    private static func clock(control newest: Int64?) -> [Finding] {
        let now = SystemTimeSource().nowMilliseconds()
        guard now < max(clockMillisecondsMin, newest ?? 0) else { return [] }
        return [
            Finding(
                check: "clock", what: "it shows \(TimeText.utc(now)), which is past",
                todo: "set it, and let it be kept right (timedatectl set-ntp true)")
        ]
    }
}

import CloudStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `yap backup`, `yap restore` and `yap restored`.
enum BackupCommands {
    static let backup = Command(
        name: "backup", summary: "write all data of a server to one archive, also while it runs",
        details: """
            It contains everything acknowledged before it began: accounts, records, the files of records, and the
            settings of the folder (yap.json). It doesn't contain files elsewhere that the settings name, such as
            certificates. It is a tar archive that only you can read (mode 0600), with the contents of the folder:
            store it as safely as the folder. It gets its name after it is complete and matched its checksums when
            read again. Nothing is overwritten. Its disk needs room for a copy of the largest database until it ends.
            """,
        operands: [Command.Operand(name: "FILE", help: "the archive to write")],
        options: [Command.dataOption],
        json:
            #"{"backup", "environments", "assets", "settings", "bytes", "created"}: settings says whether yap.json is "#
            + "in it, created is in milliseconds since 1970",
        examples: [
            "init --container iCloud.com.example.todo", "account create ann",
            "backup \"yap-$(date +%F-%N).tar\"",
        ],
        run: backup)

    static let restore = Command(
        name: "restore", summary: "create a server's folder from an archive of yap backup",
        details: """
            Only into an empty or a missing folder. The whole archive is compared with its checksums first. After an
            error nothing is left in the folder. All zones get new epochs: devices with newer data than the archive
            detect that at their next sync, and fetch everything again. Changes after the backup, such as revoked
            tokens and new passwords, are undone: revoke them again before you serve the folder. It lists the files
            that no archive contains: the certificate, its key and the witness, where the settings name them.
            """,
        operands: [Command.Operand(name: "FILE", help: "the archive")],
        options: [
            Command.Option(name: "data", value: "DIR", help: "the folder to create", isRequired: true)
        ],
        json:
            #"{"data", "environments", "assets", "settings", "bytes", "created", "elsewhere": [{"setting", "path", "#
            + #""isThere"}]}: created is the time of the backup, "#
            + "elsewhere lists files outside of it that the settings name",
        examples: ["init", "backup b.tar", "restore b.tar --data \"restored-$(date +%N)\""],
        run: restore)

    static let restored = Command(
        name: "restored", summary: "prepare a folder that was restored without yap restore for serving",
        details: """
            For a folder that is older than the server's last state: restored from a snapshot of the machine, or from
            a copy of the files. All zones get new epochs, as with yap restore: devices with newer data detect that at
            their next sync, and fetch everything again. Without it their newer tokens are mistaken for this folder's
            own, and they miss changes. Run it before the folder is served; it refuses a folder that is served.
            """,
        operands: [Command.Operand(name: "DIR", help: "the server's folder")],
        json: #"{"data", "environments"}: environments counts those of all containers"#,
        examples: ["init --container iCloud.com.example.todo", "restored yap-data"],
        run: restored)

    private static func restored(_ invocation: Invocation, _ console: Console) throws {
        let folder = DataFolder(path: invocation.operands[0])
        let count = try folder.renewEpochs()
        if invocation.has("json") {
            return try console.print(
                .object([("data", .string(folder.path)), ("environments", .integer(Int64(count)))]))
        }
        try console.print("renewed \(folder.path): \(count) environments")
    }

    private static func backup(_ invocation: Invocation, _ console: Console) throws {
        let path = invocation.operands[0]
        _ = try invocation.control(console)
        let progress = Progress(console)
        let summary = try invocation.dataFolder(console).backUp(to: path) { try tell($0, progress) }
        try print(summary, invocation, console, key: "backup", value: path)
    }

    private static func restore(_ invocation: Invocation, _ console: Console) throws {
        let folder = DataFolder(path: try invocation.required("data"))
        let progress = Progress(console)
        let summary = try folder.restore(from: invocation.operands[0]) { try tell($0, progress) }
        try print(summary, invocation, console, key: "data", value: folder.path)
    }

    /// Returns the files that a folder's settings name and that aren't in any archive.
    private static func elsewhere(_ folder: DataFolder) throws -> [(setting: String, path: String)] {
        let settings = try ServeSettings.kept(in: folder)
        return [
            ("tlsCertificate", settings.tlsCertificate), ("tlsKey", settings.tlsKey),
            ("witness", settings.witness),
        ].compactMap { name, path in path.map { (name, $0) } }
    }

    private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func tellElsewhere(_ folder: DataFolder, _ console: Console) throws {
        console.note(
            "no archive holds certificates, private keys, the witness, and what stood on the command line of serve"
        )
        do {
            for (setting, path) in try elsewhere(folder) where !isThere(path) && setting != "witness" {
                console.note(
                    "  \(setting) in yap.json names \(path), which doesn't exist: put the file there, or change "
                        + "the setting"
                )
            }
        } catch Failure.failed(let text) {
            console.note("  the settings were put back as they were, and are wrong: \(text)")
        }
    }

    private static func tell(_ now: BackupProgress, _ progress: Progress) throws {
        try progress.step(
            "\(now.stage.rawValue) \(now.name): \(SizeText.bytes(now.bytes)) of \(SizeText.bytes(now.bytesOfFile))"
        )
    }

    private static func print(
        _ summary: BackupSummary, _ invocation: Invocation, _ console: Console, key: String, value: String
    ) throws {
        if invocation.has("json") {
            var members: [(String, JSON)] = [
                (key, .string(value)), ("environments", .integer(Int64(summary.environments))),
                ("assets", .integer(Int64(summary.assets))), ("settings", .bool(summary.hasSettings)),
                ("bytes", .integer(summary.archiveBytes)), ("created", .integer(summary.createdMilliseconds)),
            ]
            if key == "data" {
                let named = (try? elsewhere(DataFolder(path: value))) ?? []
                let rows = named.map { setting, path -> JSON in
                    .object([
                        ("setting", .string(setting)), ("path", .string(path)),
                        ("isThere", .bool(isThere(path))),
                    ])
                }
                members.append(("elsewhere", .array(rows)))
            }
            return try console.print(.object(members))
        }
        try console.print(
            "\(key == "data" ? "restored" : "wrote") \(value): "
                + "environments: \(summary.environments), files of records: \(summary.assets), "
                + "\(summary.hasSettings ? "settings, " : "")"
                + "\(SizeText.bytes(summary.archiveBytes)), of \(TimeText.utc(summary.createdMilliseconds))")
        guard key == "data" else { return }
        try tellElsewhere(DataFolder(path: value), console)
        console.note(
            "serve it with: \(ShellText.word(console.program)) serve --data \(ShellText.word(value))")
    }
}

import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension DataFolder {
    /// Makes the folder anew from an archive of `backUp`. The whole archive is compared with its checksums before
    /// anything is written, and the control file, without which no server starts, is put there last.
    ///
    /// Every database, every zone and every user's collection gets a new epoch. Clients with older tokens receive
    /// `reset` and fetch everything again. Subscribers of a zone or a database receive a push when the folder is
    /// served. Pushes that were pending at the backup are sent, with their previous names.
    ///
    /// - Parameters:
    ///   - archive: the archive's path.
    ///   - random: where the epochs come from.
    ///   - progress: told often; throws to give up.
    /// - Throws: `BackupError`, `DataFolderError`, `CloudStoreError`, what `progress` throws; then the folder is as
    ///   empty as it was.
    package func restore(
        from archive: String, random: any RandomSource = SystemRandomSource(),
        progress: (BackupProgress) throws -> Void = { _ in }
    ) throws -> BackupSummary {
        try DataFolderError.translating { try makeAnew(from: archive, random, progress) }
    }

    private func makeAnew(
        from archive: String, _ random: any RandomSource, _ progress: (BackupProgress) throws -> Void
    ) throws -> BackupSummary {
        guard try Folders.names(in: path).isEmpty else { throw BackupError.notEmpty(path: path) }
        let reader = try BackupReader(path: archive)
        let summary = try reader.check(progress: progress)
        let isNew = ControlStore.isAbsent(path)
        do {
            try makeFolders(path)
            let lock = try lock()
            defer { withExtendedLifetime(lock) {} }
            try extract(reader, progress)
            try renewAll(random)
            try FolderMarkTable.renew(path: controlDraftPath)
            try Folders.syncTree(path)
            try DurableFile.rename(controlDraftPath, to: controlPath)
        } catch {
            for name in (try? Folders.names(in: path)) ?? [] { Folders.remove("\(path)/\(name)") }
            if isNew { rmdir(path) }
            throw error
        }
        return summary
    }

    /// Does what `restore` does with epochs to a folder that was put back by other means: a snapshot of the machine, a
    /// copy of the files. Without that, tokens and change tags of the time that was lost are taken for this folder's
    /// own. Interrupted, it is called again.
    ///
    /// - Parameter random: where the epochs come from.
    /// - Returns: how many environments of containers there are.
    /// - Throws: `ControlError.noFile` when it is no server's folder, `DataFolderError.held` when it is served,
    ///   `CloudStoreError`.
    package func renewEpochs(random: any RandomSource = SystemRandomSource()) throws -> Int {
        guard isMade else { throw ControlError.noFile(path: controlPath) }
        let lock = try lock()
        defer { withExtendedLifetime(lock) {} }
        let count = try renewAll(random)
        try FolderMarkTable.renew(path: controlPath)
        return count
    }

    /// Gives all stores new epochs. Nobody else may have one open.
    @discardableResult
    func renewAll(_ random: any RandomSource) throws -> Int {
        let environments = try environments()
        for (container, environment) in environments {
            try renew(storePath(container: container, environment: environment), random)
        }
        return environments.count
    }

    private var controlDraftPath: String { "\(controlPath).restoring" }

    private func extract(_ reader: BackupReader, _ progress: (BackupProgress) throws -> Void) throws {
        var current: (file: OpenFile, name: String, bytes: Int64, done: Int64)?
        try reader.forEach { event in
            switch event {
            case .begin(let entry, let bytes):
                guard let target = target(of: entry) else {
                    current = nil
                    return
                }
                try makeFolders(Folders.parent(of: target))
                current = (try OpenFile(target, .creating(mode: 0o600)), entry.name, bytes, 0)
            case .piece(let piece):
                try current?.file.write(piece)
                current?.done += Int64(piece.count)
            case .end: try current?.file.sync()
            }
            guard let current else { return }
            try progress(
                BackupProgress(
                    stage: .restoring, name: current.name, bytes: current.done, bytesOfFile: current.bytes))
        }
    }

    private func target(of entry: BackupEntry) -> String? {
        switch entry {
        case .format, .sums: nil
        case .control: controlDraftPath
        case .settings, .store, .asset: "\(path)/\(entry.name)"
        }
    }

    /// Every table with epochs of tokens has a column for the epoch.
    private func tablesWithEpochs(_ connection: Connection) throws -> [String] {
        let sql = """
            SELECT tables.name FROM sqlite_schema AS tables
            JOIN pragma_table_info(tables.name) AS columns ON columns.name = 'epoch'
            WHERE tables.type = 'table' ORDER BY tables.name
            """
        return try connection.withStatement(sql) { statement in
            return try statement.rows { $0.text(at: 0) }
        }
    }

    /// Leaves a task for each watched zone: without a change, its watchers are told to fetch, and find out what was
    /// lost. The maker of the last change is told too, since it may be lost.
    private func tellEverybody(_ connection: Connection) throws {
        try connection.execute("UPDATE pushTasks SET makerUser = NULL, makerDevice = NULL")
        try connection.execute(
            """
            INSERT OR IGNORE INTO pushTasks (scope, owner, zone)
            SELECT z.scope, z.owner, z.zone FROM zones AS z
            JOIN databases AS d ON d.scope = z.scope AND d.owner = z.owner
            WHERE d.subscriptions > 0 AND z.isDeleted = 0
            """)
    }

    /// Brings a store's file to this version and gives all in it new epochs.
    private func renew(_ path: String, _ random: any RandomSource) throws {
        try SQLiteCloudStore(path: path).close()
        // Epochs that differ still do, and none is what it was.
        var change: UInt64 = 0
        while change == 0 { change = random.next() }
        try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path)
            try connection.transaction(.immediate) {
                for table in try tablesWithEpochs(connection) {
                    // SQLite has no sign for "exclusive or".
                    let sql = "UPDATE \(table) SET epoch = (epoch | ?1) - (epoch & ?1)"
                    try connection.run(sql) { try $0.bind(Int64(bitPattern: change), at: 1) }
                }
                try tellEverybody(connection)
            }
            try connection.close()
        }
    }
}

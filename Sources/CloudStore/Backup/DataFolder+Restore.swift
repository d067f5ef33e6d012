import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension DataFolder {
    /// Restores the folder from an archive of `backUp`. The whole archive is compared with its checksums
    /// before anything is written. The control file is written last, because no server starts without it.
    ///
    /// Each database, each zone and each user's collection gets a new epoch. Clients with older tokens
    /// receive `reset` and fetch everything again. Subscribers of a zone or a database receive a push when
    /// the folder is served. Pushes that were pending at the backup are sent, with their previous names.
    ///
    /// - Parameters:
    ///   - archive: Path of the archive.
    ///   - random: Source of the epochs.
    ///   - progress: Called often. An error that it throws stops the restore.
    /// - Throws: `BackupError`, `DataFolderError`, `CloudStoreError`, what `progress` throws. After an error,
    ///   the folder is empty again.
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

    /// Renews all epochs, as `restore` does, in a folder that was restored in another way: from a snapshot of
    /// the machine or a copy of the files. Without this, tokens and change tags from the lost time would be
    /// accepted as this folder's own. After an interruption, call it again.
    ///
    /// - Parameter random: Source of the epochs.
    /// - Returns: The number of environments of containers.
    /// - Throws: `ControlError.noFile` if it isn't a server's folder, `DataFolderError.held` if a server
    ///   serves it, `CloudStoreError`.
    package func renewEpochs(random: any RandomSource = SystemRandomSource()) throws -> Int {
        guard isMade else { throw ControlError.noFile(path: controlPath) }
        let lock = try lock()
        defer { withExtendedLifetime(lock) {} }
        let count = try renewAll(random)
        try FolderMarkTable.renew(path: controlPath)
        return count
    }

    /// Gives all stores new epochs. No other process may have a store open.
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

    /// Returns the tables with epochs of tokens: those with a column for the epoch.
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

    /// Adds a push task for each watched zone. Its subscribers are notified without a change, fetch, and find
    /// out what was lost. The device that made the last change is notified too, since its change may be lost.
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

    /// Upgrades a store's file to this version, and renews all epochs in it.
    private func renew(_ path: String, _ random: any RandomSource) throws {
        try SQLiteCloudStore(path: path).close()
        // With the same change for all, different epochs stay different, and each epoch has a new value.
        var change: UInt64 = 0
        while change == 0 { change = random.next() }
        try CloudStoreError.translating(path: path) {
            let connection = try Connection(path: path)
            try connection.transaction(.immediate) {
                for table in try tablesWithEpochs(connection) {
                    // SQLite has no operator for "exclusive or".
                    let sql = "UPDATE \(table) SET epoch = (epoch | ?1) - (epoch & ?1)"
                    try connection.run(sql) { try $0.bind(Int64(bitPattern: change), at: 1) }
                }
                try tellEverybody(connection)
            }
            try connection.close()
        }
    }
}

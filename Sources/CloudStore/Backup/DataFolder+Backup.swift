import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension DataFolder {
    /// Writes the contents of the folder into one archive. A server can serve the folder meanwhile, and
    /// clients can write.
    ///
    /// Each database in the archive is a snapshot. The snapshot of the control file is taken last. Everything
    /// that was acknowledged before the call is included. The archive gets its final name after it was
    /// synced, read and compared with its checksums. After an error, no file is left. Only the owner can read
    /// the archive, because it contains all data of the folder.
    ///
    /// - Parameters:
    ///   - path: Path of the archive, where no file exists yet. The disk also needs space there for a copy of
    ///     the largest store.
    ///   - clock: Supplies the time that is written into the archive.
    ///   - progress: Called often. An error that it throws stops the backup.
    /// - Throws: `BackupError`, `DataFolderError`, `CloudStoreError`, `ControlError`, what `progress` throws.
    package func backUp(
        to path: String, clock: any TimeSource = SystemTimeSource(),
        progress: (BackupProgress) throws -> Void = { _ in }
    ) throws -> BackupSummary {
        guard isMade else { throw ControlError.noFile(path: controlPath) }
        return try DataFolderError.translating { try writeBackup(to: path, clock, progress) }
    }

    private func writeBackup(
        to path: String, _ clock: any TimeSource, _ progress: (BackupProgress) throws -> Void
    ) throws -> BackupSummary {
        let hold = try holdForBackup()
        defer { withExtendedLifetime(hold) {} }
        let writer = try BackupWriter(path: path)
        let now = clock.nowMilliseconds()
        try writer.add(
            .format, Array("yap-backup \(BackupEntry.formatVersion)\ncreated \(now)\n".utf8))
        if !ControlStore.isAbsent(settingsPath) {
            try writer.add(.settings, from: OpenFile(settingsPath, .reading), progress: progress)
        }
        for (container, environment) in try environments() {
            let store = BackupEntry.store(container: container, environment: environment)
            let source = try storePath(container: container, environment: environment)
            try add(store, copyOf: source, to: writer, SQLiteStoreFormat.isPrepared, progress)
            // After the store: the files of records are on disk before the records.
            try addAssets(container, environment, to: writer, progress)
        }
        // Last, so that each user of a store is in it.
        try add(.control, copyOf: controlPath, to: writer, ControlFormat.isPrepared, progress)
        try writer.finish()
        var summary = try BackupReader(path: writer.draft).check(progress: progress)
        summary.archiveBytes = try writer.publish()
        return summary
    }

    /// Returns the environments with a store file that aren't being removed, sorted.
    package func environments() throws -> [(container: String, environment: String)] {
        let removals = try ContainerTables.removals(inFileAt: controlPath)
        var found: [(container: String, environment: String)] = []
        let containers = try DataFolderError.translating { try Folders.names(in: "\(path)/containers") }
        for container in containers where BackupEntry.isContainer(container) {
            for environment in ["development", "production"] {
                let path = try storePath(container: container, environment: environment)
                guard !ControlStore.isAbsent(path),
                    !removals.contains(where: { $0.covers(container, environment) })
                else { continue }
                found.append((container, environment))
            }
        }
        return found
    }

    /// Adds a snapshot of a database. Copies the database to a temporary file first.
    private func add(
        _ entry: BackupEntry, copyOf source: String, to writer: BackupWriter,
        _ isPrepared: (Connection, String) throws -> Bool, _ progress: (BackupProgress) throws -> Void
    ) throws {
        let copy = "\(writer.draft).sqlite"
        // SQLite would create it with the permissions of the umask.
        guard try DurableFile.createEmpty(copy) else { throw FileError(.open, copy, EEXIST) }
        defer { for ending in ["", "-wal", "-shm", "-journal"] { unlink(copy + ending) } }
        let isMade = try CloudStoreError.translating(path: source) {
            var options = OpenOptions()
            options.readOnly = true
            let connection = try Connection(path: source, options: options)
            // A server that is creating the file hasn't created its tables yet.
            guard try isPrepared(connection, source) else { return false }
            let pageBytes = try connection.withStatement("PRAGMA page_size") {
                try $0.step() ? $0.int64(at: 0) : 0
            }
            do {
                try connection.backup(to: copy) { remaining, total in
                    try progress(
                        BackupProgress(
                            stage: .copying, name: entry.name, bytes: Int64(total - remaining) * pageBytes,
                            bytesOfFile: Int64(total) * pageBytes))
                }
            } catch let error as SQLiteError where error.isDiskFull {
                // Only the copy is written, so the full disk is the copy's.
                throw DataFolderError.diskFull(path: copy)
            }
            let made = try Connection(path: copy)
            if let problem = try made.integrityCheck().first {
                throw CloudStoreError.damaged(path: source, reason: problem)
            }
            return true
        }
        if isMade { try writer.add(entry, from: OpenFile(copy, .reading), progress: progress) }
    }

    private func addAssets(
        _ container: String, _ environment: String, to writer: BackupWriter,
        _ progress: (BackupProgress) throws -> Void
    ) throws {
        let folder = try assetsPath(container: container, environment: environment)
        for part in try Folders.names(in: folder) where BackupEntry.isAsset(folder: part, name: "0") {
            for name in try Folders.names(in: "\(folder)/\(part)")
            where BackupEntry.isAsset(folder: part, name: name) {
                let entry = BackupEntry.asset(
                    container: container, environment: environment, name: "\(part)/\(name)")
                try writer.add(
                    entry, from: OpenFile("\(folder)/\(part)/\(name)", .reading), progress: progress)
            }
        }
    }
}

import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Removes a container or environment that is marked in a control file, in short steps: first the files of records,
/// then the stores, and last its rows in the control file, with the mark. After an interruption, the next run
/// continues.
///
/// Several processes may run it at once: one of them locks what is removed, and no process has it open.
package struct EnvironmentRemover: Sendable {
    /// A kind of step, for tests that interrupt the removal.
    package enum Step: Sendable, CaseIterable {
        case hold, removeFile, removeFolder, sync, removeRows, removeMark
    }

    /// The result of a run.
    package enum Outcome: Hashable, Sendable {
        /// Everything was removed.
        case done
        /// A process has it open, or a backup runs.
        case inUse
    }

    /// Maximum number of files that are removed before other work gets a turn.
    static let filesMax = 64

    private let folder: DataFolder
    private let control: ControlStore
    /// Called before each step. An error ends the run there.
    private let before: @Sendable (Step) throws -> Void

    /// Makes a remover for a folder and its control file.
    package init(_ folder: DataFolder, _ control: ControlStore) {
        self.init(folder, control, before: { _ in })
    }

    package init(
        _ folder: DataFolder, _ control: ControlStore, before: @escaping @Sendable (Step) throws -> Void
    ) {
        self.folder = folder
        self.control = control
        self.before = before
    }

    /// Removes a container or environment that isn't in use.
    ///
    /// - Parameter progress: Called after each step with the number of removed files. An error ends the run.
    /// - Throws: `DataFolderError`, `CloudStoreError`, what `progress` throws.
    package func run(
        _ removal: ControlRemoval, progress: (_ filesCount: Int) throws -> Void = { _ in }
    ) throws -> Outcome {
        try DataFolderError.translating { try remove(removal, progress) }
    }

    private func remove(_ removal: ControlRemoval, _ progress: (_ filesCount: Int) throws -> Void) throws
        -> Outcome
    {
        var holds: [DataFolderLock] = []
        for environment in removal.environments {
            // Before the lock, which would make the folder of a removed container again.
            guard try control.containers.isBegun(removal) else { return try ended(removal, holds) }
            try before(.hold)
            guard
                let hold = try folder.holdAlone(container: removal.container, environment: environment)
            else { return .inUse }
            holds.append(hold)
        }
        guard try control.containers.isBegun(removal) else { return try ended(removal, holds) }
        var count = 0
        for environment in removal.environments {
            let path = try folder.storePath(container: removal.container, environment: environment)
            let assets = try folder.assetsPath(container: removal.container, environment: environment)
            guard try removeAll(in: assets, &count, progress) else { return .inUse }
            // The store's main file first: without it, the other files aren't used.
            let stores = ["", "-wal", "-shm", "-journal"].map { path + $0 }
            guard try removeFiles(stores, &count, progress) else { return .inUse }
        }
        try sync(removal)
        try removeRows(of: removal, progress, count)
        try before(.removeMark)
        if removal.environment == nil { removeFolder(of: removal) }
        try control.containers.endRemoval(removal)
        withExtendedLifetime(holds) {}
        return .done
    }

    /// Another process has ended the removal, and the container may exist again. If it doesn't, the locks have made its
    /// folder again.
    private func ended(_ removal: ControlRemoval, _ holds: [DataFolderLock]) throws -> Outcome {
        if !holds.isEmpty, try !control.containers.exists(removal.container) { removeFolder(of: removal) }
        withExtendedLifetime(holds) {}
        return .done
    }

    // MARK: - Files

    /// Removes the files of records and their folders. Returns false if a backup runs.
    private func removeAll(
        in path: String, _ count: inout Int, _ progress: (Int) throws -> Void
    ) throws -> Bool {
        for name in try Folders.names(in: path) {
            let folder = "\(path)/\(name)"
            var files = try Folders.names(in: folder).map { "\(folder)/\($0)" }[...]
            while !files.isEmpty {
                guard try removeFiles(files.prefix(Self.filesMax), &count, progress) else { return false }
                files = files.dropFirst(Self.filesMax)
            }
            try remove(folder: folder)
        }
        try remove(folder: path)
        return true
    }

    private func removeFiles(
        _ paths: some Collection<String>, _ count: inout Int, _ progress: (Int) throws -> Void
    ) throws -> Bool {
        guard let turn = try folder.holdForCollection() else { return false }
        for path in paths {
            try before(.removeFile)
            guard unlink(path) != 0 else {
                count += 1
                continue
            }
            if errno != ENOENT { throw FileError(.remove, path, errno) }
        }
        withExtendedLifetime(turn) {}
        try progress(count)
        return true
    }

    private func remove(folder path: String) throws {
        try before(.removeFolder)
        guard rmdir(path) != 0, errno != ENOENT else { return }
        // It isn't a folder but a file.
        if errno == ENOTDIR, unlink(path) == 0 { return }
        throw FileError(.remove, path, errno)
    }

    /// The files must be deleted before the mark, even if the power fails.
    private func sync(_ removal: ControlRemoval) throws {
        try before(.sync)
        let path = try folder.storePath(container: removal.container, environment: removal.environments[0])
        try Folders.sync(Folders.parent(of: path))
    }

    /// Removes the container's folder. A folder with foreign files stays.
    private func removeFolder(of removal: ControlRemoval) {
        guard removal.environment == nil else { return }
        for environment in removal.environments {
            if let path = try? folder.holdPath(removal.container, environment) { unlink(path) }
        }
        rmdir("\(folder.path)/containers/\(removal.container)")
    }

    // MARK: - Rows

    private func removeRows(
        of removal: ControlRemoval, _ progress: (Int) throws -> Void, _ count: Int
    ) throws {
        var last: [UInt8]?
        repeat {
            try before(.removeRows)
            last = try control.sessions.remove(in: removal, after: last)
            try progress(count)
        } while last != nil
        repeat {
            try before(.removeRows)
            try progress(count)
        } while try control.people.remove(in: removal)
    }
}

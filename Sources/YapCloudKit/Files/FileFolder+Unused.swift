import Foundation

/// The removal of files that no object and no queued change names.
///
/// A file is removed a day after it was found unused, at the earliest: an app may hold its value, and undo a removal.
/// The first run marks an unused file with an empty file beside it; a later run removes both.
extension FileFolder {
    /// How long a file is kept after it was found unused.
    static let unusedSeconds = 86_400.0
    private static let markSuffix = ".unused"

    /// Marks unused files, and removes those that were marked `unusedSeconds` ago.
    ///
    /// - Parameters:
    ///   - unusedSeconds: How long an unused file is kept. A file that was added or stored later is kept too.
    ///   - used: Returns the files that objects and the queue name, or nil if they can't be found out: then none is
    ///     removed. It isn't called if no file is old enough.
    /// - Throws: What `used` throws; `AssetFileError` if the folder can't be written.
    func removeUnused(
        unusedSeconds: Double = FileFolder.unusedSeconds, used: () throws -> Set<CloudFile>?
    ) throws {
        let names = files.names(in: paths.folder)
        guard !names.isEmpty else { return }
        let now = try diskTime()
        func isOld(_ name: String) -> Bool {
            age(of: name, now).map { $0 >= unusedSeconds } ?? false
        }
        for name in names where name.hasPrefix(Self.newPrefix) && isOld(name) { remove(name) }
        let old = names.compactMap { CloudFile(name: $0) }.filter { isOld($0.name) }
        let marked = Set(names.filter { $0.hasSuffix(Self.markSuffix) })
        guard !old.isEmpty || !marked.isEmpty else { return }
        guard let used = try used() else { return }
        for file in old where !used.contains(file) {
            let mark = file.name + Self.markSuffix
            if !marked.contains(mark) || isOlder(mark, than: file.name) {
                remove(mark)
                try files.write(Data(), to: paths.folder + "/" + mark)
            } else if isOld(mark) {
                try locked {
                    // A commit may have stored it again meanwhile.
                    if isOld(file.name) { remove(file.name) }
                }
                remove(mark)
            }
        }
        let unused = Set(old.filter { !used.contains($0) }.map { $0.name + Self.markSuffix })
        for mark in marked where !unused.contains(mark) { remove(mark) }
    }

    /// Returns the time by the clock that gives files their dates.
    private func diskTime() throws -> Double {
        try locked {
            guard utimes(paths.folder + "/" + Self.lockName, nil) == 0,
                let now = modificationTime(of: Self.lockName)
            else { throw AssetFileError.notWritten(path: paths.folder, errno: errno) }
            return now
        }
    }

    /// Returns true if a file was stored again after it was marked.
    private func isOlder(_ mark: String, than file: String) -> Bool {
        guard let marked = modificationTime(of: mark), let stored = modificationTime(of: file) else {
            return false
        }
        return marked < stored
    }

    private func age(of name: String, _ now: Double) -> Double? {
        modificationTime(of: name).map { now - $0 }
    }

    private func modificationTime(of name: String) -> Double? {
        var status = stat()
        guard stat(paths.folder + "/" + name, &status) == 0 else { return nil }
        return Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
    }

    private func remove(_ name: String) { files.remove(paths.folder + "/" + name) }
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that is written under a temporary name beside its final path, and renamed when it is complete.
/// Readers find either the old file or the complete new one, even after a power loss.
///
/// A draft is named `<name>.part-<process>`, and is locked until it is committed or discarded. An unlocked
/// draft was left by a process that was killed. `sweep` removes it.
package final class DraftFile {
    /// Final path of the file.
    package let path: String
    /// The draft.
    package let file: OpenFile
    private let calls: FileCalls
    private var isOver = false

    /// Creates a draft.
    ///
    /// - Parameters:
    ///   - path: Final path of the file.
    ///   - mode: Mode of the file when it is created. The process's umask is applied.
    /// - Throws: `FileError`.
    package init(_ path: String, mode: mode_t = 0o600, calls: FileCalls = .system) throws(FileError) {
        self.path = path
        self.calls = calls
        file = try Self.create(path, mode, calls)
    }

    deinit { discard() }

    /// Appends all of `bytes`.
    ///
    /// - Throws: `FileError`. Then the draft can only be discarded.
    package func write(_ bytes: some Sequence<UInt8>) throws(FileError) { try file.write(bytes) }

    /// Syncs the draft, renames it to the final path, and syncs the folder. If it throws, the draft is
    /// discarded and the existing file is unchanged. Exception: if only syncing the folder failed, the new
    /// file is in place, but a power loss may undo the rename.
    ///
    /// - Parameter replacing: True if an existing file may be replaced.
    /// - Throws: `FileError`; of step `link` and code `EEXIST` if the file exists and may not be replaced.
    package func commit(replacing: Bool = true) throws(FileError) {
        defer { discard() }
        try file.sync()
        try DurableFile.rename(file.path, to: path, replacing: replacing, calls: calls)
    }

    /// Removes the draft. Does nothing after a commit.
    package func discard() {
        // Another draft may have this name now.
        if !isOver, file.isStill(at: file.path) { unlink(file.path) }
        isOver = true
    }

    /// Removes the drafts of a file that no process is writing. Drafts that can't be read, locked or removed
    /// stay.
    ///
    /// Call it only for folders with files of this package. In a user's folder, a file with such a name may
    /// belong to the user.
    package static func sweep(_ path: String) {
        let folder = Folders.parent(of: path)
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        let parent = path.hasPrefix("/") || path.contains("/") ? folder + "/" : ""
        for other in (try? Folders.names(in: folder)) ?? [] where other.hasPrefix("\(name).part-") {
            let process = other.dropFirst(name.count + 6)
            guard !process.isEmpty, process.allSatisfy({ "0123456789.".contains($0) }),
                let draft = try? OpenFile(parent + other, .reading, followsLinks: false),
                // Another draft may have this name since the draft was opened.
                (try? draft.lock(waits: false)) == true, draft.isStill(at: draft.path)
            else { continue }
            unlink(draft.path)
            withExtendedLifetime(draft) {}
        }
    }

    private static func create(
        _ path: String, _ mode: mode_t, _ calls: FileCalls
    ) throws(FileError) -> OpenFile {
        var number = 0
        while true {
            let draft = "\(path).part-\(getpid())" + (number == 0 ? "" : ".\(number)")
            number += 1
            do throws(FileError) {
                let file = try OpenFile(draft, .creating(mode: mode), calls: calls)
                // Some file systems have no locks. There, `sweep` can't lock drafts either, and leaves them.
                _ = try? file.lock(waits: true)
                // Another process may have removed it as an abandoned draft before it was locked.
                if file.isStill(at: draft) { return file }
            } catch {
                // The name is used by a draft of another thread.
                guard error.code == EEXIST else { throw error }
            }
        }
    }
}

@available(*, unavailable) extension DraftFile: Sendable {}

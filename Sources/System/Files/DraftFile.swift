#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that is written beside its place, and put there when it is whole: a reader, and a machine that loses power,
/// finds the file as it was or as it shall be.
///
/// A draft is called `<name>.part-<process>`, and is locked until it is committed or discarded. An unlocked one was
/// left by a process that was killed: `sweep` removes it.
package final class DraftFile {
    /// Where the file shall be.
    package let path: String
    /// The draft.
    package let file: OpenFile
    private let calls: FileCalls
    private var isOver = false

    /// Creates a draft.
    ///
    /// - Parameters:
    ///   - path: Where the file shall be.
    ///   - mode: The file's mode from its first moment, less the process's mask.
    /// - Throws: `FileError`.
    package init(_ path: String, mode: mode_t = 0o600, calls: FileCalls = .system) throws(FileError) {
        self.path = path
        self.calls = calls
        file = try Self.create(path, mode, calls)
    }

    deinit { discard() }

    /// Writes all of `bytes` behind those that are written already.
    ///
    /// - Throws: `FileError`. Then the draft can only be discarded.
    package func write(_ bytes: some Sequence<UInt8>) throws(FileError) { try file.write(bytes) }

    /// Syncs the draft, gives it the file's name, and syncs the folder. If it throws, the draft is discarded and the
    /// file is as it was; only if the last step failed is the new file in its place, where a loss of power may still
    /// undo it.
    ///
    /// - Parameter replacing: Whether the file may exist.
    /// - Throws: `FileError`; of step `link` and code `EEXIST` if the file exists and mustn't.
    package func commit(replacing: Bool = true) throws(FileError) {
        defer { discard() }
        try file.sync()
        try DurableFile.rename(file.path, to: path, replacing: replacing, calls: calls)
    }

    /// Removes the draft, unless it has become the file.
    package func discard() {
        // By now another draft may have the name.
        if !isOver, file.isStill(at: file.path) { unlink(file.path) }
        isOver = true
    }

    /// Removes the drafts of a file that no process writes. What can't be read, locked or removed stays.
    ///
    /// Call it for files of a folder that has only files of this package: in a user's folder a file of such a name may
    /// be the user's.
    package static func sweep(_ path: String) {
        let folder = Folders.parent(of: path)
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        let parent = path.hasPrefix("/") || path.contains("/") ? folder + "/" : ""
        for other in (try? Folders.names(in: folder)) ?? [] where other.hasPrefix("\(name).part-") {
            let process = other.dropFirst(name.count + 6)
            guard !process.isEmpty, process.allSatisfy({ "0123456789.".contains($0) }),
                let draft = try? OpenFile(parent + other, .reading, followsLinks: false),
                // Another draft may have the name since it was opened.
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
                // Some file systems have no locks; there nobody finds a draft unlocked either.
                _ = try? file.lock(waits: true)
                // Another process may have taken it for a killed one's before it was locked.
                if file.isStill(at: draft) { return file }
            } catch {
                // A draft of another thread.
                guard error.code == EEXIST else { throw error }
            }
        }
    }
}

@available(*, unavailable) extension DraftFile: Sendable {}

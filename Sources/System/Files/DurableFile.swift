#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Changes of files that a loss of power can't undo once they have returned.
package enum DurableFile {
    /// Writes a file as a whole: it has the old bytes, or no bytes, until it has the new ones.
    ///
    /// - Parameters:
    ///   - bytes: The file's bytes.
    ///   - path: Where the file shall be.
    ///   - mode: The file's mode from its first moment, less the process's mask.
    ///   - replacing: Whether the file may exist.
    /// - Throws: `FileError`, as `DraftFile.commit`.
    package static func write(
        _ bytes: some Sequence<UInt8>, to path: String, mode: mode_t = 0o600, replacing: Bool = true,
        calls: FileCalls = .system
    ) throws(FileError) {
        let draft = try DraftFile(path, mode: mode, calls: calls)
        try draft.write(bytes)
        try draft.commit(replacing: replacing)
    }

    /// Creates a file and writes it in its place, for names that nobody looks for until all is written. If it throws,
    /// no file is left.
    ///
    /// - Parameters:
    ///   - path: Where the file shall be. No file may exist.
    ///   - body: Writes the file.
    /// - Throws: `FileError`.
    package static func create(
        _ path: String, calls: FileCalls = .system, _ body: (OpenFile) throws(FileError) -> Void
    ) throws(FileError) {
        let file = try OpenFile(path, .creating(mode: 0o600), calls: calls)
        do throws(FileError) {
            try body(file)
            try file.sync()
            try Folders.sync(Folders.parent(of: path), calls: calls)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Copies a file. If it throws, no copy is left.
    ///
    /// - Parameters:
    ///   - source: A file, no folder.
    ///   - target: Where the copy shall be. No file may exist.
    /// - Returns: False if the source changed while it was read.
    /// - Throws: `FileError`. Its path is `source` if the source can't be read.
    package static func copy(
        _ source: String, to target: String, calls: FileCalls = .system
    ) throws(FileError) -> Bool {
        let from = try OpenFile(source, .reading, calls: calls)
        let before = try from.status()
        guard before.st_mode & S_IFMT == S_IFREG else { throw FileError(.open, source, EISDIR) }
        var isSame = false
        try create(target, calls: calls) { (to) throws(FileError) in
            while case let piece = try from.read(bytesMax: 256 << 10), !piece.isEmpty { try to.write(piece) }
            let after = try from.status()
            isSame =
                before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec
                && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec
        }
        return isSame
    }

    /// Gives a file or folder another name.
    ///
    /// - Parameter replacing: Whether a file may have the name. It is replaced at once.
    /// - Throws: `FileError`; of step `link` and code `EEXIST` if a file has the name and mustn't.
    package static func rename(
        _ old: String, to new: String, replacing: Bool = true, calls: FileCalls = .system
    ) throws(FileError) {
        let isMoved = replacing ? false : try link(old, new, calls)
        if !isMoved { try calls(.rename, new) { systemRename(old, new) } }
        try Folders.sync(Folders.parent(of: new), calls: calls)
    }

    /// Moves a file by a second name, which unlike `rename` fails if a file has that name.
    ///
    /// - Returns: False if the file system has no second names for a file, and no file has this one.
    private static func link(_ old: String, _ new: String, _ calls: FileCalls) throws(FileError) -> Bool {
        do throws(FileError) {
            try calls(.link, new) { systemLink(old, new) }
            unlink(old)
            return true
        } catch {
            guard [EPERM, EACCES, EMLINK, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(error.code),
                access(new, F_OK) != 0
            else { throw error }
            return false
        }
    }

    /// Creates an empty file that its owner alone can read, before somebody opens it by name who would let everybody
    /// read it. A file that exists isn't opened: closing it would release the locks that this process has on it.
    ///
    /// - Returns: False if a file exists.
    /// - Throws: `FileError`.
    package static func createEmpty(_ path: String) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try OpenFile(path, .creating(mode: 0o600))
            return true
        } catch {
            guard error.code == EEXIST else { throw error }
            return false
        }
    }
}

/// The system's calls, which the functions of the same names hide.
private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }

private func systemLink(_ old: String, _ new: String) -> Int32 { link(old, new) }

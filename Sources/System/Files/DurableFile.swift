#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Changes of files that survive a power loss once the call has returned.
package enum DurableFile {
    /// Writes a file atomically: until the new bytes are complete, the file has its old bytes or doesn't
    /// exist.
    ///
    /// - Parameters:
    ///   - bytes: The file's bytes.
    ///   - path: Path of the file.
    ///   - mode: Mode of the file when it is created. The process's umask is applied.
    ///   - replacing: True if an existing file may be replaced.
    /// - Throws: `FileError`, as `DraftFile.commit`.
    package static func write(
        _ bytes: some Sequence<UInt8>, to path: String, mode: mode_t = 0o600, replacing: Bool = true,
        calls: FileCalls = .system
    ) throws(FileError) {
        let draft = try DraftFile(path, mode: mode, calls: calls)
        try draft.write(bytes)
        try draft.commit(replacing: replacing)
    }

    /// Creates a file and writes it at its final path, for files that are read only after they are complete.
    /// If it throws, no file is left.
    ///
    /// - Parameters:
    ///   - path: Path of the file. It must not exist.
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
    ///   - source: Path of the file. It must not be a folder.
    ///   - target: Path of the copy. It must not exist.
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

    /// Renames a file or folder.
    ///
    /// - Parameter replacing: True if an existing file with the new name may be replaced. The replacement is
    ///   atomic.
    /// - Throws: `FileError`; of step `link` and code `EEXIST` if a file has the new name and may not be
    ///   replaced.
    package static func rename(
        _ old: String, to new: String, replacing: Bool = true, calls: FileCalls = .system
    ) throws(FileError) {
        let isMoved = replacing ? false : try link(old, new, calls)
        if !isMoved { try calls(.rename, new) { systemRename(old, new) } }
        try Folders.sync(Folders.parent(of: new), calls: calls)
    }

    /// Moves a file with a hard link. Unlike `rename`, this fails if a file with the new name exists.
    ///
    /// - Returns: False if the file system has no hard links, and no file with the new name exists.
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

    /// Creates an empty file that only its owner can read, before other code opens it by name and would
    /// create it readable for everyone. Doesn't open an existing file, because closing it would release the
    /// locks that this process has on it.
    ///
    /// - Returns: False if the file exists.
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

/// Wrappers of system calls that functions of the same names hide.
private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }

private func systemLink(_ old: String, _ new: String) -> Int32 { link(old, new) }

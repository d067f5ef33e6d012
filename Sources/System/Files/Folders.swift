#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Folders of the file system.
package enum Folders {
    /// Returns the names in a folder, sorted by their bytes. Empty if the folder doesn't exist.
    ///
    /// - Throws: `FileError` if the folder can't be read.
    package static func names(in path: String, calls: FileCalls = .system) throws(FileError) -> [String] {
        var opened: OpaquePointer?
        do throws(FileError) {
            try calls(.list, path) {
                opened = opendir(path)
                return opened == nil ? -1 : 0
            }
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return [] }
            throw error
        }
        guard let folder = opened else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Waits until the names in a folder are on disk.
    ///
    /// Does nothing if this process may not read the folder, or if the file system can't sync folders.
    ///
    /// - Throws: `FileError`.
    package static func sync(_ path: String, calls: FileCalls = .system) throws(FileError) {
        do throws(FileError) {
            let folder = try OpenFile(path, .folder, calls: calls)
            try calls(.syncFolder, path) { fsync(folder.descriptor) }
        } catch {
            guard error.code == EACCES || error.code == EINVAL else { throw error }
        }
    }

    /// Returns the folder that contains `path`. Ignores slashes at the end.
    package static func parent(of path: String) -> String {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Creates a folder and its missing parents, accessible to their owner only. Each folder is on disk when
    /// this returns.
    ///
    /// - Throws: `FileError`.
    package static func make(_ path: String, calls: FileCalls = .system) throws(FileError) {
        try make(path, makesParent: true, calls)
    }

    /// - Parameter makesParent: False in the second attempt. The system can report a missing parent for any
    ///   name, for example an empty one.
    private static func make(_ path: String, makesParent: Bool, _ calls: FileCalls) throws(FileError) {
        let parent = parent(of: path)
        do throws(FileError) {
            try calls(.makeFolder, path) { mkdir(path, 0o700) }
        } catch {
            // For an existing folder, the system may also report a read-only disk.
            if access(path, F_OK) == 0 { return }
            guard makesParent, error.code == ENOENT, parent != path else { throw error }
            try make(parent, makesParent: true, calls)
            return try make(path, makesParent: false, calls)
        }
        try sync(parent, calls: calls)
    }

    /// Removes a file, or a folder with its contents. Files that can't be removed stay.
    package static func remove(_ path: String) {
        guard unlink(path) != 0 else { return }
        for name in (try? names(in: path)) ?? [] { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// Waits until the names in a folder and in all of its subfolders are on disk.
    ///
    /// - Throws: `FileError`.
    package static func syncTree(_ path: String) throws(FileError) {
        for name in try names(in: path) where isFolder("\(path)/\(name)") {
            try syncTree("\(path)/\(name)")
        }
        try sync(path)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}

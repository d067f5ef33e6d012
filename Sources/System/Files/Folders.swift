#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Folders of the file system.
package enum Folders {
    /// The names in a folder, sorted by their bytes; none if the folder doesn't exist.
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

    /// Waits until the names in a folder are on the disk.
    ///
    /// A folder that this process may not read can't be synced, nor can one of a file system that has no such sync:
    /// then nothing happens.
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

    /// The folder that `path` lies in. Slashes at the end don't count.
    package static func parent(of path: String) -> String {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Creates a folder for its owner alone, and the missing ones above it. Each is on the disk when this returns.
    ///
    /// - Throws: `FileError`.
    package static func make(_ path: String, calls: FileCalls = .system) throws(FileError) {
        try make(path, makesParent: true, calls)
    }

    /// - Parameter makesParent: False for the second try: the system may report a missing parent of any name, such as
    ///   an empty one.
    private static func make(_ path: String, makesParent: Bool, _ calls: FileCalls) throws(FileError) {
        let parent = parent(of: path)
        do throws(FileError) {
            try calls(.makeFolder, path) { mkdir(path, 0o700) }
        } catch {
            // Of a folder that exists the system may also report that the disk is read-only.
            if access(path, F_OK) == 0 { return }
            guard makesParent, error.code == ENOENT, parent != path else { throw error }
            try make(parent, makesParent: true, calls)
            return try make(path, makesParent: false, calls)
        }
        try sync(parent, calls: calls)
    }

    /// Removes a file, or a folder with everything in it. What can't be removed stays.
    package static func remove(_ path: String) {
        guard unlink(path) != 0 else { return }
        for name in (try? names(in: path)) ?? [] { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// Waits until the names in a folder and in all folders below it are on the disk.
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

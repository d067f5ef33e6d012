#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A permission that this process needs to open a database's file, and doesn't have.
struct MissingPermission: Hashable {
    enum Right: Int32, Hashable {
        /// Of a folder: to open files in it.
        case search = 1
        case write = 2
        case read = 4
    }

    let right: Right
    let path: String
    let isFolder: Bool
    /// The reason that the permission is needed, if it isn't obvious.
    var reason: String?

    /// One sentence without its full stop: the permission, the file or folder, the reason.
    var text: String {
        let what =
            switch (right, isFolder) {
            case (.search, _): "to enter (x) the folder"
            case (.read, _): "to read (r) the file"
            case (.write, false): "to write (w) the file"
            case (.write, true): "to write (w) into the folder"
            }
        return "no permission \(what) \(path)" + (reason.map { ": \($0)" } ?? "")
    }

    var error: SQLiteError { SQLiteError(extendedCode: SQLiteError.cannotOpenCode, message: text) }

    /// Returns the missing permission for the first folder in `path` that this process can't enter. Nil if
    /// there is none, or the file is missing.
    static func folder(onTheWayTo path: String) -> MissingPermission? {
        var status = stat()
        guard stat(path, &status) != 0, errno == EACCES else { return nil }
        var folder = path.hasPrefix("/") ? "/" : "."
        for part in path.split(separator: "/").dropLast() {
            folder += folder.hasSuffix("/") ? String(part) : "/\(part)"
            if !Right.search.isGranted(folder) {
                return MissingPermission(right: .search, path: folder, isFolder: true)
            }
        }
        return nil
    }

    /// Returns the permission that this process lacks to write the file at `path`, or nil.
    static func forWriting(_ path: String) -> MissingPermission? {
        if let folder = folder(onTheWayTo: path) { return folder }
        guard let files = DatabaseFiles(path: path) else {
            let folder = DatabaseFiles.folder(of: path)
            return Right.write.isRefused(folder)
                ? MissingPermission(right: .write, path: folder, isFolder: true) : nil
        }
        for file in [files.path, files.logPath, files.indexPath] {
            for right in [Right.read, .write] where right.isRefused(file) {
                return MissingPermission(right: right, path: file, isFolder: false)
            }
        }
        return Right.write.isRefused(files.folder)
            ? MissingPermission(right: .write, path: files.folder, isFolder: true) : nil
    }
}

extension MissingPermission.Right {
    /// Returns true if this process, with its effective user and groups, has the permission for the file or folder.
    func isGranted(_ path: String) -> Bool { faccessat(AT_FDCWD, path, rawValue, AT_EACCESS) == 0 }

    /// Returns true if the system refuses the permission for an existing file or folder.
    func isRefused(_ path: String) -> Bool {
        !isGranted(path) && [EACCES, EPERM, EROFS].contains(errno)
    }
}

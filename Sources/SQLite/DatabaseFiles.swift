#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A database's file and the files that SQLite keeps beside it, at one moment, and the permissions of this process.
/// No file is opened, because closing one would release the locks that this process has on it.
struct DatabaseFiles: Hashable {
    /// Attributes that change when a file is written or replaced.
    struct Version: Hashable {
        let device: UInt64
        let inode: UInt64
        let bytes: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    /// One of the files, and the permissions of this process.
    struct File: Hashable {
        let version: Version
        let canRead: Bool
    }

    /// Real path of the file. SQLite puts the others beside it, and not beside a link to it.
    let path: String
    var file: File
    var canWriteFile: Bool
    var canWriteFolder: Bool
    /// True if files that this process creates beside it belong to the owner of the file.
    var isOwner: Bool
    /// The write-ahead log. It exists while a process has the file open.
    var log: File?
    /// The log's index (-shm), which processes share.
    var index: File?
    /// Journal of a process that was killed in a transaction without a write-ahead log.
    var journal: File?

    var logPath: String { path + "-wal" }
    var indexPath: String { path + "-shm" }
    var folder: String { Self.folder(of: path) }

    /// Reads the state of the files. Nil if no regular file is at `path`.
    init?(path: String) {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        self.path = String(cString: real)
        guard let status = Self.status(self.path), status.st_mode & S_IFMT == S_IFREG else { return nil }
        typealias Right = MissingPermission.Right
        file = Self.file(self.path, status)
        canWriteFile = Right.write.isGranted(self.path)
        canWriteFolder = Right.write.isGranted(Self.folder(of: self.path))
        isOwner = status.st_uid == geteuid()
        log = Self.file(logPath)
        index = Self.file(indexPath)
        journal = Self.file(self.path + "-journal")
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func file(_ path: String) -> File? { status(path).map { file(path, $0) } }

    private static func file(_ path: String, _ status: stat) -> File {
        File(version: Version(status), canRead: MissingPermission.Right.read.isGranted(path))
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension DatabaseFiles.Version {
    init(_ status: stat) {
        #if canImport(Glibc)
            let time = status.st_mtim
        #else
            let time = status.st_mtimespec
        #endif
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), bytes: Int64(status.st_size),
            seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
}

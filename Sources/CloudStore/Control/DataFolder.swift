#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The folder with all data of a server: the control file, and one file for each environment of each container.
/// `docs/DISK_FORMAT.md` describes its layout.
public struct DataFolder: Hashable, Sendable {
    /// Path of the folder.
    public let path: String

    /// Makes the value for a folder, which may be missing.
    public init(path: String) {
        self.path = path
    }

    /// Path of the control file, which `ControlStore` opens.
    public var controlPath: String { "\(path)/control.sqlite" }

    /// Path of the history of requests. Nothing depends on it.
    public var historyPath: String { "\(path)/history.sqlite" }

    /// Name of the file with the operator's settings.
    public static let settingsName = "yap.json"

    /// Path of the operator's settings, which may be missing.
    public var settingsPath: String { "\(path)/\(Self.settingsName)" }

    /// True if `yap init` has made the folder, or the path can't be examined.
    public var isMade: Bool { !ControlStore.isAbsent(controlPath) }

    /// Makes the folder, for its owner only, with the control file.
    ///
    /// - Returns: True if the control file was made, false if it exists already.
    /// - Throws: `DataFolderError`, `CloudStoreError`.
    @discardableResult
    public func make() throws -> Bool {
        try makeFolders(path)
        return try ControlStore.make(path: controlPath)
    }

    /// Returns the path of the file of one environment of a container.
    ///
    /// - Parameter makesFolders: True to make the folder of the file.
    /// - Throws: `ControlError.badName` if the identifier or the environment isn't valid, `DataFolderError`.
    public func storePath(
        container: String, environment: String, makesFolders: Bool = false
    ) throws -> String {
        try ControlNames.checkContainer(container)
        guard ["development", "production"].contains(environment) else {
            throw ControlError.badName(
                what: "an environment", name: environment, rule: "It is development or production.")
        }
        let folder = "\(path)/containers/\(container)"
        if makesFolders { try makeFolders(folder) }
        return "\(folder)/\(environment).sqlite"
    }

    /// Locks the folder for one server until the lock is released or the process ends.
    ///
    /// - Throws: `DataFolderError.held` with the process id of the other server, `DataFolderError.failed`.
    public func lock() throws -> DataFolderLock {
        try DataFolderLock(path: "\(path)/serve.lock")
    }

    /// True if a server serves the folder now.
    public var isServed: Bool {
        let descriptor = open("\(path)/serve.lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Returns the path of the folder with the files of an environment's records: `<two hexadecimal digits>/<name>`. It
    /// may be missing.
    ///
    /// - Throws: `ControlError.badName` if the identifier or the environment isn't valid.
    public func assetsPath(container: String, environment: String) throws -> String {
        String(try storePath(container: container, environment: environment).dropLast(7)) + ".assets"
    }

    /// Prevents the removal of files of deleted records until the lock is released: a backup copies a store first, and
    /// its files next. Waits for the current step of the collection.
    ///
    /// - Throws: `DataFolderError`.
    public func holdForBackup() throws -> DataFolderLock {
        try DataFolderLock(sharing: backupLockPath, LOCK_EX)
    }

    /// Allows one step of the collection to remove files. Returns nil while a backup runs.
    ///
    /// - Throws: `DataFolderError`.
    public func holdForCollection() throws -> DataFolderLock? {
        do {
            return try DataFolderLock(sharing: backupLockPath, LOCK_SH | LOCK_NB)
        } catch DataFolderError.held {
            return nil
        }
    }

    private var backupLockPath: String { "\(path)/backup.lock" }

    func makeFolders(_ path: String) throws {
        var parent = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            parent +=
                parent.isEmpty && part.isEmpty ? "/" : (parent.isEmpty || parent == "/" ? "" : "/") + part
            if mkdir(parent, 0o700) == 0 {
                // Rows in the folder can't last longer than the folder's name. A parent folder that can't be read
                // belongs to another user and can't be synced.
                let above = Folders.parent(of: parent)
                if access(above, R_OK) == 0 { try Folders.sync(above) }
            } else if errno != EEXIST, access(parent, F_OK) != 0 {
                throw DataFolderError.failed(path: parent, reason: String(cString: strerror(errno)))
            }
        }
    }
}

/// A lock on a data folder, for serving or for another exclusive task.
public final class DataFolderLock: Sendable {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = try Self.take(path)
    }

    /// Locks a file, shared or exclusive.
    init(sharing path: String, _ operation: Int32) throws {
        descriptor = try Self.take(path, operation)
    }

    deinit {
        close(descriptor)
    }

    /// Returns nil if the file was deleted before it was locked, so that the lock has no effect.
    func ifStill(at path: String) -> DataFolderLock? {
        var (own, found) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, stat(path, &found) == 0 else { return nil }
        return own.st_dev == found.st_dev && own.st_ino == found.st_ino ? self : nil
    }

    private static func take(_ path: String, _ operation: Int32) throws -> Int32 {
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw DataFolderError.failed(path: path, reason: String(cString: strerror(errno)))
        }
        while flock(descriptor, operation) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            throw code == EWOULDBLOCK
                ? DataFolderError.held(path: path, processID: nil)
                : DataFolderError.failed(path: path, reason: String(cString: strerror(code)))
        }
        return descriptor
    }

    private static func take(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw DataFolderError.failed(path: path, reason: String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            defer { close(descriptor) }
            guard code == EWOULDBLOCK else {
                throw DataFolderError.failed(path: path, reason: String(cString: strerror(code)))
            }
            throw DataFolderError.held(path: path, processID: processID(in: descriptor))
        }
        // The process id is for humans. The lock itself is the kernel's, and ends with the process.
        let text = "\(getpid())\n"
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.utf8.count, 0) == text.utf8.count
        else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw DataFolderError.failed(path: path, reason: reason)
        }
        return descriptor
    }

    private static func processID(in descriptor: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Int(String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 0x0A }, as: UTF8.self))
    }
}

/// An error of making or locking a data folder.
public enum DataFolderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another server has locked the folder.
    case held(path: String, processID: Int?)
    /// A system call failed.
    case failed(path: String, reason: String)
    /// The disk or the user's quota is full.
    case diskFull(path: String)

    /// Makes an error from the system's error number for the file at `path`.
    init(path: String, _ code: Int32) {
        self =
            switch code {
            case ENOSPC, EDQUOT, EFBIG: .diskFull(path: path)
            default: .failed(path: path, reason: String(cString: strerror(code)))
            }
    }

    /// Human-readable text: what happened and what to do.
    public var description: String {
        switch self {
        case .diskFull(let path): "There is no room on the disk for \(path). Make room, and try again."
        case .held(let path, let processID):
            "\(path) is held by another yap serve\(processID.map { ", process \($0)" } ?? ""). Stop that one first, or "
                + "give this one another folder with --data."
        case .failed(let path, let reason):
            "\(path) can't be used: \(reason). Check the path and its permissions."
        }
    }
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The folder in which a server keeps everything: the control file, and one file for each environment of each
/// container. `docs/DISK_FORMAT.md` has its layout.
public struct DataFolder: Hashable, Sendable {
    /// Where the folder is.
    public let path: String

    /// Names a folder, which may not be there yet.
    public init(path: String) {
        self.path = path
    }

    /// The control file, which `ControlStore` opens.
    public var controlPath: String { "\(path)/control.sqlite" }

    /// What a server has noted of the requests that it has answered. Nothing depends on it.
    public var historyPath: String { "\(path)/history.sqlite" }

    /// What the file of the operator's settings is called.
    public static let settingsName = "yap.json"

    /// The operator's settings, which needn't be there.
    public var settingsPath: String { "\(path)/\(Self.settingsName)" }

    /// Whether `yap init` has been here, or something that can't be looked at lies there.
    public var isMade: Bool { !ControlStore.isAbsent(controlPath) }

    /// Makes the folder, for its owner only, and the control file in it.
    ///
    /// - Returns: whether the control file was made; false when there was one.
    /// - Throws: `DataFolderError`, `CloudStoreError`.
    @discardableResult
    public func make() throws -> Bool {
        try makeFolders(path)
        return try ControlStore.make(path: controlPath)
    }

    /// The file that keeps one environment of a container.
    ///
    /// - Parameter makesFolders: makes the folder that the file lies in.
    /// - Throws: `ControlError.badName` when the identifier or the environment can't be one, `DataFolderError`.
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

    /// Holds the folder for one server until the lock goes or the process ends, however it ends.
    ///
    /// - Throws: `DataFolderError.held` with the other's process id, `DataFolderError.failed`.
    public func lock() throws -> DataFolderLock {
        try DataFolderLock(path: "\(path)/serve.lock")
    }

    /// Whether a server serves the folder now.
    public var isServed: Bool {
        let descriptor = open("\(path)/serve.lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// The folder of the files that records of an environment hold: `<two hexadecimal digits>/<name>`. It may not be
    /// there yet.
    ///
    /// - Throws: `ControlError.badName` when the identifier or the environment can't be one.
    public func assetsPath(container: String, environment: String) throws -> String {
        String(try storePath(container: container, environment: environment).dropLast(7)) + ".assets"
    }

    /// Keeps files that no record needs any more from being removed, until the lock goes: a backup that has taken a
    /// store takes its files next. Waits for a step of the collection that is under way.
    ///
    /// - Throws: `DataFolderError`.
    public func holdForBackup() throws -> DataFolderLock {
        try DataFolderLock(sharing: backupLockPath, LOCK_EX)
    }

    /// Lets one bounded step remove files; nil while a backup runs.
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
                // What is acknowledged in the folder lasts no longer than the folder's name. One that may not be read
                // is not ours and can't be synced.
                let above = Folders.parent(of: parent)
                if access(above, R_OK) == 0 { try Folders.sync(above) }
            } else if errno != EEXIST, access(parent, F_OK) != 0 {
                throw DataFolderError.failed(path: parent, reason: String(cString: strerror(errno)))
            }
        }
    }
}

/// A data folder that this process holds, for serving or for something else that only one may do.
public final class DataFolderLock: Sendable {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = try Self.take(path)
    }

    /// Takes a lock that is not for one server alone.
    init(sharing path: String, _ operation: Int32) throws {
        descriptor = try Self.take(path, operation)
    }

    deinit {
        close(descriptor)
    }

    /// Nil when the file was removed before it was locked, and the lock is good for nothing.
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
        // The number is for people; the lock is the kernel's and goes with the process.
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

/// Why a data folder can't be made or held.
public enum DataFolderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another server holds the folder.
    case held(path: String, processID: Int?)
    /// The system refused.
    case failed(path: String, reason: String)
    /// There is no room on the disk, or no more of it for this user.
    case diskFull(path: String)

    /// What the system's error number says of the file at `path`.
    init(path: String, _ code: Int32) {
        self =
            switch code {
            case ENOSPC, EDQUOT, EFBIG: .diskFull(path: path)
            default: .failed(path: path, reason: String(cString: strerror(code)))
            }
    }

    /// What happened and what to do, for a person.
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

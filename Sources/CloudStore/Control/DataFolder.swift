import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The folder with all data of a server: the control file, and one file for each environment of each container.
/// `docs/DISK_FORMAT.md` describes its layout.
///
/// Public because a program that embeds `CloudServer` passes its folder.
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
    package var historyPath: String { "\(path)/history.sqlite" }

    /// Name of the file with the operator's settings.
    package static let settingsName = "yap.json"

    /// Path of the operator's settings, which may be missing.
    package var settingsPath: String { "\(path)/\(Self.settingsName)" }

    /// True if `yap init` has made the folder, or the path can't be examined.
    package var isMade: Bool { !ControlStore.isAbsent(controlPath) }

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
    package func storePath(
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
        try DataFolderLock(forServing: "\(path)/serve.lock")
    }

    /// True if a server serves the folder now.
    package var isServed: Bool {
        guard let file = try? OpenFile("\(path)/serve.lock", .reading) else { return false }
        return (try? file.lock(.shared, waits: false)) == false
    }

    /// Returns the path of the folder with the files of an environment's records: `<two hexadecimal digits>/<name>`. It
    /// may be missing.
    ///
    /// - Throws: `ControlError.badName` if the identifier or the environment isn't valid.
    package func assetsPath(container: String, environment: String) throws -> String {
        String(try storePath(container: container, environment: environment).dropLast(7)) + ".assets"
    }

    /// Prevents the removal of files of deleted records until the lock is released: a backup copies a store first, and
    /// its files next. Waits for the current step of the collection.
    ///
    /// - Throws: `DataFolderError`.
    package func holdForBackup() throws -> DataFolderLock {
        try DataFolderLock(backupLockPath, .exclusive, waits: true)
    }

    /// Allows one step of the collection to remove files. Returns nil while a backup runs.
    ///
    /// - Throws: `DataFolderError`.
    package func holdForCollection() throws -> DataFolderLock? {
        do {
            return try DataFolderLock(backupLockPath, .shared, waits: false)
        } catch DataFolderError.held {
            return nil
        }
    }

    private var backupLockPath: String { "\(path)/backup.lock" }

    func makeFolders(_ path: String) throws {
        try DataFolderError.translating { try Folders.make(path) }
    }
}

/// A lock on a data folder, for serving or for another exclusive task.
public final class DataFolderLock: Sendable {
    private let file: OpenFile

    /// Locks a file, which is created if it is missing.
    ///
    /// - Throws: `DataFolderError.held` if others hold it and `waits` is false, `DataFolderError.failed`.
    init(_ path: String, _ kind: OpenFile.LockKind, waits: Bool) throws {
        file = try DataFolderError.translating {
            let file = try OpenFile(path, .updatingOrCreating)
            guard try file.lock(kind, waits: waits) else {
                throw DataFolderError.held(path: path, processID: Self.processID(in: file))
            }
            return file
        }
    }

    /// Locks a file alone, and writes this process's number into it.
    convenience init(forServing path: String) throws {
        try self.init(path, .exclusive, waits: false)
        // The number is for people. The kernel holds the lock and releases it when the process ends.
        try DataFolderError.translating {
            try file.truncate()
            try file.write("\(getpid())\n".utf8)
        }
    }

    /// Returns nil if the file was deleted before it was locked, so that the lock has no effect.
    func ifStill(at path: String) -> DataFolderLock? { file.isStill(at: path) ? self : nil }

    private static func processID(in file: OpenFile) -> Int? {
        let bytes = (try? file.read(at: 0, bytesMax: 32)) ?? []
        return Int(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self))
    }
}

/// An error of making or locking a data folder.
package enum DataFolderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another server has locked the folder.
    case held(path: String, processID: Int?)
    /// A system call failed.
    case failed(path: String, reason: String)
    /// The disk or the user's quota is full.
    case diskFull(path: String)

    /// Makes an error from a failed call for its file.
    init(_ error: FileError) {
        self =
            error.isDiskFull ? .diskFull(path: error.path) : .failed(path: error.path, reason: error.reason)
    }

    /// Runs `body`, and throws a failed call on a file as an error of the folder.
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as FileError {
            throw DataFolderError(error)
        }
    }

    /// Human-readable text: what happened and what to do.
    package var description: String {
        switch self {
        case .diskFull(let path): "The disk has no space for \(path). Free space on it, and try again."
        case .held(let path, let processID):
            "\(path) is held by another yap serve\(processID.map { ", process \($0)" } ?? ""). Stop that one first, or "
                + "give this one another folder with --data."
        case .failed(let path, let reason):
            "\(path) can't be used: \(reason). Check the path and its permissions."
        }
    }
}

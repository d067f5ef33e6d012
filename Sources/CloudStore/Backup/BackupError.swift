/// Why a backup can't be made or restored.
public enum BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Something lies where the archive should be written.
    case exists(path: String)
    /// The folder to restore into has something in it.
    case notEmpty(path: String)
    /// The file is no archive of `yap backup`, or not a whole one, or was changed.
    case damaged(path: String, reason: String)
    /// The archive was made by a newer version; `version` is its format.
    case newerFormat(path: String, version: Int)

    /// What happened and what to do, for a person.
    public var description: String {
        switch self {
        case .exists(let path):
            "\(path) is there already, and a backup overwrites nothing. Choose another name."
        case .notEmpty(let path):
            "\(path) isn't empty, and a backup is restored into an empty folder only. Choose another one."
        case .damaged(let path, let reason):
            "\(path) can't be restored: \(reason). Nothing was restored; take another backup."
        case .newerFormat(let path, let version):
            "\(path) has format \(version), which this version can't read. Restore it with the version that made it."
        }
    }
}

/// How far a backup or a restore has come.
public struct BackupProgress: Hashable, Sendable {
    /// What is done just now.
    public enum Stage: String, Hashable, Sendable {
        /// A consistent copy of a database is made.
        case copying
        /// A file goes into the archive.
        case archiving
        /// The archive is read and compared with its checksums.
        case checking
        /// Files are written from the archive.
        case restoring
    }

    /// What is done just now.
    public let stage: Stage
    /// The file that it is done with, as the archive names it.
    public let name: String
    /// How many bytes of the file are done.
    public let bytes: Int64
    /// How many bytes the file has.
    public let bytesOfFile: Int64
}

/// What a backup holds, or what was restored from one.
public struct BackupSummary: Hashable, Sendable {
    /// Environments of containers: a store's file for each.
    public var environments = 0
    /// Files that records hold.
    public var assets = 0
    /// Whether it has the operator's settings.
    public var hasSettings = false
    /// Bytes of the archive.
    public var archiveBytes: Int64 = 0
    /// When the backup was made, in milliseconds since 1970.
    public var createdMilliseconds: Int64 = 0
}

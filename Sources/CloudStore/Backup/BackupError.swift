/// An error of making or restoring a backup.
package enum BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file exists at the archive's path.
    case exists(path: String)
    /// The folder to restore into isn't empty.
    case notEmpty(path: String)
    /// The file isn't a backup archive, is incomplete, or was changed.
    case damaged(path: String, reason: String)
    /// The archive was made by a newer version of this program. `version` is its format.
    case newerFormat(path: String, version: Int)

    /// Human-readable text: what happened and what to do.
    package var description: String {
        switch self {
        case .exists(let path):
            "\(path) exists already, and a backup overwrites nothing. Choose another name."
        case .notEmpty(let path):
            "\(path) isn't empty, and a backup is restored into an empty folder only. Choose another one."
        case .damaged(let path, let reason):
            "\(path) can't be restored: \(reason). Nothing was restored; take another backup."
        case .newerFormat(let path, let version):
            "\(path) has format \(version), which this version can't read. Restore it with the version that made it."
        }
    }
}

/// The progress of a backup or a restore.
package struct BackupProgress: Hashable, Sendable {
    /// The current step.
    package enum Stage: String, Hashable, Sendable {
        /// Making a consistent copy of a database.
        case copying
        /// Adding a file to the archive.
        case archiving
        /// Comparing the archive with its checksums.
        case checking
        /// Writing files from the archive.
        case restoring
    }

    /// The current step.
    package let stage: Stage
    /// Name of the current file in the archive.
    package let name: String
    /// Bytes of the file that are done.
    package let bytes: Int64
    /// Size of the file in bytes.
    package let bytesOfFile: Int64
}

/// The contents of a backup, or what was restored.
package struct BackupSummary: Hashable, Sendable {
    /// Number of environments of containers, each with a store's file.
    package var environments = 0
    /// Number of files of records.
    package var assets = 0
    /// True if it has the operator's settings.
    package var hasSettings = false
    /// Size of the archive in bytes.
    package var archiveBytes: Int64 = 0
    /// Time of the backup, in milliseconds since 1970.
    package var createdMilliseconds: Int64 = 0
}

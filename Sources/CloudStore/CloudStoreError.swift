/// An error of opening, reading or writing a store.
package enum CloudStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is not an SQLite database.
    case notADatabase(path: String)
    /// The file is an SQLite database of another program.
    case foreignFile(path: String)
    /// The file was made by a newer version of this program. `version` is its format.
    case newerFormat(path: String, version: Int64)
    /// The file was made by an earlier version of this program, and is only read here. `version` is its format.
    case olderFormat(path: String, version: Int64)
    /// The file can't be opened: it is missing, is a folder, or permission is denied.
    case cannotOpen(path: String, reason: String)
    /// The file or a row in it is inconsistent.
    case damaged(path: String, reason: String)
    /// The disk is full.
    case diskFull(path: String)
    /// Another process has locked the file for longer than the busy timeout.
    case busy(path: String)
    /// The disk failed to read, write or sync.
    case diskFailing(path: String, reason: String)
    /// A write has too many rows. Nothing of it was written.
    case tooManyRows(rowsMax: Int)
    /// Any other error of SQLite.
    case failed(path: String, reason: String)

    /// What happened and what to do, for logs.
    package var description: String {
        switch self {
        case .notADatabase(let path): "\(path) is not a database. Check the path, or restore a backup there."
        case .foreignFile(let path):
            "\(path) is a database of another program. Give the store a path of its own."
        case .newerFormat(let path, let version):
            "\(path) has format \(version), which this version can't read. Open it with the version that made it."
        case .olderFormat(let path, let version):
            "\(path) has format \(version) of an earlier version, and nothing has opened it since the upgrade. Take a "
                + "backup; then the first request to the server brings it to this format, or yap schema export does."
        case .cannotOpen(let path, let reason): "\(path) can't be opened: \(reason)"
        case .damaged(let path, let reason): "\(path) is damaged: \(reason). Restore a backup."
        case .diskFull(let path):
            "The disk that holds \(path) is full. Free space on it; nothing of the write was kept."
        case .busy(let path): "Another process holds \(path). Try again."
        case .diskFailing(let path, let reason):
            "The disk that holds \(path) fails: \(reason). Nothing of the write was kept."
        case .tooManyRows(let rowsMax):
            "The write has more than \(rowsMax) rows, index entries and references counted. Write fewer records at a "
                + "time."
        case .failed(let path, let reason): "Reading or writing \(path) failed: \(reason)"
        }
    }
}

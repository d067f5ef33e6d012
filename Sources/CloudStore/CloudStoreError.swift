/// Why a store could not be opened, read or written.
public enum CloudStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is not an SQLite database.
    case notADatabase(path: String)
    /// The file is an SQLite database, but not one that this store has made.
    case foreignFile(path: String)
    /// The file was made by a newer version; `version` is its format.
    case newerFormat(path: String, version: Int64)
    /// The file was made by an earlier version and is only read here; `version` is its format.
    case olderFormat(path: String, version: Int64)
    /// The file can't be opened: it is absent, a folder, or without permission.
    case cannotOpen(path: String, reason: String)
    /// The file, or a row in it, contradicts itself.
    case damaged(path: String, reason: String)
    /// There is no room on the disk.
    case diskFull(path: String)
    /// Another process held the file longer than the busy timeout.
    case busy(path: String)
    /// The disk failed to read, write or sync.
    case diskFailing(path: String, reason: String)
    /// A write has more rows than it may; nothing of it was kept.
    case tooManyRows(rowsMax: Int)
    /// The store could not do what it was asked for another reason.
    case failed(path: String, reason: String)

    /// What happened and what to do, for a log.
    public var description: String {
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
            "The disk that holds \(path) is full. Make room; nothing of the write was kept."
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

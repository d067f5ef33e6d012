/// How a read-only connection opens a file.
enum ReadingMode: Hashable {
    /// With SQLite's locks, log and index, beside processes that write it. SQLite creates the log and the index if
    /// they are missing, and they remain.
    case shared
    /// Without locks and without a log (SQLite's `immutable`): no process has the file open, and no file is created
    /// beside it. The files must be unchanged at the end of a transaction.
    case alone(DatabaseFiles)
    /// Neither is possible.
    case refused(MissingPermission)

    init(path: String) {
        if let folder = MissingPermission.folder(onTheWayTo: path) {
            self = .refused(folder)
        } else if let files = DatabaseFiles(path: path) {
            self.init(files)
        } else {
            // The path isn't a regular file. SQLite reports the error.
            self = .shared
        }
    }

    /// Chooses the mode by the state of the files.
    init(_ files: DatabaseFiles) {
        func refused(_ right: MissingPermission.Right, _ path: String, _ reason: String? = nil) -> Self {
            .refused(
                MissingPermission(
                    right: right, path: path, isFolder: path == files.folder, reason: reason))
        }
        guard files.file.canRead else {
            self = refused(.read, files.path)
            return
        }
        // SQLite can create missing files beside the file.
        if files.canWriteFile && files.canWriteFolder {
            self = .shared
            return
        }
        let logHasContent = (files.log?.version.bytes ?? 0) > 0
        let place = files.canWriteFolder ? files.path : files.folder
        if let log = files.log, let index = files.index {
            // A process may have the file open. Its locks and its log must be respected.
            let unread: String? = !log.canRead ? files.logPath : !index.canRead ? files.indexPath : nil
            self = unread.map { refused(.read, $0, "its log is part of the database") } ?? .shared
        } else if logHasContent {
            // The last commits are only in the log. Reading it needs an index, and one created by another user's
            // process would block the owner's.
            self =
                files.canWriteFolder && files.isOwner
                ? .shared
                : refused(
                    .write, place,
                    "the last commits are in \(files.logPath), and reading them creates an index file; or copy both "
                        + "files into a folder of your own")
        } else if (files.journal?.version.bytes ?? 0) > 0 {
            self = refused(.write, place, "a transaction that was interrupted must be rolled back")
        } else {
            self = .alone(files)
        }
    }
}

import CSQLite

// A commit with a failed sync leaves complete frames in the log. SQLite doesn't count them, but recovery finds them
// when the file is next opened (https://www.sqlite.org/walformat.html, "WAL recovery").
extension Connection {
    /// Commits again without a change, which overwrites the frames of the failed commit.
    ///
    /// This commit isn't synced, because syncs fail. A power loss before the next sync may bring the failed commit
    /// back.
    func overwriteFailedFrames() {
        // NORMAL syncs only the header of a log that is restarted, before the first frame is overwritten. Without
        // that sync a power loss may leave the old header over old frames, and recovery puts their pages over newer
        // ones (https://sqlite.org/src/info/ff5be73dee).
        do {
            try commitNothing(.normal)
        } catch let error as SQLiteError where error.isSyncFailure {
            // The log was restarted, and the sync of its header failed. If that sync failed in the failed commit too,
            // the commit wrote no frames. If it succeeded then, the frames follow the header, which can safely be
            // written again, because it has the same salts. In a file's first log the salts are new, and hide the
            // frames. No other connection restarts the log before it has frames.
            if logBeginsWithItsOwnFrame { try? commitNothing(.off) }
        } catch {}
    }

    private func commitNothing(_ synchronous: Synchronous) throws {
        // Not in `commit`, because no checkpoint may follow while syncs fail.
        defer {
            try? rollback()
            try? set(options.synchronous)
        }
        let version = try withStatement("PRAGMA user_version") { statement in
            try statement.step() ? statement.int64(at: 0) : 0
        }
        try set(synchronous)
        try execute("BEGIN IMMEDIATE; PRAGMA user_version=\(version); COMMIT")
    }

    /// True if the first frame in the log's file belongs to its header: both have the same salts.
    private var logBeginsWithItsOwnFrame: Bool {
        guard let log = file(SQLITE_FCNTL_JOURNAL_POINTER), let read = log.pointee.pMethods?.pointee.xRead
        else { return false }
        // https://www.sqlite.org/fileformat2.html, "WAL File Format": 32 bytes of header with 8 of salts at 16, then
        // the frame's header with the salts at 8.
        var header: UInt64 = 0
        var frame: UInt64 = 0
        let size = Int32(MemoryLayout<UInt64>.size)
        return read(log, &header, size, 16) == SQLITE_OK && read(log, &frame, size, 32 + 8) == SQLITE_OK
            && header == frame
    }
}

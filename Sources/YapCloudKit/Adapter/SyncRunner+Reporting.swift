internal import CloudKit
internal import System
internal import Yap

/// Errors and merge decisions, stored in the device's database and handed to the app.
extension SyncRunner {
    /// Stores an error in the database of a start, for `yap sync inspect`, and hands it to the app.
    func report(_ error: CKError, _ key: DatabaseKey, start: Int) {
        let now = environment.clock.nowMilliseconds()
        // If storing fails too, nothing more can be done for the error.
        try? session.open(start: start)?.write { _, ext in
            try ext.tables.errors.keep(error, key, atMilliseconds: now)
        }
        environment.errorBlock(key.identifier, error)
    }

    /// Hands out the pending decisions of merges, and before them the stored ones if a listener needs them.
    func handOutLog() {
        let (entries, start, mustReadStored) = log.take()
        // Decisions up to the last one that was handed out are removed, so those before these must have been read. The
        // next attempt reads these too.
        if mustReadStored, !handOutStoredLog() { return }
        log.handOut(entries, start: start)
    }

    /// Hands out the decisions of merges that an earlier run stored.
    /// - Returns: False if they couldn't be read; then they are read after the next commit.
    @discardableResult
    func handOutStoredLog() -> Bool {
        guard let open = session.open() else { return true }
        do {
            let stored = try open.read { try $0.tables.log.logEntries() }
            environment.scheduler.yield()
            log.handOut(stored, start: open.start)
            return true
        } catch {
            guard !error.isClosedDatabase else {
                end(start: open.start)
                return true
            }
            log.needStored()
            environment.errorBlock(nil, .saying(.internalError, "the merge log can't be read: \(error)"))
            return false
        }
    }
}

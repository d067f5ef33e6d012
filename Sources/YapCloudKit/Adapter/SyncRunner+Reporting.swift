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
        if mustReadStored { handOutStoredLog() }
        log.handOut(entries, start: start)
    }

    /// Hands out the decisions of merges that an earlier run stored.
    func handOutStoredLog() {
        guard let open = session.open() else { return }
        do {
            let stored = try open.read { try $0.tables.log.logEntries() }
            environment.scheduler.yield()
            log.handOut(stored, start: open.start)
        } catch {
            if error.isClosedDatabase { return end(start: open.start) }
            environment.errorBlock(nil, .saying(.internalError, "the merge log can't be read: \(error)"))
        }
    }
}

import CloudStore
import System

/// Removes the remaining rows of deleted zones. The state of pending work is kept in memory: after a start,
/// rows are assumed to remain.
package final class ClearedRows: Sendable {
    private let store: any CloudStore
    private let limits: ClearingLimits
    private let mayBeMore = Lock(true)

    init(store: any CloudStore, limits: ClearingLimits) {
        (self.store, self.limits) = (store, limits)
    }

    var mayWait: Bool { mayBeMore.withLock { $0 } }

    /// Notes that a zone with rows was deleted.
    func note() { mayBeMore.withLock { $0 = true } }

    /// Removes a bounded number of rows of deleted zones. Returns true if there may be more. Readers never
    /// see these rows, and a new zone with the same name doesn't contain them.
    ///
    /// Each step is a transaction of its own, so it continues after a crash.
    func removeStep() throws -> Bool {
        guard mayWait else { return false }
        // Before looking, since a zone that is deleted after this transaction sets it again.
        mayBeMore.withLock { $0 = false }
        do {
            // Usually there is nothing to remove. A read finds that out without the writer.
            guard try store.read({ try $0.hasClearedRows() }) else { return false }
            let isCutShort = try store.write {
                try $0.removeClearedRows(rowsMax: limits.rowsMax, bytesMax: limits.bytesMax)
            }
            if isCutShort { note() }
            return isCutShort
        } catch {
            note()
            throw error
        }
    }

    /// Removes all remaining rows of deleted zones, for an operator that waits for the result.
    ///
    /// - Throws: `CloudStoreError`. Completed steps are kept.
    package func removeAll() throws {
        note()
        while try removeStep() {}
    }
}

/// Limits of one step of removing deleted zones, during which all writes wait: 2 to 5 ms, or more if the file
/// isn't cached in memory.
struct ClearingLimits: Hashable, Sendable {
    /// Maximum records, index entries, references and files. Removing the zone itself counts as 12.
    var rowsMax = 150
    /// Bytes of the records' fields.
    var bytesMax = UpkeepStep.recordBytesMax
    /// Maximum deleted zones of a user with rows left. At the maximum the user's saves are delayed. Each save
    /// checks their number.
    var zonesMax = 1_000
}

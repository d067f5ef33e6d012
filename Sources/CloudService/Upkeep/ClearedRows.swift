import CloudStore
import System

/// Removes what deleted zones have left. Whether there may be something is known as far as this process goes: at its
/// start, there may.
package final class ClearedRows: Sendable {
    private let store: any CloudStore
    private let limits: ClearingLimits
    private let mayBeMore = Lock(true)

    init(store: any CloudStore, limits: ClearingLimits) {
        (self.store, self.limits) = (store, limits)
    }

    var mayWait: Bool { mayBeMore.withLock { $0 } }

    /// A zone with rows was deleted.
    func note() { mayBeMore.withLock { $0 = true } }

    /// One bounded step towards a store without rows of deleted zones; true when there may be more. No reader meets
    /// them, and a zone that is made anew under the same name has none of them.
    ///
    /// Each step is a transaction of its own: after a crash it goes on where it was.
    func removeStep() throws -> Bool {
        guard mayWait else { return false }
        // Before looking: a zone that is deleted after this transaction sets it again.
        mayBeMore.withLock { $0 = false }
        do {
            // Most of the time there is nothing: a read finds that out without the writer.
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

    /// Removes all remaining rows of deleted zones, for an operator that waits for it.
    ///
    /// - Throws: `CloudStoreError`; the steps before stay done.
    package func removeAll() throws {
        note()
        while try removeStep() {}
    }
}

/// How much of deleted zones one step removes, while all writes wait: 2 to 5 ms, more where the file isn't in memory.
struct ClearingLimits: Hashable, Sendable {
    /// Records, index entries, references and files; the end of a zone counts as 12.
    var rowsMax = 150
    /// Bytes of the records' fields.
    var bytesMax = UpkeepStep.recordBytesMax
    /// Maximum deleted zones of a user with rows left. At the maximum the user's saves wait. Each save counts them.
    var zonesMax = 1_000
}

import CloudStore
import System

/// A store that tells what each transaction wrote, after it was committed.
///
/// The change log shows a record only as it is now; the ledger wants every value that ever was on the server.
package final class WatchedStore: CloudStore {
    private let base: any CloudStore
    private let onCommit: @Sendable ([StoredRecord]) -> Void

    /// - Parameter onCommit: Told before the next transaction may begin.
    package init(_ base: any CloudStore, onCommit: @escaping @Sendable ([StoredRecord]) -> Void) {
        self.base = base
        self.onCommit = onCommit
    }

    package func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try base.read(body)
    }

    package func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        // Told before the next transaction may begin, so that the ledger has the server's own order.
        try order.withLock { _ in
            var rows: [StoredRecord] = []
            let result = try base.write { writer in
                let watched = WatchedWriter(writer)
                let result = try body(watched)
                rows = watched.rows
                return result
            }
            onCommit(rows)
            return result
        }
    }

    private let order = Lock(())
}

private final class WatchedWriter: ForwardingStoreWriter {
    let base: any CloudStoreWriter
    private(set) var rows: [StoredRecord] = []

    init(_ base: any CloudStoreWriter) {
        self.base = base
    }

    func member<Result>(_ body: () throws -> Result) throws -> Result {
        let count = rows.count
        do {
            return try base.member(body)
        } catch {
            rows.removeSubrange(count...)
            throw error
        }
    }

    func apply(_ changes: StoreChanges) throws {
        try base.apply(changes)
        rows += changes.records
    }
}

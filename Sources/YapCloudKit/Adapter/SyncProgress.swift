internal import System

/// The batches in flight, and the number of records exchanged. It lasts as long as the sync.
final class SyncProgress: Sendable {
    private struct State {
        /// The batch of a database's operation, until its result is written.
        var batches: [DatabaseKey: SentBatch] = [:]
        /// Number of records that the server accepted, sent in a page, or returned as a conflict.
        var exchangedCount = 0
    }

    private let state = Lock(State())

    var exchangedCount: Int { state.withLock { $0.exchangedCount } }

    /// Returns the batch of a database that is in flight.
    func batch(_ key: DatabaseKey) -> SentBatch? { state.withLock { $0.batches[key] } }

    /// Discards the batches, whose results are no longer waited for.
    func discardBatches() {
        state.withLock { $0.batches = [:] }
    }

    /// Notes a batch that is about to be sent.
    func began(_ batch: SentBatch, _ key: DatabaseKey) {
        state.withLock { $0.batches[key] = batch }
    }

    /// Notes that the result of a database's batch was written.
    func ended(_ key: DatabaseKey, exchanged count: Int) {
        state.withLock { state in
            state.batches[key] = nil
            state.exchangedCount += count
        }
    }

    /// Notes records that were fetched.
    func fetched(_ count: Int) {
        state.withLock { $0.exchangedCount += count }
    }
}

/// A batch that an operation sends.
struct SentBatch {
    let batch: YapDatabaseCloudKit.Batch
    let sequence: Int64
    /// Whether an earlier operation sent a part of the change-set, and its result isn't known.
    let mayHaveArrived: Bool
}

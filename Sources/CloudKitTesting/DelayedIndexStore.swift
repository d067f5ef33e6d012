internal import CloudStore
import System

/// A store with indexes that lag behind saves, as Apple's do: a query finds a record by its values at the time of the
/// last index update.
final class DelayedIndexStore: CloudStore {
    private struct State {
        var lagMilliseconds: Int64 = 0
        var waiting: [(atMilliseconds: Int64, rows: [RecordIndexRow])] = []
    }

    let base: any CloudStore
    private let clock: any TimeSource
    private let state = Lock(State())

    init(_ base: any CloudStore, clock: any TimeSource) {
        self.base = base
        self.clock = clock
    }

    /// A store that replaces `other`, and takes over its pending index updates.
    convenience init(_ base: any CloudStore, clock: any TimeSource, replacing other: DelayedIndexStore) {
        self.init(base, clock: clock)
        let waiting = other.state.withLock { $0 }
        state.withLock { $0 = waiting }
    }

    /// Milliseconds until the indexes include a save. A change doesn't affect pending updates.
    var lagMilliseconds: Int64 {
        get { state.withLock { $0.lagMilliseconds } }
        set { state.withLock { $0.lagMilliseconds = newValue } }
    }

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try catchUp(to: clock.nowMilliseconds())
        return try base.read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        try catchUp(to: clock.nowMilliseconds())
        let lag = lagMilliseconds
        guard lag > 0 else { return try base.write(body) }
        let (result, rows) = try base.write { writer in
            let lagging = DelayedIndexWriter(writer)
            return (try body(lagging), lagging.rows)
        }
        let (at, overflows) = clock.nowMilliseconds().addingReportingOverflow(lag)
        if !rows.isEmpty { state.withLock { $0.waiting.append((overflows ? .max : at, rows)) } }
        return result
    }

    /// Writes the index updates that are due.
    func catchUp(to now: Int64) throws {
        let due = state.withLock { state in
            // In the order of the saves, because later entries replace earlier ones.
            let count = state.waiting.prefix { $0.atMilliseconds <= now }.count
            defer { state.waiting.removeFirst(count) }
            return state.waiting.prefix(count).flatMap(\.rows)
        }
        guard !due.isEmpty else { return }
        try base.write { writer in
            var wanted = StoreLoad()
            wanted.outlines = due.map(\.key)
            let loaded = try writer.load(wanted)
            var changes = StoreChanges()
            // Deleted records are in no index.
            changes.indexes = due.filter { row in loaded.records[row.key].map { !$0.isDeleted } ?? false }
            try writer.apply(changes)
        }
    }
}

/// Holds back the index updates of a write.
private final class DelayedIndexWriter: ForwardingStoreWriter {
    let base: any CloudStoreWriter
    private(set) var rows: [RecordIndexRow] = []

    init(_ base: any CloudStoreWriter) {
        self.base = base
    }

    func member<Result>(_ body: () throws -> Result) throws -> Result {
        let count = rows.count
        do {
            return try base.member(body)
        } catch {
            rows.removeLast(rows.count - count)
            throw error
        }
    }

    func apply(_ changes: StoreChanges) throws {
        var changes = changes
        rows += changes.indexes
        changes.indexes = []
        try base.apply(changes)
    }
}

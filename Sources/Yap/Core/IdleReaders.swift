import System

/// The readers of connections that are gone, for those that come: SQLite reads and parses the whole schema when a
/// handle is opened, which costs more than most reads.
final class IdleReaders: Sendable {
    /// The most that are kept open: what comes and goes does so one or two at a time.
    static let readersMax = 2

    /// nil when the database was closed.
    private let readers = Lock<[ReaderCore]?>([])

    /// One that was kept; nil when there is none.
    func take() -> ReaderCore? { readers.withLock { $0?.popLast() } }

    /// Keeps a reader that nobody uses any more, or lets it go.
    func keep(_ reader: ReaderCore) {
        readers.withLock { readers in
            guard let count = readers?.count, count < Self.readersMax else { return }
            readers?.append(reader)
        }
    }

    /// Closes what is kept.
    func removeAll() {
        _ = readers.withLock { readers in
            let removed = readers
            if readers != nil { readers = [] }
            return removed
        }
    }

    /// Closes what is kept, and keeps nothing from now on.
    func close() {
        // Released after the lock: their caches hold objects of the app.
        _ = readers.withLock { readers in
            defer { readers = nil }
            return readers
        }
    }
}

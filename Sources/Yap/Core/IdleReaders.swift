import System

/// Pool of idle readers. Reused because SQLite reads and parses the whole schema when it opens a handle, which takes
/// longer than most reads.
final class IdleReaders: Sendable {
    /// Maximum idle readers kept open. Connections are usually created and released one or two at a time.
    static let readersMax = 2

    /// Nil after the database was closed.
    private let readers = Lock<[ReaderCore]?>([])

    /// Returns an idle reader, or nil if there is none.
    func take() -> ReaderCore? { readers.withLock { $0?.popLast() } }

    /// Keeps an unused reader, or releases it.
    func keep(_ reader: ReaderCore) {
        readers.withLock { readers in
            guard let count = readers?.count, count < Self.readersMax else { return }
            readers?.append(reader)
        }
    }

    /// Closes the idle readers.
    func removeAll() {
        _ = readers.withLock { readers in
            let removed = readers
            if readers != nil { readers = [] }
            return removed
        }
    }

    /// Closes the idle readers. Readers that are returned later are closed too.
    func close() {
        // Released after the lock, because their caches hold objects of the app.
        _ = readers.withLock { readers in
            defer { readers = nil }
            return readers
        }
    }
}

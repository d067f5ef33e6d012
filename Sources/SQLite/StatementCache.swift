/// The prepared statements of one connection, by SQL text, bounded.
final class StatementCache {
    final class Entry {
        let statement: Statement
        var isInUse = false
        var lastUse: UInt64 = 0

        init(_ statement: consuming Statement) {
            self.statement = statement
        }
    }

    static let statementCountMax = 128

    private var entries: [String: Entry] = [:]
    private var useCount: UInt64 = 0

    /// The cached statement for `sql`, marked as in use, or one that `make` prepares.
    ///
    /// When the cached one is in use (a query that runs the same query inside) the new one is not kept.
    func take(_ sql: String, make: () throws -> Statement) throws -> Entry {
        useCount += 1
        if let entry = entries[sql] {
            guard !entry.isInUse else { return Entry(try make()) }
            entry.isInUse = true
            entry.lastUse = useCount
            return entry
        }
        let entry = Entry(try make())
        entry.isInUse = true
        entry.lastUse = useCount
        makeRoom()
        if entries.count < Self.statementCountMax { entries[sql] = entry }
        return entry
    }

    func putBack(_ entry: Entry) {
        entry.statement.reset()
        entry.statement.clearBindings()
        entry.isInUse = false
    }

    /// Finalises all but those in use.
    func removeAll() {
        entries = entries.filter { $0.value.isInUse }
    }

    private func makeRoom() {
        guard entries.count >= Self.statementCountMax else { return }
        let idle = entries.filter { !$0.value.isInUse }
        guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
    }
}

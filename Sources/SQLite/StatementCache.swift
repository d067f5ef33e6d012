/// Bounded cache of the prepared statements of one connection, by SQL text.
final class StatementCache {
    final class Entry {
        let sql: String
        let statement: Statement
        var isInUse = false
        var lastUse: UInt64 = 0

        init(_ sql: String, _ statement: consuming Statement) {
            self.sql = sql
            self.statement = statement
        }
    }

    /// A text that is equal only to the same bytes. Swift considers "é" and "e" with a combining accent equal, SQLite
    /// doesn't.
    private struct Key: Hashable {
        let sql: String

        // The hash of the string is sufficient: the same bytes have the same hash.
        static func == (left: Key, right: Key) -> Bool {
            left.sql.utf8.withContiguousStorageIfAvailable { bytes in
                right.sql.utf8.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
            }.flatMap { $0 } ?? left.sql.utf8.elementsEqual(right.sql.utf8)
        }
    }

    static let statementCountMax = 128
    static let recentCountMax = 16

    private var entries: [Key: Entry] = [:]
    private var useCount: UInt64 = 0
    private var recent: [Recent] = []
    private var nextRecent = 0

    /// An entry found by the address of its text, which is constant for a literal, so that the text needn't be
    /// hashed. The entry retains the text, so that no other can have its address.
    private struct Recent {
        let address: UnsafePointer<UInt8>
        let count: Int
        let entry: Entry
    }

    /// Returns the cached statement for `sql`, marked as in use, or one that `make` prepares.
    ///
    /// If the cached one is in use (a query that runs the same query inside), the new one isn't cached.
    func take(_ sql: String, make: () throws -> Statement) throws -> Entry {
        useCount += 1
        if let entry = find(sql) {
            guard !entry.isInUse else { return Entry(sql, try make()) }
            entry.isInUse = true
            entry.lastUse = useCount
            return entry
        }
        let entry = Entry(sql, try make())
        entry.isInUse = true
        entry.lastUse = useCount
        makeRoom()
        if entries.count < Self.statementCountMax { entries[Key(sql: sql)] = entry }
        return entry
    }

    func putBack(_ entry: Entry) {
        entry.statement.reset()
        entry.statement.clearBindings()
        entry.isInUse = false
    }

    /// Finalises all statements that aren't in use.
    func removeAll() {
        entries = entries.filter { $0.value.isInUse }
        recent = []
    }

    private func makeRoom() {
        guard entries.count >= Self.statementCountMax else { return }
        let idle = entries.filter { !$0.value.isInUse }
        guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
        recent = []
    }

    private func find(_ sql: String) -> Entry? {
        // A text of up to 15 bytes is stored in the value itself and has no address of its own.
        guard sql.utf8.count > 15 else { return entries[Key(sql: sql)] }
        return sql.utf8.withContiguousStorageIfAvailable { text in
            guard let address = text.baseAddress else { return nil }
            for known in recent where known.address == address && known.count == text.count {
                return known.entry
            }
            guard let entry = entries[Key(sql: sql)] else { return nil }
            // The text that it was prepared with may have another address.
            if entry.sql.utf8.withContiguousStorageIfAvailable({ $0.baseAddress == address }) == true {
                remember(Recent(address: address, count: text.count, entry: entry))
            }
            return entry
        } ?? entries[Key(sql: sql)]
    }

    private func remember(_ use: Recent) {
        if recent.count < Self.recentCountMax {
            recent.append(use)
        } else {
            recent[nextRecent] = use
            nextRecent = (nextRecent + 1) % Self.recentCountMax
        }
    }
}

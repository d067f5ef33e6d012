import SQLite

/// The table `changes2`: rows that changed while an extension of the file wasn't registered in the writing process.
///
/// It is written only while such an extension exists and can catch up (`YapDatabaseExtension.catchesUp`), or a reader
/// of changes (`ChangeReader`), which is stored as such an extension. The extension's note in `yap2` has the position
/// after which the log names every row that it missed; such a note always has an entry after it. A row that changes
/// again moves to the end of the log.
final class MissedChangeLog {
    /// Default maximum rows in the log. Beyond it, the extensions that have missed the most are filled again.
    static let rowsMaxDefault = 100_000

    private enum State {
        /// Not read yet, or possibly changed since.
        case unread
        /// No extension needs the log.
        case idle
        /// Extensions that miss the changes of this process, and the number of rows that still fit.
        case logging(orphans: [String], room: Int)
    }

    /// A row under its name at the time of the change.
    struct Entry {
        let position: Int64
        let identity: YapDatabaseRowIdentity
    }

    /// Maximum number of rows in the log.
    var rowsMax = MissedChangeLog.rowsMaxDefault
    private var state = State.unread
    /// The extensions that aren't registered here, by each extension that they depend on, directly or through others.
    private var dependents: [String: [String]]?
    private unowned let store: StoreConnection

    init(_ store: StoreConnection) {
        self.store = store
    }

    /// Discards the cached state, because another process wrote, the registered extensions changed, or a transaction
    /// failed.
    func reset() {
        state = .unread
        dependents = nil
    }

    // MARK: Writing

    /// Logs that a row was written, touched or removed. Called in the same transaction.
    func note(_ rowID: Int64, _ name: YapCollectionKey) throws {
        if case .idle = state { return }
        if case .unread = state { try readOrphans() }
        guard case .logging(let orphans, let room) = state else { return }
        try append(rowID, name)
        state = .logging(orphans: orphans, room: room - 1)
        if room <= 0 { try makeRoom() }
    }

    private func append(_ rowID: Int64, _ name: YapCollectionKey) throws {
        let sql = """
            INSERT INTO changes2 (row, collection, key) VALUES (?1, ?2, ?3) ON CONFLICT (row, collection, key)
            DO UPDATE SET position = (SELECT max(position) + 1 FROM changes2)
            """
        try store.statement(sql) {
            try $0.bind(rowID, at: 1)
            try $0.bind(name.collection, at: 2)
            try $0.bind(name.key, at: 3)
            try $0.run()
        }
    }

    /// Appends a row that wasn't written but moved in an extension. Readers of changes must not see it.
    ///
    /// The entry has the position of the move and the position of the last write. A later write moves the
    /// entry, so that readers see it. This works even if the writing program doesn't know these columns.
    private func appendPlace(_ row: YapDatabaseRowIdentity) throws {
        let sql = """
            INSERT INTO changes2 (position, row, collection, key, placed, written)
            SELECT next, ?1, ?2, ?3, next, 0 FROM (SELECT ifnull(max(position), 0) + 1 AS next FROM changes2) WHERE true
            ON CONFLICT (row, collection, key) DO UPDATE SET
                written = iif(placed IS position, written, position),
                position = excluded.position, placed = excluded.position
            """
        try store.statement(sql) {
            try $0.bind(row.rowID, at: 1)
            try $0.bind(row.collection, at: 2)
            try $0.bind(row.key, at: 3)
            try $0.run()
        }
    }

    /// Logs that an extension changed its state of rows, for dependents that aren't registered here.
    ///
    /// - Parameter changed: Returns the rows, without those that were written in this transaction. Nil for any rows.
    func noteChange(of name: String, _ changed: () throws -> [YapDatabaseRowIdentity]?) throws {
        if dependents == nil { try readDependents() }
        guard let orphans = dependents?[name], !orphans.isEmpty else { return }
        // Extensions that already miss unknown rows need no note.
        guard try orphans.contains(where: { try StoredExtension($0, store).missed() != .unknown }) else {
            return
        }
        let rows = try changed()
        if let rows, rows.isEmpty { return }
        var isLogged = false
        for orphan in orphans {
            let stored = StoredExtension(orphan, store)
            switch (try stored.missed(), rows) {
            case (.unknown, _): continue
            case (.known, .some): isLogged = true
            case (.none, .some) where try stored.catchesUp():
                try createTable()
                try trim()
                try stored.setMissed(.known(after: lastPosition()))
                isLogged = true
            case (.none, _), (.known, nil): try stored.setMissed(.unknown)
            }
        }
        // Other extensions may be noted now.
        state = .unread
        guard isLogged, let rows else { return }
        try addPlaceColumns()
        for row in rows { try appendPlace(row) }
        _ = try giveUpOldest(room: room())
    }

    private func readDependents() throws {
        let (registered, needs) = (registeredNames, try store.config.needs())
        var found: [String: [String]] = [:]
        for name in Set(needs.values.joined()) {
            found[name] = ConfigTable.dependents(of: name, needs).filter { !registered.contains($0) }
        }
        dependents = found
    }

    /// Names of the extensions that receive the changes of this process.
    private var registeredNames: Set<String> {
        Set(store.extensions.filter { !$0.isReplaced }.map(\.registered.name))
    }

    /// Logs all rows of a collection that one statement is about to remove. If they don't fit, the extensions are
    /// filled again.
    func noteClearing(of collection: String) throws {
        if case .idle = state { return }
        // A note must be followed by an entry.
        if try count(collection, max: 1) == 0 { return }
        if case .unread = state { try readOrphans() }
        guard case .logging(let orphans, let room) = state else { return }
        let rowsCount = try count(collection, max: room + 1)
        if rowsCount > room { return try noteClearingOfAll() }
        let sql = """
            INSERT OR REPLACE INTO changes2 (position, row, collection, key)
            SELECT (SELECT ifnull(max(position), 0) FROM changes2) + row_number() OVER (), rowid, collection, key
            FROM database2 WHERE collection = ?1
            """
        try store.statement(sql) {
            try $0.bind(collection, at: 1)
            try $0.run()
        }
        state = .logging(orphans: orphans, room: room - rowsCount)
    }

    /// Records that more rows change than the log names. The extensions that miss this are filled again.
    func noteClearingOfAll() throws {
        if case .unread = state { try readOrphans() }
        guard case .logging(let orphans, _) = state else { return }
        var hasReaders = false
        for name in orphans { hasReaders = try giveUp(name) || hasReaders }
        // A reader of changes starts over with the next change.
        state = hasReaders ? .unread : .idle
        try trim()
    }

    /// Finds the extensions that miss the changes of this process, and records that in the file.
    ///
    /// Their tables are never dropped here, regardless of how many changes they miss. An app may write before
    /// it registers an extension, and must not lose the extension's tables because of that, or a sync queue
    /// with unsent changes.
    private func readOrphans() throws {
        let registered = registeredNames
        var orphans: [String] = []
        for name in try store.config.extensionNames() where !registered.contains(name) {
            let stored = StoredExtension(name, store)
            var missed = try stored.missed()
            // A program that doesn't know the log may have written to the file.
            if missed == .unknown, let reader = ChangeReader(storedName: name, store) {
                try reader.restart()
                missed = .none
            }
            switch missed {
            case .known: orphans.append(name)
            case .none where try stored.catchesUp():
                try createTable()
                // A program that doesn't know the log may have left entries that no extension needs.
                try trim()
                try stored.setMissed(.known(after: lastPosition()))
                orphans.append(name)
            case .none, .unknown: try stored.setMissed(.unknown)
            }
        }
        state = orphans.isEmpty ? .idle : .logging(orphans: orphans, room: try room())
    }

    private func createTable() throws {
        try store.sqlite.execute(
            """
            CREATE TABLE IF NOT EXISTS changes2 (
                position INTEGER PRIMARY KEY, row INTEGER NOT NULL, collection TEXT NOT NULL, key TEXT NOT NULL,
                placed INTEGER, written INTEGER, UNIQUE (row, collection, key))
            """)
    }

    /// Adds the columns to a table of an earlier version of this library.
    private func addPlaceColumns() throws {
        guard try !hasPlaceColumns() else { return }
        try store.sqlite.execute(
            "ALTER TABLE changes2 ADD COLUMN placed INTEGER; ALTER TABLE changes2 ADD COLUMN written INTEGER")
    }

    private func hasPlaceColumns() throws -> Bool {
        try number("SELECT count(*) FROM pragma_table_info('changes2') WHERE name = 'written'") > 0
    }

    // MARK: Bounds

    /// Returns the number of rows that still fit. Rows are counted only if the positions, which have gaps, aren't
    /// sufficient.
    private func room() throws -> Int {
        let span = try number("SELECT ifnull(max(position) - min(position) + 1, 0) FROM changes2")
        if span < rowsMax { return rowsMax - Int(span) }
        return rowsMax - Int(try number("SELECT count(*) FROM changes2"))
    }

    /// Marks the extensions that have missed the most changes for filling, until the rows fit.
    private func makeRoom() throws {
        guard case .logging(let orphans, _) = state else { return }
        let (names, room, hasReaders) = try giveUpOldest(room: room())
        if hasReaders { return state = .unread }
        let left = orphans.filter(names.contains)
        state = left.isEmpty ? .idle : .logging(orphans: left, room: room)
    }

    /// Returns the extensions that still need the log, the room that it then has, and whether readers of changes
    /// start over.
    private func giveUpOldest(room: Int) throws -> (names: [String], room: Int, hasReaders: Bool) {
        var (room, notes, hasReaders) = (room, try knownNotes(), false)
        while room < 0, let oldest = notes.map(\.after).min() {
            for note in notes where note.after == oldest { hasReaders = try giveUp(note.name) || hasReaders }
            notes.removeAll { $0.after == oldest }
            try trim()
            room = try self.room()
        }
        return (notes.map(\.name), room, hasReaders)
    }

    /// Discards the changes that an extension missed, so that it is filled again. Returns true for a reader
    /// of changes, which starts over.
    private func giveUp(_ name: String) throws -> Bool {
        guard let reader = ChangeReader(storedName: name, store) else {
            try StoredExtension(name, store).setMissed(.unknown)
            return false
        }
        try reader.restart()
        return true
    }

    private func knownNotes() throws -> [(name: String, after: Int64)] {
        try store.config.extensionNames().compactMap { name in
            guard case .known(let after) = try StoredExtension(name, store).missed() else { return nil }
            return (name, after)
        }
    }

    /// Deletes the entries that no extension needs.
    func trim() throws {
        guard try exists() else { return }
        if let oldest = try knownNotes().map(\.after).min() {
            try store.statement("DELETE FROM changes2 WHERE position <= ?1") {
                try $0.bind(oldest, at: 1)
                try $0.run()
            }
        } else {
            try store.statement("DELETE FROM changes2") { try $0.run() }
        }
    }

    // MARK: Reading

    /// Returns the position of the last entry, or 0 if the log is empty.
    func lastPosition() throws -> Int64 {
        try exists() ? number("SELECT ifnull(max(position), 0) FROM changes2") : 0
    }

    /// Returns up to `max` entries after a position, in order.
    func entries(after position: Int64, max: Int) throws -> [Entry] {
        let sql = """
            SELECT position, row, collection, key FROM changes2 WHERE position > ?1 ORDER BY position LIMIT ?2
            """
        return try store.statement(sql) {
            try $0.bind(position, at: 1)
            try $0.bind(Int64(max), at: 2)
            var entries: [Entry] = []
            while try $0.step() {
                let identity = YapDatabaseRowIdentity(
                    rowID: $0.int64(at: 1), collection: $0.text(at: 2), key: $0.text(at: 3))
                entries.append(Entry(position: $0.int64(at: 0), identity: identity))
            }
            return entries
        }
    }

    /// Returns a query for the names of the rows written after position `?1`, without rows that were only moved in an
    /// extension. Nil if there is no log.
    func queryOfWrittenRows() throws -> String? {
        guard try exists() else { return nil }
        let written = try hasPlaceColumns() ? "iif(placed IS position, written, position)" : "position"
        return "SELECT DISTINCT collection, key FROM changes2 WHERE position > ?1 AND \(written) > ?1"
    }

    func exists() throws -> Bool {
        try number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'changes2'") > 0
    }

    /// Returns the number of rows in a collection, counted up to `max`.
    private func count(_ collection: String, max: Int) throws -> Int {
        try store.statement("SELECT count(*) FROM (SELECT 1 FROM database2 WHERE collection = ?1 LIMIT ?2)") {
            try $0.bind(collection, at: 1)
            try $0.bind(Int64(max), at: 2)
            return try $0.step() ? Int($0.int64(at: 0)) : 0
        }
    }

    private func number(_ sql: String) throws -> Int64 {
        try store.statement(sql) { try $0.step() ? $0.int64(at: 0) : 0 }
    }
}

import CloudWire
import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The file of a request history. Nothing depends on it: a damaged file, or one of another version, is
/// replaced by an empty one.
///
/// Not thread-safe. Its owner uses it on one thread at a time.
package struct HistoryFile {
    /// A file of another version is replaced by an empty one.
    static let version: Int64 = 2
    /// Maximum rows of one deletion.
    static let rowsOfDeletion = 2_000
    /// Maximum rows of the sync table.
    static let syncRowsMax: Int64 = 100_000

    let connection: Connection

    /// Opens the file for writing, and creates it if there is no readable one.
    ///
    /// - Throws: `SQLiteError` if no file can be created.
    init(path: String) throws {
        do {
            connection = try Self.open(path)
        } catch let error as SQLiteError where error.isCorrupt || error.isNotADatabase {
            Self.remove(path)
            connection = try Self.open(path)
        }
    }

    /// Opens the file for reading while another connection writes.
    ///
    /// - Throws: `SQLiteError`. `isCannotOpen` if it is missing or of another version.
    package init(reading path: String) throws {
        var options = OpenOptions()
        options.readOnly = true
        connection = try Connection(path: path, options: options)
        guard try Self.version(of: connection) == Self.version else {
            throw SQLiteError(extendedCode: 14, message: "\(path) is of another version")
        }
    }

    /// Removes the file with SQLite's other files.
    static func remove(_ path: String) {
        for ending in ["", "-wal", "-shm", "-journal"] { unlink(path + ending) }
    }

    private static func open(_ path: String) throws -> Connection {
        var options = OpenOptions()
        // A power failure may lose the last second. The file stays consistent.
        options.synchronous = .normal
        options.journalSizeLimitBytes = 4 << 20
        _ = try? DurableFile.createEmpty(path)
        var connection = try Connection(path: path, options: options)
        let found = try version(of: connection)
        if found != 0, found != version {
            try connection.close()
            remove(path)
            _ = try? DurableFile.createEmpty(path)
            connection = try Connection(path: path, options: options)
        }
        if try version(of: connection) == 0 {
            try connection.transaction(.immediate) {
                try connection.execute(tables)
                try connection.execute("PRAGMA user_version=\(version)")
            }
        }
        return connection
    }

    private static func version(of connection: Connection) throws -> Int64 {
        try connection.number("PRAGMA user_version")
    }

    private static let tables = """
        CREATE TABLE requests (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL,
        timeMilliseconds INTEGER NOT NULL, milliseconds INTEGER NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL,
        operation TEXT NOT NULL, container TEXT, environment TEXT, database TEXT, user TEXT, session TEXT, client TEXT,
        address TEXT NOT NULL, status INTEGER NOT NULL, code TEXT, recordErrors TEXT, bytesIn INTEGER NOT NULL,
        bytesOut INTEGER NOT NULL, groupRequests INTEGER NOT NULL, zones TEXT, recordsCount INTEGER NOT NULL,
        detail BLOB, rowsExamined INTEGER, notice INTEGER, administrator TEXT);
        CREATE TABLE runs (start INTEGER PRIMARY KEY, end INTEGER NOT NULL);
        CREATE INDEX requestsByID ON requests (id);
        CREATE INDEX requestsByUser ON requests (user) WHERE user IS NOT NULL;
        CREATE INDEX requestsBySession ON requests (session) WHERE session IS NOT NULL;
        CREATE INDEX requestsByNotice ON requests (notice) WHERE notice IS NOT NULL;
        CREATE TABLE points (span INTEGER NOT NULL, start INTEGER NOT NULL, container TEXT NOT NULL,
        environment TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, requests INTEGER NOT NULL,
        errors INTEGER NOT NULL, bytesIn INTEGER NOT NULL, bytesOut INTEGER NOT NULL, times BLOB NOT NULL,
        PRIMARY KEY (span, start, container, environment, kind, name)) WITHOUT ROWID;
        CREATE TABLE sync (container TEXT NOT NULL, environment TEXT NOT NULL, user TEXT NOT NULL,
        session TEXT NOT NULL, database TEXT NOT NULL, zone TEXT NOT NULL, lastMilliseconds INTEGER NOT NULL,
        client TEXT, address TEXT, errorCode TEXT, errorID TEXT, errorMilliseconds INTEGER,
        fetchMilliseconds INTEGER, fetchedTo INTEGER, fetchCode TEXT, saveMilliseconds INTEGER, saveCount INTEGER,
        saveID TEXT, device TEXT, PRIMARY KEY (container, environment, user, session, database, zone)) WITHOUT ROWID;
        CREATE INDEX syncByTime ON sync (lastMilliseconds);
        CREATE INDEX syncByUser ON sync (container, environment, lastMilliseconds, user) WHERE zone = '';
        """
}

extension HistoryFile {
    /// Writes entries in one transaction, and deletes rows beyond the limits of age and size.
    ///
    /// - Throws: `SQLiteError`; then no entry was written.
    func write(_ entries: [HistoryEntry], _ options: HistoryOptions, nowMilliseconds: Int64) throws {
        try connection.transaction(.immediate) {
            for entry in entries { try insert(entry) }
            // Charts and devices show only requests of apps.
            let ofApps = entries.filter { $0.administrator == nil }
            try addPoints(of: ofApps)
            try addSync(of: ofApps)
            try prune(options, nowMilliseconds: nowMilliseconds)
        }
    }

    private func insert(_ entry: HistoryEntry) throws {
        let sql = """
            INSERT INTO requests (id, timeMilliseconds, milliseconds, method, path, operation, container, environment,
            database, user, session, client, address, status, code, recordErrors, bytesIn, bytesOut, groupRequests,
            zones, recordsCount, detail, rowsExamined, notice, administrator)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(entry.id, at: 1)
            try statement.bind(entry.timeMilliseconds, at: 2)
            try statement.bind(entry.milliseconds, at: 3)
            try statement.bind(entry.method, at: 4)
            try statement.bind(entry.path, at: 5)
            try statement.bind(entry.operation, at: 6)
            if let text = entry.container { try statement.bind(text, at: 7) }
            if let text = entry.environment { try statement.bind(text, at: 8) }
            if let text = entry.database { try statement.bind(text, at: 9) }
            if let text = entry.user { try statement.bind(text, at: 10) }
            if let text = entry.session { try statement.bind(text, at: 11) }
            if let text = entry.client { try statement.bind(text, at: 12) }
            try statement.bind(entry.address, at: 13)
            try statement.bind(entry.status, at: 14)
            if let text = entry.code { try statement.bind(text, at: 15) }
            if let text = Self.text(of: entry.recordErrors) { try statement.bind(text, at: 16) }
            try statement.bind(entry.bytesIn, at: 17)
            try statement.bind(entry.bytesOut, at: 18)
            try statement.bind(entry.groupRequests, at: 19)
            if let text = Self.text(of: entry.zones) { try statement.bind(text, at: 20) }
            try statement.bind(entry.recordsCount, at: 21)
            if let detail = entry.detail { try statement.bind(try detail.json(), at: 22) }
            if let rows = entry.rowsExamined { try statement.bind(rows, at: 23) }
            if let notice = entry.notice { try statement.bind(notice.rawValue, at: 24) }
            if let text = entry.administrator { try statement.bind(text, at: 25) }
            try statement.run()
        }
    }

    /// `CODE=2 OTHER=1 `, with a space after each, or nil if there are none.
    private static func text(of counts: [String: Int]) -> String? {
        guard !counts.isEmpty else { return nil }
        return counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value) " }.joined()
    }

    /// Returns the names with a line feed before and after each, or nil if there are none.
    private static func text(of zones: [String]) -> String? {
        guard !zones.isEmpty else { return nil }
        return "\n"
            + zones.map { String(decoding: $0.utf8.filter { $0 != 10 }, as: UTF8.self) + "\n" }.joined()
    }

    // MARK: Deletion

    private func prune(_ options: HistoryOptions, nowMilliseconds: Int64) throws {
        let oldest = nowMilliseconds - Int64(options.daysMax) * 86_400_000
        try run(
            """
            DELETE FROM requests WHERE number IN (SELECT number FROM requests ORDER BY number LIMIT \
            \(Self.rowsOfDeletion)) AND timeMilliseconds < ?
            """, [oldest], onlyIf: "SELECT timeMilliseconds < ? FROM requests ORDER BY number LIMIT 1")
        for (span, milliseconds) in HistorySpan.lives {
            try run(
                "DELETE FROM points WHERE span = \(span.rawValue) AND start < ?",
                [(nowMilliseconds - milliseconds) / 1_000])
        }
        try run("DELETE FROM sync WHERE lastMilliseconds < ?", [nowMilliseconds - Self.syncMilliseconds])
        let rows = try connection.number("SELECT count(*) FROM sync")
        if rows > Self.syncRowsMax { try deleteOldestSync(rows - Self.syncRowsMax) }
        while try usedBytes > options.bytesMax {
            guard try deleteSome() else { return }
        }
    }

    /// Milliseconds for which the sync state of a device is kept after its last request.
    private static let syncMilliseconds: Int64 = 90 * 86_400_000

    /// Bytes of the pages in use.
    var usedBytes: Int64 {
        get throws {
            let pages =
                try connection.number("PRAGMA page_count") - connection.number("PRAGMA freelist_count")
            return pages * (try connection.number("PRAGMA page_size"))
        }
    }

    /// Deletes the oldest requests first, then seconds, then devices. Returns false if nothing is left.
    private func deleteSome() throws -> Bool {
        let count = Self.rowsOfDeletion
        try run(
            """
            DELETE FROM requests WHERE number IN (SELECT number FROM requests ORDER BY number LIMIT \(count))
            """, [])
        if connection.changesCount > 0 { return true }
        try run(
            """
            DELETE FROM points WHERE span = 1 AND start <= (SELECT max(start) FROM (SELECT start FROM points
            WHERE span = 1 ORDER BY start LIMIT \(count)))
            """, [])
        if connection.changesCount > 0 { return true }
        try deleteOldestSync(Int64(count))
        return connection.changesCount > 0
    }

    private func deleteOldestSync(_ count: Int64) throws {
        try run(
            """
            DELETE FROM sync WHERE (container, environment, user, session, database, zone) IN
            (SELECT container, environment, user, session, database, zone FROM sync ORDER BY lastMilliseconds LIMIT ?)
            """, [count])
    }

    /// Deletes the rows of a removed environment.
    func remove(container: String, environment: String) throws {
        try connection.transaction(.immediate) {
            for table in ["requests", "points", "sync"] {
                let sql = "DELETE FROM \(table) WHERE container = ? AND environment = ?"
                try connection.withStatement(sql) { statement in
                    try statement.bind(container, at: 1)
                    try statement.bind(environment, at: 2)
                    try statement.run()
                }
            }
        }
    }

    /// Returns the environments with rows in tables other than requests.
    func environments() throws -> [(container: String, environment: String)] {
        let sql = """
            SELECT container, environment FROM points UNION SELECT container, environment FROM sync
            """
        return try connection.withStatement(sql) { statement in
            var found: [(String, String)] = []
            while try statement.step() { found.append((statement.text(at: 0), statement.text(at: 1))) }
            return found
        }
    }

    private func run(_ sql: String, _ numbers: [Int64], onlyIf condition: String? = nil) throws {
        if let condition {
            let holds = try connection.withStatement(condition) { statement in
                for (index, number) in zip(Int32(1)..., numbers) { try statement.bind(number, at: index) }
                return try statement.step() && statement.int64(at: 0) != 0
            }
            guard holds else { return }
        }
        try connection.withStatement(sql) { statement in
            for (index, number) in zip(Int32(1)..., numbers) { try statement.bind(number, at: index) }
            try statement.run()
        }
    }
}

extension Connection {
    /// Returns the first number in the result of a statement without parameters, or 0 without a row.
    func number(_ sql: String) throws -> Int64 {
        try withStatement(sql) { try $0.step() ? $0.int64(at: 0) : 0 }
    }
}

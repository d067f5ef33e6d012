import SQLite

/// SQL statements on the tables of one relationship.
///
/// Edges have the names of their rows, and not their rowids: an edge may be older than the row at its end, and a row
/// that is deleted while the relationship isn't registered may leave its rowid to another.
struct RelationshipSQL: Sendable {
    static let columns =
        "name, source_collection, source_key, destination_collection, destination_key, is_file, rules, is_manual"

    private static let hasSource = hasRow("source")
    private static let hasDestination = "(is_file OR \(hasRow("destination")))"
    private static let isSource = "source_key = ?1 AND source_collection = ?2"
    private static let isDestination = "destination_key = ?1 AND destination_collection = ?2 AND is_file = 0"
    private static let unchecked = "is_unchecked = \(EdgeCheck.open.rawValue)"
    private static let awaiting = "is_unchecked = \(EdgeCheck.awaiting.rawValue)"

    /// The edges.
    let edges: String
    /// Pending rules.
    let pending: String
    /// Files to delete.
    let files: String
    /// Edges and rules that were skipped.
    let problems: String
    /// Edges of objects to missing rows.
    let absent: String

    init(tables: [String]) {
        edges = Connection.quoted(tables[0])
        pending = Connection.quoted(tables[1])
        files = Connection.quoted(tables[2])
        problems = Connection.quoted(tables[3])
        absent = Connection.quoted(tables[4])
        self.tables = tables
    }

    private let tables: [String]

    private static func hasRow(_ end: String) -> String {
        "EXISTS (SELECT 1 FROM database2 WHERE collection = \(end)_collection AND key = \(end)_key)"
    }

    // MARK: Tables

    private static let tableColumns = """
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, source_collection TEXT NOT NULL, source_key TEXT NOT NULL,
        destination_collection TEXT NOT NULL, destination_key TEXT NOT NULL, is_file INTEGER NOT NULL,
        rules INTEGER NOT NULL, is_manual INTEGER NOT NULL
        """

    var create: String {
        let columns = Self.tableColumns
        return """
            \(([edges, pending, files, problems, absent]).map { "DROP TABLE IF EXISTS \($0);" }.joined())
            CREATE TABLE \(edges) (\(columns), is_unchecked INTEGER);
            CREATE UNIQUE INDEX \(index("source", of: 0)) ON \(edges) (\(Self.identity));
            CREATE INDEX \(index("destination", of: 0)) ON \(edges)
                (destination_key, destination_collection, is_file, name);
            CREATE INDEX \(index("name", of: 0)) ON \(edges) (name);
            CREATE INDEX \(index("unchecked", of: 0)) ON \(edges) (is_unchecked) WHERE is_unchecked IS NOT NULL;
            CREATE TABLE \(pending) (\(columns), reason INTEGER NOT NULL);
            CREATE INDEX \(index("source", of: 1)) ON \(pending) (source_key, source_collection);
            CREATE INDEX \(index("destination", of: 1)) ON \(pending) (destination_key, destination_collection);
            CREATE TABLE \(files) (id INTEGER PRIMARY KEY AUTOINCREMENT, file TEXT NOT NULL UNIQUE);
            \(upgradeFrom1)
            """
    }

    /// Adds what version 1 lacks. Keeps existing tables, except those of a later version, which a program of version
    /// 1 ignored and made outdated.
    var upgradeFrom1: String {
        """
        DROP TABLE IF EXISTS \(problems);
        DROP TABLE IF EXISTS \(absent);
        ALTER TABLE \(pending) ADD COLUMN is_waiting INTEGER;
        CREATE INDEX \(index("waiting", of: 1)) ON \(pending) (is_waiting);
        ALTER TABLE \(files) ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE \(problems) (id INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, key TEXT NOT NULL,
            message TEXT NOT NULL, UNIQUE (collection, key, message));
        \(upgradeFrom2)
        """
    }

    /// Adds what version 2 lacks. Keeps existing tables.
    var upgradeFrom2: String {
        """
        CREATE TABLE IF NOT EXISTS \(absent) (\(Self.tableColumns));
        CREATE UNIQUE INDEX IF NOT EXISTS \(index("source", of: 4)) ON \(absent) (\(Self.identity));
        CREATE INDEX IF NOT EXISTS \(index("destination", of: 4)) ON \(absent)
            (destination_key, destination_collection)
        """
    }

    private func index(_ name: String, of table: Int) -> String {
        Connection.quoted("\(name)_of_\(tables[table])")
    }

    private static let identity =
        "source_key, source_collection, name, destination_key, destination_collection, is_file, is_manual"

    // MARK: Edges

    /// Adds an edge or sets its rules: values as in `columns`, and whether an end may be missing.
    var set: String {
        """
        INSERT INTO \(edges) (\(Self.columns), is_unchecked) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (\(Self.identity)) DO UPDATE SET rules = excluded.rules WHERE rules != excluded.rules
        """
    }
    /// Deletes a manual edge, and returns its rules.
    var deleteManual: String {
        """
        DELETE FROM \(edges) WHERE name = ?1 AND source_collection = ?2 AND source_key = ?3
        AND destination_collection = ?4 AND destination_key = ?5 AND is_file = ?6 AND is_manual = 1
        RETURNING rules
        """
    }
    var delete: String { "DELETE FROM \(edges) WHERE id = ?1" }
    var deleteAll: String { "DELETE FROM \(edges)" }
    var ofObject: String {
        "SELECT \(Self.columns), id FROM \(edges) WHERE \(Self.isSource) AND is_manual = 0"
    }
    var ofRow: String {
        "SELECT \(Self.columns) FROM \(edges) WHERE (\(Self.isSource)) OR (\(Self.isDestination))"
    }
    /// Selects whether edges, or pending rules, refer to a row that doesn't exist.
    var concernsMissingRow: String {
        """
        SELECT (EXISTS (SELECT 1 FROM \(edges) WHERE \(Self.isSource))
            OR EXISTS (SELECT 1 FROM \(edges) WHERE \(Self.isDestination))
            OR EXISTS (SELECT 1 FROM \(absent) WHERE \(Self.isSource))
            OR EXISTS (SELECT 1 FROM \(pending) WHERE \(Self.isSource))
            OR EXISTS (SELECT 1 FROM \(pending) WHERE \(Self.isDestination)))
            AND NOT EXISTS (SELECT 1 FROM database2 WHERE collection = ?2 AND key = ?1)
        """
    }

    func find(_ what: String, _ filter: RelationshipFilter, order: String = "") -> (
        text: String, values: [YapDatabaseColumnValue]
    ) {
        var (terms, values) = ([String](), [YapDatabaseColumnValue]())
        func add(_ column: String, _ value: YapDatabaseColumnValue) {
            values.append(value)
            terms.append("\(column) = ?\(values.count)")
        }
        if let source = filter.source {
            add("source_key", .text(source.key))
            add("source_collection", .text(source.collection))
        }
        if let destination = filter.destination {
            let (collection, key, isFile) = destination.columns
            add("destination_key", .text(key))
            add("destination_collection", .text(collection))
            add("is_file", .integer(isFile ? 1 : 0))
        }
        if let name = filter.name { add("name", .text(name)) }
        let condition = terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND ")
        return ("SELECT \(what) FROM \(edges)\(condition)\(order)", values)
    }

    // MARK: Deleted rows

    /// Changes of a deleted row's edges, in this order. The values are its key and collection.
    ///
    /// - Parameter mayComeAgain: Whether manual edges without a rule are recorded too, for a row that the transaction
    ///   creates again.
    func removeRow(mayComeAgain: Bool) -> [String] {
        [
            fire(.sourceDeleted, Self.isSource, orManual: mayComeAgain),
            fire(.destinationDeleted, Self.isDestination, orManual: mayComeAgain),
            "DELETE FROM \(edges) WHERE \(Self.isSource)",
            deleteAbsentOfSource,
            keepAbsent(Self.isDestination),
            "DELETE FROM \(edges) WHERE \(Self.isDestination)",
            // Rules for the row itself, also those of an edge to itself.
            """
            DELETE FROM \(pending)
            WHERE (\(Self.isSource) AND reason = \(YapDatabaseEdgeDeletionReason.destinationDeleted.rawValue))
            OR (\(Self.isDestination) AND reason = \(YapDatabaseEdgeDeletionReason.sourceDeleted.rawValue))
            """,
        ]
    }

    /// Changes when all rows are deleted: only files remain to be deleted.
    var removeAllRows: [String] {
        [
            fire(.sourceDeleted, "is_file = 1"), deleteAll, deleteAbsent,
            "DELETE FROM \(pending) WHERE NOT (is_file = 1 AND reason = 1)",
        ]
    }

    /// Marks edges with two existing ends.
    var uncheckComplete: String {
        """
        UPDATE \(edges) SET is_unchecked = NULL
        WHERE \(Self.unchecked) AND \(Self.hasSource) AND \(Self.hasDestination)
        """
    }
    /// Then handles edges with a missing end, in this order.
    var check: [String] {
        [
            fire(.sourceDeleted, "\(Self.unchecked) AND NOT \(Self.hasSource) AND \(Self.hasDestination)"),
            fire(.destinationDeleted, "\(Self.unchecked) AND \(Self.hasSource)"),
        ]
    }
    var uncheckedEdges: String { "SELECT \(Self.columns) FROM \(edges) WHERE \(Self.unchecked)" }
    /// Drops edges without an end, in this order.
    var deleteUnchecked: [String] {
        [
            keepAbsent("\(Self.unchecked) AND \(Self.hasSource)"),
            "DELETE FROM \(edges) WHERE \(Self.unchecked)",
        ]
    }
    /// Keeps edges with a missing end that may still come.
    var awaitUnchecked: String {
        "UPDATE \(edges) SET is_unchecked = \(EdgeCheck.awaiting.rawValue) WHERE \(Self.unchecked)"
    }
    var isAwaiting: String {
        "SELECT 1 FROM \(edges) WHERE \(Self.awaiting) UNION ALL SELECT 1 FROM \(absent) LIMIT 1"
    }
    /// Changes of edges that wait for an inserted row, in this order. The values are its key and collection.
    var arrive: [String] {
        let awaited = [Self.isSource, Self.isDestination].map { end in
            """
            UPDATE \(edges) SET is_unchecked = NULL
            WHERE \(end) AND +\(Self.awaiting) AND \(Self.hasSource) AND \(Self.hasDestination)
            """
        }
        return awaited + [
            // Checked again later, because the destination may be removed unnoticed while the relationship is filled.
            """
            INSERT OR IGNORE INTO \(edges) (\(Self.columns), is_unchecked)
            SELECT \(Self.columns), \(EdgeCheck.open.rawValue) FROM \(absent)
            WHERE \(Self.isDestination) AND \(Self.hasSource) ORDER BY id
            """,
            "DELETE FROM \(absent) WHERE \(Self.isDestination)",
        ]
    }

    private func fire(
        _ reason: YapDatabaseEdgeDeletionReason, _ condition: String, orManual: Bool = false
    ) -> String {
        let rules: YapDatabaseEdgeRules = reason == .sourceDeleted ? .ofDeletedSource : .ofDeletedDestination
        let manual = orManual ? " OR is_manual = 1" : ""
        return """
            INSERT INTO \(pending) (\(Self.columns), reason) SELECT \(Self.columns), \(reason.rawValue)
            FROM \(edges) WHERE \(condition) AND ((rules & \(rules.rawValue)) != 0\(manual)) ORDER BY id
            """
    }

    // MARK: Edges of objects without their destination

    /// Adds an edge: values as in `columns`.
    var addAbsent: String {
        "INSERT OR REPLACE INTO \(absent) (\(Self.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
    }
    /// Selects the edges that come back when a row is inserted. The values are its key and collection.
    var absentOfDestination: String { "SELECT \(Self.columns) FROM \(absent) WHERE \(Self.isDestination)" }
    var absentOfSource: String { "SELECT \(Self.columns) FROM \(absent) WHERE \(Self.isSource)" }
    var deleteAbsentOfSource: String { "DELETE FROM \(absent) WHERE \(Self.isSource)" }
    var deleteAbsent: String { "DELETE FROM \(absent)" }
    var deleteAbsentWithoutSource: String { "DELETE FROM \(absent) WHERE NOT \(Self.hasSource)" }
    /// Disables the rules that another version declared. Those of this version are set when the objects are read.
    var dropRulesOfAbsent: String { "UPDATE \(absent) SET rules = 0 WHERE rules != 0" }

    /// Keeps edges that are deleted next: their object still has them, and they come back with their destination.
    private func keepAbsent(_ condition: String) -> String {
        """
        INSERT OR REPLACE INTO \(absent) (\(Self.columns)) SELECT \(Self.columns) FROM \(edges)
        WHERE \(condition) AND is_manual = 0 ORDER BY id
        """
    }

    // MARK: Rules that are still to fire

    var hasWork: String {
        """
        SELECT EXISTS (SELECT 1 FROM \(edges) WHERE \(Self.unchecked)),
            EXISTS (SELECT 1 FROM \(pending) WHERE is_waiting IS NULL),
            EXISTS (SELECT 1 FROM \(pending) WHERE is_waiting = \(RuleWait.comes.rawValue)),
            EXISTS (SELECT 1 FROM \(pending) WHERE is_waiting = \(RuleWait.isHeld.rawValue))
        """
    }
    /// Adds a rule: values as in `columns`, and the reason.
    var addPending: String {
        "INSERT INTO \(pending) (\(Self.columns), reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    }
    /// Adds a rule that waits until no more rows come.
    var addWaiting: String {
        """
        INSERT INTO \(pending) (\(Self.columns), reason, is_waiting)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, \(RuleWait.comes.rawValue))
        """
    }
    /// Lets rules run that waited for this.
    func wake(_ wait: RuleWait) -> String {
        "UPDATE \(pending) SET is_waiting = NULL WHERE is_waiting = \(wait.rawValue)"
    }
    /// Holds the waiting rules until the fetch continues and ends.
    var hold: String {
        """
        UPDATE \(pending) SET is_waiting = \(RuleWait.isHeld.rawValue)
        WHERE is_waiting = \(RuleWait.comes.rawValue)
        """
    }
    var nextPending: String {
        "SELECT \(Self.columns), reason, id FROM \(pending) WHERE is_waiting IS NULL ORDER BY id LIMIT ?1"
    }
    var deletePending: String { "DELETE FROM \(pending) WHERE is_waiting IS NULL AND id <= ?1" }
    /// Deletes pending rules of objects' edges that another version declared. Keeps files, because nothing else names
    /// them any more.
    var deletePendingOfObjects: String { "DELETE FROM \(pending) WHERE is_manual = 0 AND is_file = 0" }

    // MARK: Files

    var addFile: String { "INSERT OR IGNORE INTO \(files) (file) VALUES (?1)" }
    var keepFile: String { "DELETE FROM \(files) WHERE file = ?1" }
    var filesAfter: String { "SELECT id, file FROM \(files) WHERE id > ?1 ORDER BY id LIMIT ?2" }
    var deleteFile: String { "DELETE FROM \(files) WHERE id = ?1" }
    var countAttempt: String { "UPDATE \(files) SET attempts = attempts + 1 WHERE id = ?1" }
    /// Selects files to give up: after too many attempts, or beyond too many tried files.
    var hopelessFiles: String {
        """
        SELECT id, file FROM \(files) WHERE attempts >= ?1 UNION SELECT id, file FROM
            (SELECT id, file FROM \(files) WHERE attempts > 0 ORDER BY id DESC LIMIT -1 OFFSET ?2)
        ORDER BY 1 LIMIT ?3
        """
    }

    // MARK: Problems

    var addProblem: String {
        "INSERT OR REPLACE INTO \(problems) (collection, key, message) VALUES (?1, ?2, ?3)"
    }
    /// Keeps the newest problems.
    var trimProblems: String {
        """
        DELETE FROM \(problems) WHERE id <= (SELECT id FROM \(problems) ORDER BY id DESC LIMIT 1 OFFSET ?1)
        """
    }
    var newestProblems: String { "SELECT collection, key, message FROM \(problems) ORDER BY id DESC" }
    var deleteProblems: String { "DELETE FROM \(problems)" }

    // MARK: Registration

    /// Deletes the edges of objects, which are then filled again.
    var deleteOfObjects: String { "DELETE FROM \(edges) WHERE is_manual = 0" }
    /// Deletes edges outside the collections in `list`, a list of parameters.
    func deleteOutside(_ list: String) -> [String] {
        [edges, absent].map { table in
            """
            DELETE FROM \(table) WHERE source_collection NOT IN (\(list))
            OR (is_file = 0 AND destination_collection NOT IN (\(list)))
            """
        }
    }
    /// Checks edges that wait for an end again, unless it exists.
    var uncheckAll: String {
        """
        UPDATE \(edges) SET is_unchecked = \(EdgeCheck.open.rawValue)
        WHERE is_unchecked IS NOT \(EdgeCheck.awaiting.rawValue) OR (\(Self.hasSource) AND \(Self.hasDestination))
        """
    }
}

/// Values of an edge's `is_unchecked`. Null if both ends were found.
enum EdgeCheck: Int64 {
    /// An end may be missing, and then counts as deleted.
    case open = 1
    /// A missing end may come later, because the edge came with a page of fetched rows.
    case awaiting = 2
}

/// Values of `is_waiting` of a rule that counts all sources or destinations. Null if it can run.
enum RuleWait: Int64 {
    /// More pages are to come.
    case comes = 1
    /// The fetch of those pages is paused, because another user is signed in.
    case isHeld = 2
}

extension YapDatabaseEdgeDestination {
    /// Its columns in the tables.
    var columns: (collection: String, key: String, isFile: Bool) {
        switch self {
        case .row(let name): (name.collection, name.key, false)
        case .file(let file): ("", file, true)
        }
    }
}

extension YapDatabaseEdge {
    /// Its columns in the tables.
    var values: [YapDatabaseColumnValue] {
        let (collection, key, isFile) = destination.columns
        return [
            .text(name), .text(source.collection), .text(source.key), .text(collection), .text(key),
            .integer(isFile ? 1 : 0), .integer(rules.rawValue), .integer(isManual ? 1 : 0),
        ]
    }

    /// Reads the edge of a statement that selects `RelationshipSQL.columns` first.
    init(_ statement: borrowing Statement) {
        let destination = YapCollectionKey(collection: statement.text(at: 3), key: statement.text(at: 4))
        self.init(
            statement.text(at: 0),
            from: YapCollectionKey(collection: statement.text(at: 1), key: statement.text(at: 2)),
            to: statement.int64(at: 5) != 0 ? .file(destination.key) : .row(destination),
            rules: YapDatabaseEdgeRules(rawValue: statement.int64(at: 6)))
        isManual = statement.int64(at: 7) != 0
    }
}

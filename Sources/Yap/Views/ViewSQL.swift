import SQLite

/// The tables of one view, and the SQL statements on them.
struct ViewSQL: Sendable {
    let create: String
    let deleteAll: String

    // The entries: one for each row of the view. `row` repeats the rowid, because SQLite compares (sort, row) by the
    // index only if both are columns of their own.
    let find: String
    let insert: String
    let update: String
    let delete: String
    /// Entries from one on, in order, without their rows.
    let entries: String
    /// The last entry of a group.
    let last: String
    /// The entries before and after one of a group.
    let entryBefore: String
    let entryAfter: String
    /// Entries of rows that no longer exist.
    let strays: String
    /// The rowids of all entries.
    let rowIDs: String
    /// Number of entries between two of a group.
    let countBetween: String
    /// Rowid, key and data of the rows from an entry on, in order.
    let rows: String

    // The groups.
    let groups: String
    let insertGroup: String
    let count: String
    let setCount: String
    let countOfGroup: String
    let deleteGroup: String

    // The pages.
    let pages: String
    let pageCovering: String
    let pageAfter: String
    let pageBefore: String
    let insertPage: String
    let setPageCount: String
    let deletePage: String
    let deletePages: String

    /// The query of a view of search results.
    let queryTable: String

    static func queryTableName(_ name: String) -> String { "viewQuery_\(name)" }

    static func tableNames(_ name: String) -> [String] {
        ["view_\(name)", "viewGroups_\(name)", "viewPages_\(name)"]
    }

    /// - Parameter storesKeys: Whether entries have their rows' keys.
    init(name: String, storesKeys: Bool = false) {
        queryTable = Self.queryTableName(name)
        let names = Self.tableNames(name)
        let (entry, group, page) = (
            Connection.quoted(names[0]), Connection.quoted(names[1]), Connection.quoted(names[2])
        )
        create =
            names.map { "DROP TABLE IF EXISTS \(Connection.quoted($0));" }.joined() + """
                CREATE TABLE \(entry) (rowid INTEGER PRIMARY KEY, grp INTEGER NOT NULL, sort BLOB NOT NULL,
                    row INTEGER NOT NULL\(storesKeys ? ", key TEXT" : ""));
                CREATE INDEX \(Connection.quoted("order_of_" + names[0])) ON \(entry) (grp, sort, row);
                CREATE TABLE \(group) (id INTEGER PRIMARY KEY, value BLOB NOT NULL, count INTEGER NOT NULL);
                CREATE TABLE \(page) (grp INTEGER NOT NULL, sort BLOB NOT NULL, row INTEGER NOT NULL,
                    count INTEGER NOT NULL, PRIMARY KEY (grp, sort, row)) WITHOUT ROWID;
                """
        deleteAll = "DELETE FROM \(entry); DELETE FROM \(group); DELETE FROM \(page)"

        find = "SELECT grp, sort FROM \(entry) WHERE rowid = ?1"
        insert =
            storesKeys
            ? "INSERT INTO \(entry) (rowid, grp, sort, row, key) "
                + "SELECT ?1, ?2, ?3, ?1, key FROM database2 WHERE rowid = ?1"
            : "INSERT INTO \(entry) (rowid, grp, sort, row) VALUES (?1, ?2, ?3, ?1) ON CONFLICT DO NOTHING"
        strays =
            "SELECT v.rowid FROM \(entry) AS v WHERE NOT EXISTS (SELECT 1 FROM database2 AS d "
            + "WHERE d.rowid = v.rowid AND d.collection = ?1 AND d.key = \(storesKeys ? "v.key" : "d.key"))"
        rowIDs = "SELECT rowid FROM \(entry) ORDER BY rowid"
        last =
            "SELECT sort, row FROM \(entry) WHERE grp = ?1 ORDER BY sort DESC, row DESC LIMIT 1"
        entryBefore =
            "SELECT sort, row FROM \(entry) WHERE grp = ?1 AND (sort, row) < (?2, ?3) "
            + "ORDER BY sort DESC, row DESC LIMIT 1"
        entryAfter =
            "SELECT sort, row FROM \(entry) WHERE grp = ?1 AND (sort, row) > (?2, ?3) "
            + "ORDER BY sort, row LIMIT 1"
        update = "UPDATE \(entry) SET grp = ?2, sort = ?3 WHERE rowid = ?1"
        delete = "DELETE FROM \(entry) WHERE rowid = ?1"
        let from = "WHERE v.grp = ?1 AND (v.sort, v.row) >= (?2, ?3)"
        let inOrder = "ORDER BY v.sort, v.row LIMIT ?4 OFFSET ?5"
        entries = "SELECT v.sort, v.row FROM \(entry) AS v \(from) \(inOrder)"
        countBetween =
            "SELECT count(*) FROM \(entry) AS v \(from) AND (v.sort, v.row) < (?4, ?5)"
        // The offset skips entries, and not rows.
        rows =
            "SELECT d.rowid, d.key, d.data FROM (SELECT v.row FROM \(entry) AS v \(from) \(inOrder)) AS v "
            + "CROSS JOIN database2 AS d ON d.rowid = v.row"

        groups = "SELECT id, value, count FROM \(group)"
        insertGroup = "INSERT INTO \(group) (id, value, count) VALUES (?1, ?2, 0)"
        count = "SELECT count FROM \(group) WHERE id = ?1"
        setCount = "UPDATE \(group) SET count = ?2 WHERE id = ?1"
        countOfGroup = "SELECT count(*) FROM \(entry) WHERE grp = ?1"
        deleteGroup = "DELETE FROM \(group) WHERE id = ?1"

        let key = "grp = ?1 AND sort = ?2 AND row = ?3"
        pages = "SELECT sort, row, count FROM \(page) WHERE grp = ?1 ORDER BY sort, row"
        pageCovering =
            "SELECT sort, row, count FROM \(page) WHERE grp = ?1 AND (sort, row) <= (?2, ?3) "
            + "ORDER BY sort DESC, row DESC LIMIT 1"
        pageAfter =
            "SELECT sort, row, count FROM \(page) WHERE grp = ?1 AND (sort, row) > (?2, ?3) "
            + "ORDER BY sort, row LIMIT 1"
        pageBefore =
            "SELECT sort, row, count FROM \(page) WHERE grp = ?1 AND (sort, row) < (?2, ?3) "
            + "ORDER BY sort DESC, row DESC LIMIT 1"
        insertPage = "INSERT INTO \(page) (grp, sort, row, count) VALUES (?1, ?2, ?3, ?4)"
        setPageCount = "UPDATE \(page) SET count = ?4 WHERE \(key)"
        deletePage = "DELETE FROM \(page) WHERE \(key)"
        deletePages = "DELETE FROM \(page) WHERE grp = ?1"
    }
}

import SQLite

/// SQL statements on the two tables of an undo log.
///
/// A group is on one of two sides: groups to undo (0), and groups to redo (1). The one with the highest number on a
/// side is next. A row without an object doesn't exist.
struct UndoSQL: Sendable {
    /// Quoted names of the tables.
    private let groups, rows: String

    let create: String
    let recordAbsent, record, sizeOfAll, recordAll: String
    let sum, leftSize, setLeft, deleteUnchanged, deleteUnheard: String
    /// Rows of a group that have neither its value after nor its value before.
    let changed: String
    /// Rows of a group that don't have its value before.
    let unlike: String
    /// Rows that recording `?1` has recorded as removed, and that group `?2`, which is being undone, doesn't remove.
    let removedAlong: String
    /// Rows that exist before a group and don't exist now.
    let missing: String

    init(tables: [String], collections: [String]?) {
        let (groups, rows) = (Connection.quoted(tables[0]), Connection.quoted(tables[1]))
        (self.groups, self.rows) = (groups, rows)
        let bytes =
            "length(CAST(collection AS BLOB)) + length(CAST(key AS BLOB)) + ifnull(length(object), 0) "
            + "+ ifnull(length(metadata), 0) + ifnull(length(left_object), 0) + ifnull(length(left_metadata), 0)"
        let list = (0..<(collections ?? []).count).map { "?\($0 + 2)" }.joined(separator: ", ")
        let heard = collections == nil ? "" : "WHERE collection IN (\(list))"
        let now =
            "\(rows) AS r LEFT JOIN database2 AS d ON d.collection = r.collection AND d.key = r.key "
            + "WHERE r.group_id = ?1"
        let isUnlike = "(d.data IS NOT r.object OR d.metadata IS NOT r.metadata)"
        create = """
            DROP TABLE IF EXISTS \(groups);
            DROP TABLE IF EXISTS \(rows);
            CREATE TABLE \(groups) (id INTEGER PRIMARY KEY, side INTEGER NOT NULL, name TEXT NOT NULL,
                rows INTEGER NOT NULL, bytes INTEGER NOT NULL);
            CREATE TABLE \(rows) (position INTEGER PRIMARY KEY, group_id INTEGER NOT NULL, collection TEXT NOT NULL,
                key TEXT NOT NULL, object BLOB, metadata BLOB, left_object BLOB, left_metadata BLOB);
            CREATE UNIQUE INDEX \(Connection.quoted("name_of_" + tables[1])) ON \(rows) (group_id, collection, key);
            """
        recordAbsent = """
            INSERT OR IGNORE INTO \(rows) (group_id, collection, key) VALUES (?1, ?2, ?3) RETURNING \(bytes)
            """
        let columns = "(group_id, collection, key, object, metadata)"
        record = """
            INSERT OR IGNORE INTO \(rows) \(columns) SELECT ?1, collection, key, data, metadata FROM database2
            WHERE rowid = ?2 RETURNING \(bytes)
            """
        sizeOfAll = """
            SELECT count(*), ifnull(sum(bytes), 0) FROM (SELECT length(data) + ifnull(length(metadata), 0) AS bytes
            FROM database2 \(heard) LIMIT ?1)
            """
        recordAll = """
            INSERT OR IGNORE INTO \(rows) \(columns) SELECT ?1, collection, key, data, metadata FROM database2
            \(heard) ORDER BY rowid
            """
        sum = "SELECT count(*), ifnull(sum(\(bytes)), 0) FROM \(rows) WHERE group_id = ?1"
        leftSize = """
            SELECT ifnull(sum(ifnull(length(d.data), 0) + ifnull(length(d.metadata), 0)), 0) FROM \(now)
            """
        setLeft = """
            UPDATE \(rows) SET (left_object, left_metadata) = (SELECT data, metadata FROM database2
            WHERE collection = \(rows).collection AND key = \(rows).key) WHERE group_id = ?1
            """
        deleteUnchanged = """
            DELETE FROM \(rows) WHERE group_id = ?1 AND object IS left_object AND metadata IS left_metadata
            """
        changed = """
            SELECT r.position FROM \(now) AND (d.data IS NOT r.left_object OR d.metadata IS NOT r.left_metadata)
            AND \(isUnlike) ORDER BY r.position
            """
        unlike = "SELECT r.position FROM \(now) AND \(isUnlike) ORDER BY r.position"
        removedAlong = """
            SELECT n.collection, n.key, 0 FROM \(rows) AS n LEFT JOIN \(rows) AS o
            ON o.group_id = ?2 AND o.collection = n.collection AND o.key = n.key
            WHERE n.position > ?3 AND n.group_id = ?1 AND n.object NOT NULL
            AND (o.position IS NULL OR o.object NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM database2 AS d WHERE d.collection = n.collection AND d.key = n.key)
            ORDER BY n.position LIMIT \(YapDatabaseUndoConflict.rowsMax)
            """
        missing = """
            SELECT r.collection, r.key, r.position FROM \(now) AND r.object NOT NULL AND d.rowid IS NULL
            ORDER BY r.position
            """
        let names = (0..<(collections ?? []).count).map { "?\($0 + 1)" }.joined(separator: ", ")
        deleteUnheard =
            "DELETE FROM \(groups) WHERE id IN (SELECT group_id FROM \(rows) WHERE collection NOT IN (\(names)))"
    }

    // MARK: Groups

    var nextGroup: String { "SELECT ifnull(max(id), 0) + 1 FROM \(groups)" }
    var insertGroup: String {
        "INSERT INTO \(groups) (id, side, name, rows, bytes) VALUES (?1, ?2, ?3, ?4, ?5)"
    }
    var groupsOfSide: String {
        "SELECT id, name, rows, bytes FROM \(groups) WHERE side = ?1 ORDER BY id DESC LIMIT ?2"
    }
    var total: String { "SELECT count(*), ifnull(sum(bytes), 0) FROM \(groups)" }
    /// The group to delete first, except `?1`.
    var oldest: String { "SELECT id FROM \(groups) WHERE id <> ?1 ORDER BY side, id LIMIT 1" }
    var deleteGroup: String { "DELETE FROM \(groups) WHERE id = ?1" }
    var deleteSide: String { "DELETE FROM \(groups) WHERE side = ?1" }
    var deleteAll: String { "DELETE FROM \(groups)" }

    // MARK: Rows

    var row: String {
        "SELECT collection, key, object, metadata, left_object, left_metadata FROM \(rows) WHERE position = ?1"
    }
    var absentRows: String {
        "SELECT position FROM \(rows) WHERE group_id = ?1 AND object IS NULL ORDER BY position"
    }
    var lastPosition: String { "SELECT ifnull(max(position), 0) FROM \(rows)" }
    var setRow: String { "UPDATE \(rows) SET object = ?2, metadata = ?3 WHERE position = ?1" }
    var deleteRow: String { "DELETE FROM \(rows) WHERE position = ?1" }
    var deleteRowsOfGroup: String { "DELETE FROM \(rows) WHERE group_id = ?1" }
    var deleteRowsOfSide: String {
        "DELETE FROM \(rows) WHERE group_id IN (SELECT id FROM \(groups) WHERE side = ?1)"
    }
    var deleteAllRows: String { "DELETE FROM \(rows)" }
    var deleteRowsOfNoGroup: String {
        "DELETE FROM \(rows) WHERE group_id NOT IN (SELECT id FROM \(groups))"
    }
}

/// Side of a group: to undo or to redo.
enum UndoSide: Int64 {
    case undo = 0
    case redo = 1

    var other: UndoSide { self == .undo ? .redo : .undo }
}

import SQLite

/// SQL statements on the table of actions.
struct ActionSQL: Sendable {
    let create, ofRow, insert, update, delete, deleteRow, deleteAll: String
    /// Sets the next start of a due action, and returns its date.
    let start: String
    /// Corrects next starts that were set by a clock that was ahead.
    let correct, hasIncorrect: String
    /// Actions in the order of their next starts: all, by need of the network, and those of one row.
    let inOrder, inOrderByNetwork, inOrderOfRow: String
    let count: String

    init(table name: String) {
        let table = Connection.quoted(name)
        create = """
            DROP TABLE IF EXISTS \(table);
            CREATE TABLE \(table) (row INTEGER NOT NULL, identifier TEXT NOT NULL, date INTEGER NOT NULL,
                start INTEGER NOT NULL, retry INTEGER NOT NULL, network INTEGER NOT NULL,
                PRIMARY KEY (row, identifier)) WITHOUT ROWID;
            CREATE INDEX \(Connection.quoted("start_of_" + name)) ON \(table) (start);
            CREATE INDEX \(Connection.quoted("network_of_" + name)) ON \(table) (network, start);
            """
        ofRow = "SELECT identifier, date, retry, network FROM \(table) WHERE row = ?1"
        insert =
            "INSERT INTO \(table) (row, identifier, date, start, retry, network) VALUES (?1, ?2, ?3, ?3, ?4, ?5)"
        update =
            "UPDATE \(table) SET start = iif(date = ?3, start, ?3), date = ?3, retry = ?4, network = ?5 "
            + "WHERE row = ?1 AND identifier = ?2"
        delete = "DELETE FROM \(table) WHERE row = ?1 AND identifier = ?2"
        deleteRow = "DELETE FROM \(table) WHERE row = ?1"
        deleteAll = "DELETE FROM \(table)"
        start =
            "UPDATE \(table) SET start = ?3 + retry WHERE row = ?1 AND identifier = ?2 AND start <= ?3 RETURNING date"
        let isIncorrect = "start > ?1 + retry AND start <> date"
        correct = "UPDATE \(table) SET start = date WHERE \(isIncorrect)"
        hasIncorrect = "SELECT 1 FROM \(table) WHERE \(isIncorrect) LIMIT 1"
        let from =
            "SELECT a.row, d.key, a.identifier, a.date, a.start, a.network FROM \(table) AS a "
            + "CROSS JOIN database2 AS d ON d.rowid = a.row"
        let order = "ORDER BY a.start, a.row, a.identifier LIMIT ?1"
        inOrder = "\(from) \(order)"
        inOrderByNetwork = "\(from) WHERE a.network = ?2 \(order)"
        inOrderOfRow = "\(from) WHERE a.row = ?2 \(order)"
        count = "SELECT count(*) FROM \(table)"
    }
}

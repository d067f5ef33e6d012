import SQLite

/// SQL statements on the tables of one vector index.
struct VectorSQL: Sendable {
    /// Name of the table of blocks, not quoted.
    let blockTable: String
    /// Name of the column with a block's bytes.
    static let content = "content"

    let create: String
    let deleteAll: [String]
    let lastBlock: String
    let insertBlock: String
    let deleteBlock: String
    /// Returns all blocks in order.
    let blocks: String
    let block: String
    let place: String
    /// Returns the place of a row by its collection and key.
    let placeOfKey: String
    let insertPlace: String
    let updatePlace: String
    let deletePlace: String
    /// Returns a row of the database by its rowid.
    let row = "SELECT rowid, key, data FROM database2 WHERE rowid = ?1"
    /// The same with its metadata.
    let rowWithMetadata = "SELECT rowid, key, data, metadata FROM database2 WHERE rowid = ?1"
    /// Returns the key of a row by its rowid.
    let key = "SELECT rowid, key FROM database2 WHERE rowid = ?1"
    /// The same with its metadata.
    let metadata = "SELECT rowid, key, metadata FROM database2 WHERE rowid = ?1"

    init(blocks table: String, places: String) {
        blockTable = table
        let (table, places) = (Connection.quoted(table), Connection.quoted(places))
        create = """
            DROP TABLE IF EXISTS \(table); DROP TABLE IF EXISTS \(places);
            CREATE TABLE \(table) (id INTEGER PRIMARY KEY, content BLOB NOT NULL);
            CREATE TABLE \(places) (rowid INTEGER PRIMARY KEY, place INTEGER NOT NULL);
            """
        deleteAll = ["DELETE FROM \(table)", "DELETE FROM \(places)"]
        lastBlock = "SELECT max(id) FROM \(table)"
        insertBlock = "INSERT INTO \(table) (id, content) VALUES (?1, zeroblob(?2))"
        deleteBlock = "DELETE FROM \(table) WHERE id = ?1"
        blocks = "SELECT id, content FROM \(table) ORDER BY id"
        block = "SELECT id, content FROM \(table) WHERE id = ?1"
        place = "SELECT place FROM \(places) WHERE rowid = ?1"
        placeOfKey = """
            SELECT p.place FROM database2 AS d CROSS JOIN \(places) AS p ON p.rowid = d.rowid
            WHERE d.collection = ?1 AND d.key = ?2
            """
        insertPlace = "INSERT INTO \(places) (rowid, place) VALUES (?1, ?2)"
        updatePlace = "UPDATE \(places) SET place = ?2 WHERE rowid = ?1"
        deletePlace = "DELETE FROM \(places) WHERE rowid = ?1"
    }
}

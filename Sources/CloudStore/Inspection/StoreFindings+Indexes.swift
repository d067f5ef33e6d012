import SQLite

/// Checks the redundant rows of the index tables against each other. Only the service knows which entries a record
/// should have.
extension StoreFile {
    static let indexQuestions: [(check: String, what: String, sql: String)] = [
        (
            "indexes", "index rows of records that are not there",
            """
            SELECT count(*) FROM indexedRecords AS i LEFT JOIN indexParts AS p ON p.id = i.part LEFT JOIN records AS r
            ON r.scope = p.scope AND r.owner = p.owner AND r.zone = p.zone AND r.name = i.name AND r.type = p.type
            WHERE r.name IS NULL OR r.isDeleted = 1
            """
        ),
        (
            "indexes", "records that no query of their type finds",
            """
            SELECT count(*) FROM records AS r LEFT JOIN indexParts AS p
            ON p.scope = r.scope AND p.owner = r.owner AND p.zone = r.zone AND p.type = r.type
            LEFT JOIN indexedRecords AS i ON i.part = p.id AND i.name = r.name
            WHERE r.isDeleted = 0 AND i.name IS NULL
            """
        ),
    ]

    /// Compares the entries in each record's row with the stored entries.
    static func indexFindings(_ connection: Connection) throws -> [StoreFinding] {
        let find = """
            SELECT 1 FROM indexEntries WHERE part = ?1 AND field = ?2 AND kind = ?3 AND value = ?4 AND name = ?5
            """
        var (listed, found, unreadable) = (Int64(0), Int64(0), 0)
        try connection.withStatement("SELECT part, name, entries FROM indexedRecords") { row in
            while try row.step() {
                guard let entries = IndexEntryBytes.decode(row.bytes(at: 2)) else {
                    unreadable += 1
                    continue
                }
                for entry in entries {
                    listed += 1
                    try connection.withStatement(find) { statement in
                        try statement.bind(row.int64(at: 0), entry.field, entry.kind.rawValue, at: 1)
                        try statement.bind(entry.value, row.text(at: 1), at: 4)
                        if try statement.step() { found += 1 }
                    }
                }
            }
        }
        let all = try connection.withStatement("SELECT count(*) FROM indexEntries") { statement in
            try statement.step() ? statement.int64(at: 0) : 0
        }
        let counts = [
            (Int64(unreadable), "lists of a record's index entries that can't be read"),
            (listed - found, "index entries that are missing"),
            (all - found, "index entries that no record's list has"),
        ]
        return counts.filter { $0.0 > 0 }.map { StoreFinding(check: "indexes", what: "\($0.0) \($0.1)") }
    }
}

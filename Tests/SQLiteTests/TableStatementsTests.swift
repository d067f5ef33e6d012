import SQLiteTestSupport
import Testing

@testable import SQLite

struct TableStatementsTests {
    let folder: TemporaryFolder
    let connection: Connection
    let statements: TableStatements

    init() throws {
        folder = try TemporaryFolder()
        connection = try Connection(path: folder.file("test.sqlite"))
        try connection.execute(
            """
            CREATE TABLE secret (word TEXT); INSERT INTO secret VALUES ('x');
            CREATE TABLE rows (id INTEGER PRIMARY KEY, word TEXT); INSERT INTO rows VALUES (1, 'milk');
            """)
        statements = TableStatements(connection, owned: ["own", "Text"], readable: ["rows"])
    }

    private func refusal(_ sql: String) -> String? {
        do {
            try statements.execute(sql)
            return nil
        } catch {
            guard let error = error as? SQLiteError, error.isRefused else { return "not refused: \(error)" }
            return error.message
        }
    }

    @Test func ownTablesAreCreatedWrittenReadAndDropped() throws {
        try statements.execute(
            """
            CREATE TABLE own (id INTEGER PRIMARY KEY, word TEXT); CREATE INDEX own_word ON own (word);
            ALTER TABLE own ADD COLUMN n INTEGER;
            INSERT INTO own SELECT id, word, 1 FROM rows; UPDATE own SET n = 2;
            """)
        let sql = "SELECT own.word || n FROM own JOIN rows USING (id) WHERE lower(own.word) = ?1"
        for _ in 1...2 {
            let text = try statements.withStatement(sql) { statement in
                try statement.bind("milk", at: 1)
                return try statement.step() ? statement.text(at: 0) : nil
            }
            #expect(text == "milk2")
        }
        try statements.execute("DROP INDEX own_word; DROP TABLE own")
        #expect(throws: SQLiteError.self) { try statements.execute("SELECT * FROM own") }
    }

    @Test func virtualTablesAndThoseBeneathThemAreTheOwners() throws {
        try statements.execute(
            "CREATE VIRTUAL TABLE text USING fts5(word); INSERT INTO text VALUES ('milk and eggs')")
        let count = try statements.withStatement("SELECT count(*) FROM text WHERE text MATCH 'eggs'") {
            try $0.step() ? $0.int64(at: 0) : -1
        }
        #expect(count == 1)
        try statements.execute("DROP TABLE text")
        try statements.execute(
            "CREATE VIRTUAL TABLE own USING rtree(id, x0, x1); INSERT INTO own VALUES (1, 2, 3)")
    }

    /// SQLite opens a savepoint for a statement that inserts several rows, and the full-text table then writes the
    /// words that it has in memory, with statements that it prepares at that moment.
    @Test func theStatementOfOneOwnerLetsTheFullTextTableOfAnotherWriteItsWords() throws {
        try statements.execute("CREATE VIRTUAL TABLE text USING fts5(word)")
        let others = TableStatements(connection, owned: ["others"], readable: ["rows"])
        try others.execute("CREATE TABLE others (id INTEGER PRIMARY KEY, word TEXT UNIQUE)")
        let insert = "INSERT INTO others (word) SELECT word FROM rows UNION SELECT word || '2' FROM rows"
        for isPrepared in [false, true] {
            try connection.transaction(.immediate) {
                try statements.execute("INSERT INTO text VALUES ('milk and eggs')")
                if isPrepared {
                    try others.withStatement(insert) { statement in
                        try others.limited { while try statement.step() {} }
                    }
                } else {
                    try others.execute(insert)
                }
                try others.execute("DELETE FROM others WHERE id > 0")
            }
        }
        let count = try statements.withStatement("SELECT count(*) FROM text WHERE text MATCH 'eggs'") {
            try $0.step() ? $0.int64(at: 0) : -1
        }
        #expect(count == 2)
        #expect(throws: SQLiteError.self) { try others.execute("DELETE FROM text_data") }
        #expect(throws: SQLiteError.self) { try others.execute("SELECT id FROM text_data") }
    }

    @Test func whatAVirtualTableReadsIsLimitedToo() throws {
        try statements.execute("CREATE VIRTUAL TABLE text USING fts5(word, content='secret')")
        let error = #expect(throws: SQLiteError.self) {
            try statements.withStatement("SELECT word FROM text") { statement in
                try statements.limited { _ = try statement.step() }
            }
        }
        #expect(error?.message.hasSuffix("read the table secret") == true, "\(String(describing: error))")
    }

    @Test func theWordsOfAnotherOwnersFullTextTableCannotBeShown() throws {
        try statements.execute(
            "CREATE VIRTUAL TABLE text USING fts5(word); INSERT INTO text VALUES ('milk and eggs')")
        let others = TableStatements(connection, owned: ["own"], readable: ["rows"])
        for (table, column) in [("text_data", "block"), ("text_content", "c0"), ("text_config", "v")] {
            try others.execute(
                """
                DROP TABLE IF EXISTS own;
                CREATE VIRTUAL TABLE own USING fts5(\(column), content='\(table)', content_rowid='id')
                """)
            #expect(throws: SQLiteError.self) {
                try others.withStatement("SELECT \(column) FROM own") { statement in
                    try others.limited { while try statement.step() {} }
                }
            }
        }
    }

    @Test(arguments: [
        "SELECT value FROM json_each('[1, 2]')",
        "WITH x AS (SELECT id FROM rows LIMIT 1) SELECT count(id) FROM x",
        "WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LIMIT 3) SELECT count(n) FROM x",
        "CREATE TABLE own (id INTEGER PRIMARY KEY AUTOINCREMENT)",
    ])
    func ordinaryStatementsAreAllowed(sql: String) throws {
        #expect(throws: Never.self) { try statements.execute(sql) }
    }

    @Test func autoincrementNumbersAreWrittenBySQLiteAlone() throws {
        try connection.execute(
            "CREATE TABLE other (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO other VALUES (7)")
        try statements.execute(
            """
            CREATE TABLE own (id INTEGER PRIMARY KEY AUTOINCREMENT, word TEXT); -- with a number
            INSERT INTO own (word) VALUES ('milk'); INSERT INTO own (word) VALUES ('eggs');
            """)
        let words = "write the table sqlite_sequence"
        for sql in [
            "UPDATE sqlite_sequence SET seq = 1", "DELETE FROM SQLITE_SEQUENCE",
            "INSERT INTO sqlite_sequence VALUES ('x', 1)",
            "ALTER TABLE own ADD COLUMN n; DELETE FROM sqlite_sequence",
        ] {
            #expect(refusal(sql) == "this owner of tables may not \(words)")
        }
        func numbers() throws -> [String] {
            try connection.withStatement("SELECT name || seq FROM sqlite_sequence ORDER BY 1") { statement in
                var numbers: [String] = []
                while try statement.step() { numbers.append(statement.text(at: 0)) }
                return numbers
            }
        }
        #expect(try numbers() == ["other7", "own2"])
        #expect(
            refusal("DROP TABLE own; DELETE FROM sqlite_sequence") == "this owner of tables may not \(words)")
        #expect(try numbers() == ["other7"])
    }

    @Test(arguments: [
        ("SELECT word FROM secret", "read the table secret"),
        ("SELECT id FROM rows WHERE word IN (SELECT word FROM secret)", "read the table secret"),
        ("WITH x AS (SELECT word FROM secret) SELECT * FROM x", "read the table secret"),
        ("SELECT 1 WHERE 1 IN (SELECT 1 FROM secret)", "read the table secret"),
        ("SELECT count(*) FROM secret", "read the table secret"),
        ("DELETE FROM rows", "write the table rows"),
        ("UPDATE rows SET word = ''", "write the table rows"),
        ("INSERT INTO secret VALUES ('y')", "write the table secret"),
        ("DROP TABLE secret", "drop the table secret"),
        ("CREATE TABLE other (x)", "create the table other"),
        ("CREATE INDEX i ON rows (word)", "change the indexes of the table rows"),
        ("ALTER TABLE rows RENAME TO own", "alter the table rows"),
        ("PRAGMA writable_schema = 1", "use the pragma writable_schema"),
        ("COMMIT", "begin or end transactions"), ("SAVEPOINT x", "begin or end transactions"),
        ("SELECT load_extension('x')", "call load_extension"),
    ])
    func whatIsNotTheOwnersIsRefused(sql: String, action: String) throws {
        #expect(refusal(sql) == "this owner of tables may not \(action)")
        // The rest of the connection has no such limit, before and after.
        #expect(
            try connection.withStatement("SELECT count(*) FROM secret") {
                try $0.step() ? $0.int64(at: 0) : 0
            } == 1)
    }

    @Test(arguments: [
        "ATTACH ':memory:' AS other", "CREATE TEMP TABLE own (x)", "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER DELETE ON rows BEGIN DELETE FROM secret; END", "VACUUM INTO 'copy'",
    ])
    func noStatementReachesAroundTheTables(sql: String) {
        #expect(refusal(sql)?.hasPrefix("this owner of tables may not") == true)
    }
}

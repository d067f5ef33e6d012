import SQLite
import SQLiteTestSupport
import Testing

@Suite struct TransactionTests {
    private struct Refusal: Error {}

    let connection: Connection

    init() throws {
        connection = try Connection(path: ":memory:")
        try connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY)")
    }

    private var items: [Int64] {
        get throws { try connection.integers("SELECT id FROM items") }
    }

    @Test func aTransactionThatThrowsLeavesNoTrace() throws {
        #expect(throws: Refusal.self) {
            try connection.transaction(.immediate) {
                try connection.execute("INSERT INTO items VALUES (1)")
                throw Refusal()
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try items == [])
    }

    @Test func aTransactionThatReturnsIsCommitted() throws {
        let result = try connection.transaction(.immediate) {
            try connection.execute("INSERT INTO items VALUES (1)")
            #expect(connection.isInTransaction)
            return "done"
        }
        #expect(result == "done")
        #expect(!connection.isInTransaction)
        #expect(try items == [1])
    }

    @Test func aSavepointThatThrowsTakesOnlyItsOwnChangesBack() throws {
        try connection.transaction(.immediate) {
            try connection.execute("INSERT INTO items VALUES (1)")
            #expect(throws: Refusal.self) {
                try connection.savepoint("a \"member\"") {
                    try connection.execute("INSERT INTO items VALUES (2)")
                    throw Refusal()
                }
            }
            try connection.savepoint("a \"member\"") {
                try connection.execute("INSERT INTO items VALUES (3)")
            }
        }
        #expect(try items == [1, 3])
    }

    @Test func savepointsNest() throws {
        try connection.savepoint("one") {
            try connection.execute("INSERT INTO items VALUES (1)")
            try? connection.savepoint("one") {
                try connection.execute("INSERT INTO items VALUES (2)")
                throw Refusal()
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try items == [1])
    }

    /// A quote and a combining accent are one Character.
    @Test(arguments: ["a\"b", "\"", "\"\u{301}", "a\"\u{301}; DROP TABLE t; --"])
    func anIdentifierIsQuotedByItsScalars(name: String) throws {
        try connection.execute("CREATE TABLE \(Connection.quoted(name)) (y)")
        #expect(
            try connection.integers("SELECT length(CAST(name AS BLOB)) FROM sqlite_schema ORDER BY rowid")
                == [5, Int64(name.utf8.count)])
    }

    @Test func rollingBackWithoutATransactionIsNoError() throws {
        try connection.rollback()
        #expect(throws: SQLiteError.self) { try connection.commit() }
    }

    @Test func aFullDiskInASavepointTakesTheWholeTransactionAndSaysSo() throws {
        let folder = try TemporaryFolder()
        let vfs = FaultVFS()
        var options = OpenOptions()
        options.vfsName = vfs.name
        // A cache so small that pages spill to the log within the transaction.
        options.cacheBytes = 16 << 10
        let connection = try Connection(path: folder.file("full.sqlite"), options: options)
        try connection.execute("CREATE TABLE blobs (data BLOB)")
        try connection.begin(.immediate)
        try connection.savepoint("first") {
            try connection.execute("INSERT INTO blobs VALUES (zeroblob(10))")
        }
        vfs.arm(.diskFull, at: 1, .sticky)
        let error = #expect(throws: SQLiteError.self) {
            try connection.savepoint("second") {
                for _ in 0..<100 { try connection.execute("INSERT INTO blobs VALUES (zeroblob(20000))") }
            }
        }
        #expect(error?.isDiskFull == true)
        #expect(!connection.isInTransaction)
        vfs.disarm()
        #expect(try connection.integer("SELECT count(*) FROM blobs") == 0)
    }
}

import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

@Suite struct ConnectionTests {
    let folder: TemporaryFolder
    var path: String { folder.file("test.sqlite") }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func aDatabaseIsInWALModeAndSyncsAtEachCommitByDefault() throws {
        let connection = try Connection(path: path)
        #expect(try connection.text("PRAGMA journal_mode") == "wal")
        #expect(try connection.integer("PRAGMA synchronous") == 2)
    }

    @Test func optionsReachSQLite() throws {
        var options = OpenOptions()
        options.synchronous = .normal
        options.cacheBytes = 8 << 20
        options.mmapBytes = 1 << 20
        options.journalSizeLimitBytes = 4096
        let connection = try Connection(path: path, options: options)
        #expect(try connection.integer("PRAGMA synchronous") == 1)
        #expect(try connection.integer("PRAGMA cache_size") == -8192)
        #expect(try connection.integer("PRAGMA mmap_size") == 1 << 20)
        #expect(try connection.integer("PRAGMA journal_size_limit") == 4096)
    }

    @Test(arguments: ["This is no database, only some words.", String(repeating: "x", count: 100_000)])
    func aFileThatIsNoDatabaseIsRefusedAndLeftAsItIs(content: String) throws {
        try content.write(toFile: path, atomically: false, encoding: .utf8)
        for readOnly in [false, true] {
            var options = OpenOptions()
            options.readOnly = readOnly
            let error = #expect(throws: SQLiteError.self) { try Connection(path: path, options: options) }
            #expect(error?.isNotADatabase == true)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["test.sqlite"])
    }

    @Test func aMissingFileOrFolderIsAnErrorThatNamesThePath() throws {
        var options = OpenOptions()
        options.create = false
        let missing = #expect(throws: SQLiteError.self) { try Connection(path: path, options: options) }
        #expect(missing?.isCannotOpen == true)
        #expect(missing?.message.contains(path) == true)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(throws: SQLiteError.self) { try Connection(path: folder.file("none/test.sqlite")) }
        #expect(throws: SQLiteError.self) { try Connection(path: "") }
    }

    @Test func aDamagedPageIsReported() throws {
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE items (name TEXT UNIQUE)")
        try connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
                + "INSERT INTO items SELECT 'name ' || i FROM n")
        try connection.close()
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: 3 * 4096)
        file.write(Data(repeating: 0xA5, count: 10 * 4096))
        try file.close()
        let damaged = try Connection(path: path)
        #expect(try !damaged.integrityCheck().isEmpty)
        let error = #expect(throws: SQLiteError.self) {
            try damaged.execute("SELECT max(name || 1) FROM items NOT INDEXED")
        }
        #expect(error?.isCorrupt == true)
    }

    @Test func aReadOnlyConnectionReadsAndRefusesToWrite() throws {
        let writer = try Connection(path: path)
        try writer.execute("CREATE TABLE items (id INTEGER PRIMARY KEY); INSERT INTO items VALUES (7)")
        var options = OpenOptions()
        options.readOnly = true
        let reader = try Connection(path: path, options: options)
        #expect(try reader.integer("SELECT id FROM items") == 7)
        let error = #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM items") }
        #expect(error?.isReadOnly == true)
    }

    @Test func anErrorCarriesCodeMessageAndSQL() throws {
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE items (name TEXT UNIQUE); INSERT INTO items VALUES ('a')")
        let sql = "INSERT INTO items VALUES ('a')"
        let error = #expect(throws: SQLiteError.self) { try connection.withStatement(sql) { try $0.run() } }
        #expect(error?.isConstraint == true)
        #expect(error?.code == 19)
        #expect(error?.extendedCode == 2067)
        #expect(error?.message == "UNIQUE constraint failed: items.name")
        #expect(error?.sql == sql)
        #expect(error.map { "\($0)" }?.contains(sql) == true)
    }

    @Test func aLockedDatabaseIsBusyWithoutWaitingWhenTheTimeoutIsZero() throws {
        var options = OpenOptions()
        options.busyTimeoutMilliseconds = 0
        let first = try Connection(path: path, options: options)
        let second = try Connection(path: path, options: options)
        try first.begin(.immediate)
        let error = #expect(throws: SQLiteError.self) { try second.begin(.immediate) }
        #expect(error?.isBusy == true)
        #expect(!second.isInTransaction)
        try first.rollback()
        try second.begin(.immediate)
        try second.rollback()
    }

    @Test(arguments: [1, 30] as [Int32]) func aLockedDatabaseIsBusyOnceTheTimeoutIsOver(
        timeoutMilliseconds: Int32
    ) throws {
        var options = OpenOptions()
        options.busyTimeoutMilliseconds = timeoutMilliseconds
        let first = try Connection(path: path)
        let second = try Connection(path: path, options: options)
        try first.begin(.immediate)
        let error = #expect(throws: SQLiteError.self) { try second.begin(.immediate) }
        #expect(error?.isBusy == true)
        try first.rollback()
        try second.begin(.immediate)
        try second.rollback()
    }

    @Test func aWriteGetsItsTurnBesideAConnectionThatWritesAgainAndAgain() throws {
        let path = path
        let isDone = Lock(false)
        let other = Thread {
            guard let other = try? Connection(path: path) else { return }
            while !isDone.withLock({ $0 }) {
                try? other.begin(.immediate)
                try? other.execute("UPDATE items SET count = count + 1")
                try? other.commit()
            }
        }
        var options = OpenOptions()
        options.busyTimeoutMilliseconds = 60_000
        let connection = try Connection(path: path, options: options)
        try connection.execute("CREATE TABLE items (count INTEGER); INSERT INTO items VALUES (0)")
        other.start()
        defer { isDone.withLock { $0 = true } }
        for _ in 1...100 {
            try connection.begin(.immediate)
            try connection.execute("UPDATE items SET count = count + 1")
            try connection.commit()
        }
        #expect(try connection.integer("SELECT count >= 100 FROM items") == 1)
    }

    @Test func aClosedFileIsReleasedByTheProcess() throws {
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY)")
        try connection.withStatement("SELECT * FROM items") { try $0.run() }
        try connection.close()
        try connection.close()
        // The last connection removes the log when nothing is left open.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["test.sqlite"])
    }

    @Test func closingWhileAStatementLivesIsRefusedAndDroppingTheConnectionIsNot() throws {
        var connection: Connection? = try Connection(path: path)
        do {
            let statement = try #require(try connection.map { Kept(try $0.prepare("SELECT 42")) })
            let error = #expect(throws: SQLiteError.self) { try connection?.close() }
            #expect(error?.isBusy == true)
            connection = nil
            #expect(try statement.integer() == 42)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count <= 1)
    }

    @Test func theLibraryReportsItsVersionAndOptions() {
        #expect(Connection.libraryVersion.hasPrefix("3."))
        #expect(Connection.compileOptions().contains("ENABLE_FTS5"))
    }
}

/// `#require` can't hold a value that is not copyable.
private final class Kept {
    private let statement: Statement

    init(_ statement: consuming Statement) {
        self.statement = statement
    }

    func integer() throws -> Int64? {
        try statement.step() ? statement.int64(at: 0) : nil
    }
}

import Foundation
import SQLite
import SQLiteTestSupport
import Testing

@Suite struct MaintenanceTests {
    private struct Refusal: Error {}

    let folder: TemporaryFolder
    let connection: Connection

    init() throws {
        folder = try TemporaryFolder()
        connection = try Connection(path: folder.file("test.sqlite"))
        try connection.execute("CREATE TABLE items (data BLOB)")
        try connection.transaction(.immediate) {
            for _ in 0..<200 { try connection.execute("INSERT INTO items VALUES (randomblob(3000))") }
        }
    }

    @Test func aSoundFileHasNoMessages() throws {
        #expect(try connection.integrityCheck() == [])
    }

    @Test func aBackupHoldsOneMomentWhileOthersWrite() throws {
        let writer = try Connection(path: connection.path)
        let path = folder.file("backup.sqlite")
        var calls = 0
        try connection.backup(to: path, pagesPerStep: 10) { remaining, total in
            calls += 1
            #expect(remaining < total)
            try writer.execute("INSERT INTO items VALUES (randomblob(3000))")
        }
        #expect(calls > 10)
        let backup = try Connection(path: path)
        #expect(try backup.integrityCheck() == [])
        #expect(try backup.integer("SELECT count(*) FROM items") == 200)
        #expect(try connection.integer("SELECT count(*) FROM items") == Int64(200 + calls))
    }

    @Test func aBackupThatIsGivenUpLeavesTheOldOne() throws {
        let path = folder.file("backup.sqlite")
        try connection.backup(to: path)
        try connection.execute("DELETE FROM items")
        #expect(throws: Refusal.self) {
            try connection.backup(to: path, pagesPerStep: 1) { _, _ in throw Refusal() }
        }
        #expect(!connection.isInTransaction)
        let backup = try Connection(path: path)
        #expect(try backup.integrityCheck() == [])
        #expect(try backup.integer("SELECT count(*) FROM items") == 200)
    }
}

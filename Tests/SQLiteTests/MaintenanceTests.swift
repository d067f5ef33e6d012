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

    @Test func aNewBackupIsReadableByItsOwnerAlone() throws {
        let path = folder.file("backup.sqlite")
        func mode() -> Int? {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return (attributes?[.posixPermissions] as? NSNumber)?.intValue
        }
        try connection.backup(to: path) { _, _ in #expect(mode() == 0o600) }
        #expect(mode() == 0o600)
        // A file that exists keeps its mode.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try connection.backup(to: path)
        #expect(mode() == 0o644)
    }

    @Test func aNewBackupThatIsGivenUpLeavesNoFile() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(throws: Refusal.self) {
            try connection.backup(to: folder.file("backup.sqlite"), pagesPerStep: 1) { remaining, total in
                if remaining * 2 < total { throw Refusal() }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
    }

    @Test func aBackupIntoMemoryMakesNoFile() throws {
        try connection.backup(to: ":memory:")
        #expect(!FileManager.default.fileExists(atPath: ":memory:"))
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

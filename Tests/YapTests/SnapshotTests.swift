import SQLite
import Testing

@testable import Yap

struct SnapshotTests {
    let folder: TestFolder
    let database: YapDatabase
    let writer: YapDatabaseConnection
    let reader: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        writer = database.newConnection()
        reader = database.newConnection()
    }

    @Test func aReaderSeesOneCommitBeforeDuringAndAfterAWrite() throws {
        try writer.blocking.readWrite { try $0.set("old", "1") }
        try reader.blocking.read { transaction throws in
            #expect(transaction.snapshot == 1)
            try writer.blocking.readWrite { write throws in
                try write.set("new", "1")
                try write.set("second", "2")
                // During: not committed yet.
                #expect(try transaction.todo("1")?.title == "old")
            }
            // After: committed, and still not in this snapshot, cached or not.
            #expect(try transaction.todo("1")?.title == "old")
            #expect(try transaction.todo("2") == nil)
            #expect(try transaction.allKeys(inCollection: "todos") == ["1"])
            #expect(transaction.snapshot == 1)
        }
        try reader.blocking.read { transaction throws in
            #expect(transaction.snapshot == 2)
            #expect(try transaction.todo("1")?.title == "new")
            #expect(try transaction.todo("2")?.title == "second")
        }
    }

    @Test func aReaderThatBeganBeforeAWriteButReadsFirstAfterItSeesTheSnapshotOfItsBeginning() throws {
        try reader.blocking.read { transaction throws in
            try writer.blocking.readWrite { try $0.set("new", "1") }
            #expect(try transaction.numberOfCollections() == 0)
        }
    }

    @Test func aFailedTransactionLeavesNoTrace() throws {
        let log = Log()
        database.addInlineCommitObserver { log.add("commit \($0.snapshot)") }
        try writer.blocking.readWrite { try $0.set("old", "1") }
        _ = try reader.blocking.read { try $0.todo("1") }
        #expect(throws: Refused.self) {
            try writer.blocking.readWrite { transaction throws in
                try transaction.set("new", "1")
                try transaction.set("second", "2")
                throw Refused()
            }
        }
        for connection in [writer, reader, database.newConnection()] {
            try connection.blocking.read { transaction throws in
                #expect(try transaction.todo("1")?.title == "old")
                #expect(try transaction.todo("2") == nil)
            }
        }
        try writer.blocking.readWrite { transaction throws in
            #expect(try transaction.todo("1")?.title == "old")
        }
        #expect(database.snapshot == 1)
        #expect(log.lines == ["commit 1"])
    }

    @Test func aRolledBackTransactionReturnsAndLeavesNoTrace() throws {
        try writer.blocking.readWrite { try $0.set("old", "1") }
        let answer = try writer.blocking.readWrite { transaction throws in
            try transaction.set("new", "1")
            transaction.rollback()
            try transaction.set("later", "2")
            return 7
        }
        #expect(answer == 7)
        #expect(try reader.blocking.read { try $0.todo("1") }?.title == "old")
        #expect(try writer.blocking.readWrite { try $0.todo("1") }?.title == "old")
        #expect(try reader.blocking.read { try $0.todo("2") } == nil)
        #expect(database.snapshot == 1)
    }

    @Test func aCommitThatFailedLeavesNoTrace() throws {
        let log = Log()
        try database.letCommitsFail()
        database.addInlineCommitObserver { log.add("commit \($0.snapshot)") }
        try writer.blocking.readWrite { try $0.set("old", "1") }
        _ = try reader.blocking.read { try $0.todo("1") }
        #expect(
            code {
                try writer.blocking.readWrite { transaction throws in
                    try transaction.set("new", "1")
                    try transaction.set("second", "2")
                    try transaction.makeCommitFail()
                }
            } == .sqlite)
        for connection in [writer, reader, database.newConnection()] {
            try connection.blocking.read { transaction throws in
                #expect(transaction.snapshot == 1)
                #expect(try transaction.todo("1")?.title == "old")
                #expect(try transaction.todo("2") == nil)
            }
        }
        #expect(database.snapshot == 1)
        #expect(log.lines == ["commit 1"])
        // The next commit takes the number, and nothing of the failed one comes back with it.
        try writer.blocking.readWrite { try $0.set("third", "3") }
        #expect(try reader.blocking.read { try $0.todo("1") }?.title == "old")
        #expect(try reader.blocking.read { try $0.todo("3") }?.title == "third")
        #expect(log.lines == ["commit 1", "commit 2"])
    }

    @Test func afterAFullDiskNothingOfTheTransactionIsKeptEvenIfTheAppCatchesTheError() throws {
        try writer.blocking.readWrite { try $0.set("old", "1") }
        let failure = code {
            try writer.blocking.readWrite { transaction throws in
                try transaction.fillDisk()
                #expect(
                    code { try transaction.set(String(repeating: "x", count: 100_000), "2") } == .diskFull)
                // The transaction is gone; this would be a commit of its own.
                #expect(code { try transaction.set("small", "3") } == .diskFull)
            }
        }
        #expect(failure == .diskFull)
        try writer.blocking.readWrite { try $0.emptyDisk() }
        #expect(try reader.blocking.read { try $0.allKeys(inCollection: "todos") } == ["1"])
        try writer.blocking.readWrite { try $0.set("new", "2") }
        #expect(try reader.blocking.read { try $0.allKeys(inCollection: "todos") } == ["1", "2"])
    }

    @Test func aTransactionThatCannotBeginLetsGoOfTheWriteLock() throws {
        let other = try Connection(path: folder.file)
        try other.execute("DELETE FROM yap2; PRAGMA busy_timeout = 0")
        #expect(code { try writer.blocking.readWrite { try $0.set("a", "1") } } == .corrupt)
        try other.begin(.immediate)
        try other.rollback()
    }

    @Test func aTransactionThatChangesNothingMakesNoCommit() throws {
        try writer.blocking.readWrite { _ = try $0.todo("1") }
        #expect(database.snapshot == 0)
    }
}

extension YapDatabaseReadWriteTransaction {
    /// SQLite looks at a deferred constraint when it commits.
    func makeCommitFail() throws {
        try sqlite.execute(
            """
            CREATE TABLE IF NOT EXISTS parent (id INTEGER PRIMARY KEY);
            CREATE TABLE IF NOT EXISTS child (
                parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
            INSERT INTO child VALUES (1);
            """)
    }

    func fillDisk() throws { try sqlite.execute("PRAGMA max_page_count = 1") }
    func emptyDisk() throws { try sqlite.execute("PRAGMA max_page_count = 1000000") }
}

extension YapDatabase {
    /// SQLite enforces references only when it is told so outside of a transaction.
    func letCommitsFail() throws {
        try writer.withCore { try $0.store.sqlite.execute("PRAGMA foreign_keys = ON") }
    }
}

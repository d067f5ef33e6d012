import Foundation
import SQLite
import TestSeed
import Testing

@testable import Yap

/// What changed since a token, over restarts and instances. Two instances on one file act as two processes.
struct ChangeReaderTests {
    private let stage: TodoStage
    private var folder: TestFolder { stage.folder }
    private var database: YapDatabase { stage.database }
    private var connection: YapDatabaseConnection { stage.connection }

    init() throws {
        stage = try TodoStage(["1": "old", "2": "old", "3": "old"])
        try database.blocking.registerChangeReader("export")
    }

    @Test func netChangesSinceATokenAreKnownOverRestartsAndInstances() throws {
        let token = try connection.token()
        #expect(try connection.changes(since: token) == [])
        try connection.blocking.readWrite { transaction in
            try transaction.set("new", "1")
            try transaction.set("added", "4")
            try transaction.removeObject(forKey: "2", inCollection: "todos")
        }
        let middle = try connection.token()
        try database.blocking.close()
        let (ours, theirs) = (try folder.open(), try folder.open())
        let (one, other) = (ours.newConnection(), theirs.newConnection())
        try other.blocking.readWrite { transaction in
            try transaction.set("newer", "1")
            try transaction.setObject("text", forKey: "n", inCollection: "notes")
        }
        try one.blocking.readWrite { transaction in
            try transaction.set("came", "5")
            try transaction.removeObject(forKey: "5", inCollection: "todos")
            try transaction.touchRow(forKey: "3", inCollection: "todos")
        }
        for connection in [one, other] {
            #expect(
                try connection.changes(since: middle) == ["notes n", "todos 1", "todos 3", "todos 5 removed"])
            #expect(
                try connection.changes(since: token) == [
                    "notes n", "todos 1", "todos 2 removed", "todos 3", "todos 4", "todos 5 removed",
                ])
        }
        let stored = try JSONDecoder().decode(
            YapDatabaseChangeToken.self, from: JSONEncoder().encode(one.token()))
        #expect(try other.changes(since: stored) == [])
        try other.blocking.readWrite { try $0.set("last", "1") }
        #expect(try one.changes(since: stored) == ["todos 1"])
    }

    @Test func aTransactionsTokenIsAfterWhatItHasWritten() throws {
        let token = try connection.blocking.readWrite { transaction in
            try transaction.set("before", "1")
            let token = try transaction.changeToken(of: "export")
            try transaction.set("after", "2")
            return token
        }
        #expect(try connection.changes(since: token) == ["todos 2"])
    }

    @Test func changesThatWereNotKeptAreUnknown() throws {
        let first = try connection.token()
        try connection.blocking.readWrite { try $0.set("new", "1") }
        let token = try connection.token()
        try connection.blocking.readWrite { try $0.set("new", "2") }
        try connection.blocking.readWrite { try $0.discardChanges(through: token) }
        #expect(try connection.changes(since: first) == nil)
        #expect(try connection.changes(since: token) == ["todos 2"])
        #expect(try database.missedChangesCount() == 1)
        // All are discarded, and none of the next is lost.
        let last = try connection.token()
        try connection.blocking.readWrite { try $0.discardChanges(through: last) }
        #expect(try connection.changes(since: last) == [])
        #expect(try connection.changes(since: token) == nil)
        try connection.blocking.readWrite { try $0.set("newer", "3") }
        #expect(try connection.changes(since: last) == ["todos 3"])
        // One that is discarded already discards nothing more.
        try connection.blocking.readWrite { try $0.discardChanges(through: first) }
        #expect(try connection.changes(since: last) == ["todos 3"])
    }

    @Test func beyondItsBoundTheReaderBeginsAnew() throws {
        try database.writer { $0.store.missedChangeLog.rowsMax = 10 }
        let token = try connection.token()
        for number in 0..<30 {
            try connection.blocking.readWrite { try $0.set("new", "\(number % 10)") }
        }
        #expect(try connection.changes(since: token)?.count == 10)
        try connection.blocking.readWrite { try $0.set("new", "10") }
        #expect(try connection.changes(since: token) == nil)
        let next = try connection.token()
        try connection.blocking.readWrite { try $0.set("new", "11") }
        #expect(try connection.changes(since: next) == ["todos 11"])
        #expect(try database.missedChangesCount() ?? 99 <= 10)
    }

    @Test func clearingAllCollectionsMakesEverythingChangedAndLaterChangesAreKnown() throws {
        let token = try connection.token()
        try connection.blocking.readWrite { transaction in
            try transaction.removeAllObjectsInAllCollections()
            try transaction.set("new", "1")
        }
        #expect(try connection.changes(since: token) == nil)
        let next = try connection.token()
        try connection.blocking.readWrite { try $0.removeAllObjects(inCollection: "todos") }
        #expect(try connection.changes(since: next) == ["todos 1 removed"])
    }

    @Test func aTokenOfAnotherFileOrOfAFormerRegistrationKnowsNothing() throws {
        let token = try connection.token()
        try connection.blocking.readWrite { try $0.set("new", "1") }
        let otherFolder = try TestFolder()
        let other = try otherFolder.open().newConnection()
        #expect(code { _ = try other.changes(since: token) } == .changeReaderNotRegistered)
        try other.database.blocking.registerChangeReader("export")
        #expect(try other.changes(since: token) == nil)
        try database.blocking.registerChangeReader("export")
        #expect(try connection.changes(since: token) == ["todos 1"])
        try database.blocking.unregisterChangeReader("export")
        #expect(code { _ = try connection.token() } == .changeReaderNotRegistered)
        #expect(code { try database.blocking.unregisterChangeReader("export") } == .changeReaderNotRegistered)
        #expect(try database.missedChangesCount() == 0)
        try database.blocking.registerChangeReader("export")
        #expect(try connection.changes(since: token) == nil)
    }

    @Test func anOlderCopyOfTheFileKnowsNothingOfALaterToken() throws {
        try connection.blocking.readWrite { try $0.set("new", "1") }
        let copy = folder.path + "/copy.yap"
        try database.blocking.backup(to: copy)
        for key in ["1", "2"] { try connection.blocking.readWrite { try $0.set("lost", key) } }
        let token = try connection.token()
        let restored = try YapDatabase(path: copy) { $0.register(Todo.self, inCollection: "todos") }
        #expect(try restored.newConnection().changes(since: token) == nil)
        // As many commits as before, but others.
        for key in ["1", "2"] { try restored.newConnection().blocking.readWrite { try $0.set("else", key) } }
        #expect(restored.snapshot == database.snapshot)
        #expect(try restored.newConnection().changes(since: token) == nil)
    }

    @Test func aProgramThatKnowsNoLogMakesEverythingChanged() throws {
        try connection.blocking.readWrite { try $0.set("new", "1") }
        let token = try connection.token()
        // As it notes a write beside an extension that isn't registered.
        try connection.blocking.readWrite {
            try $0.sqlite.execute(
                "UPDATE yap2 SET data = CAST('1' AS BLOB) WHERE extension LIKE 'changes/%' AND key = 'hasMissedCommits'"
            )
        }
        #expect(try connection.changes(since: token) == nil)
        let meanwhile = try connection.token()
        #expect(try connection.changes(since: meanwhile) == nil)
        let other = try folder.open().newConnection()
        try other.blocking.readWrite { try $0.set("new", "2") }
        #expect(try connection.changes(since: meanwhile) == nil)
        let next = try connection.token()
        try connection.blocking.readWrite { try $0.set("new", "3") }
        #expect(try connection.changes(since: next) == ["todos 3"])
    }

    @Test func whatFailedChangedNothing() throws {
        let token = try connection.token()
        try connection.blocking.readWrite { transaction in
            try? transaction.savepoint {
                try transaction.set("new", "1")
                throw Refused()
            }
            try transaction.set("new", "2")
        }
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction in
                try transaction.removeAllObjectsInAllCollections()
                throw Refused()
            }
        }
        try connection.blocking.readWrite { transaction in
            try transaction.set("new", "3")
            transaction.rollback()
        }
        #expect(try connection.changes(since: token) == ["todos 2"])
    }

    @Test func afterACrashTheChangesAreThoseThatWereCommitted() throws {
        let token = try connection.token()
        try connection.blocking.readWrite { try $0.set("committed", "1") }
        let crashed = try TestFolder()
        try connection.blocking.readWrite { transaction in
            try transaction.set("lost", "2")
            try transaction.discardChanges(through: transaction.changeToken(of: "export"))
            // What the file holds when the process ends here.
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: folder.file + suffix, toPath: crashed.file + suffix)
            }
        }
        let after = try crashed.open().newConnection()
        #expect(try after.changes(since: token) == ["todos 1"])
        try after.blocking.readWrite { try $0.set("later", "3") }
        #expect(try after.changes(since: token) == ["todos 1", "todos 3"])
    }

    @Test func readersAndExtensionsThatMissChangesShareTheLog() throws {
        try database.blocking.registerChangeReader("second")
        try database.blocking.register(RowMirror(["todos"]), withName: "mirror")
        let token = try connection.token()
        let other = try folder.open().newConnection()
        for key in ["1", "2", "3"] { try other.blocking.readWrite { try $0.set("theirs", key) } }
        #expect(try connection.changes(since: token) == ["todos 1", "todos 2", "todos 3"])
        try connection.blocking.readWrite { try $0.discardChanges(through: $0.changeToken(of: "export")) }
        #expect(try database.isMirrored("mirror", ["todos"]) == true)
        let second = try connection.blocking.read { try $0.changeToken(of: "second") }
        try connection.blocking.readWrite { try $0.set("ours", "1") }
        #expect(try connection.changes(since: second) == ["todos 1"])
        #expect(
            code { try database.blocking.register(RowMirror(), withName: "changes/x") } == .invalidExtension)
    }

    @Test func withoutAReaderNothingIsKept() throws {
        try database.blocking.unregisterChangeReader("export")
        try connection.blocking.readWrite { try $0.set("new", "1") }
        #expect(try database.missedChangesCount() ?? 0 == 0)
    }

    @Test func aNewReaderKnowsNoChangesFromBeforeItsRegistration() throws {
        try database.blocking.unregisterChangeReader("export")
        try database.blocking.register(RowMirror(["todos"]), withName: "mirror")
        try database.blocking.close()
        let later = try folder.open().newConnection()
        for key in ["1", "2", "3"] { try later.blocking.readWrite { try $0.set("before", key) } }
        try later.database.blocking.registerChangeReader("export")
        let token = try later.token()
        #expect(try later.changes(since: token) == [])
        #expect(try later.changes(since: later.token()) == [])
        try later.blocking.readWrite { try $0.set("after", "2") }
        #expect(try later.changes(since: token) == ["todos 2"])
    }

    @Test(arguments: [false, true])
    func aRowThatWasOnlyPlacedElsewhereInAViewIsNoChange(isOfEarlierProgram: Bool) throws {
        typealias Board = YapDatabaseManualView<Todo, String>
        let board = Board("board", of: Todo.self, in: "todos", groups: String.self, version: "1")
        let onBoard = YapDatabaseFilteredView("onBoard", of: board, version: "1") { _, _ in true }
        try database.blocking.register(board)
        try database.blocking.register(onBoard)
        if isOfEarlierProgram {
            try connection.blocking.readWrite { transaction in
                try transaction.sqlite.execute(
                    """
                    CREATE TABLE changes2 (position INTEGER PRIMARY KEY, row INTEGER NOT NULL,
                        collection TEXT NOT NULL, key TEXT NOT NULL, UNIQUE (row, collection, key))
                    """)
            }
        }
        try database.blocking.close()
        let later = try folder.open().newConnection()
        try later.database.blocking.register(board)
        let token = try later.token()
        try later.blocking.readWrite { try $0.set("written", "1") }
        #expect(try later.changes(since: token) == ["todos 1"])
        let middle = try later.token()
        try later.blocking.readWrite { transaction in
            for key in ["1", "2", "3"] { try transaction[board].append(key, to: "x") }
        }
        #expect(try later.changes(since: token) == ["todos 1"])
        #expect(try later.changes(since: middle) == [])
        _ = try later.blocking.readWrite { try $0[board].remove("1") }
        #expect(try later.changes(since: token) == ["todos 1"])
        #expect(try later.changes(since: middle) == [])
        try later.blocking.readWrite { try $0.set("written", "2") }
        #expect(try later.changes(since: middle) == ["todos 2"])
        // What was placed is still handed to the view.
        try later.database.blocking.register(onBoard)
        #expect(try later.blocking.read { try $0[onBoard].keys(in: "x") } == ["2", "3"])
    }

    @Test func aRowThatAnEarlierProgramWritesAfterItWasPlacedIsAChange() throws {
        let token = try connection.token()
        try connection.blocking.readWrite { try $0.set("written", "1") }
        try connection.blocking.readWrite { transaction in
            let sql = "UPDATE changes2 SET placed = position, written = 0"
            try transaction.sqlite.execute(sql)
        }
        #expect(try connection.changes(since: token) == [])
        try connection.blocking.readWrite { try $0.set("written again", "1") }
        #expect(try connection.changes(since: token) == ["todos 1"])
    }
    @Test func theSequenceIsLazyAndReadAnewEachTime() throws {
        let token = try connection.token()
        try connection.blocking.readWrite { transaction in
            for number in 0..<2000 { try transaction.set("new", "\(number)") }
        }
        try connection.blocking.readWrite { transaction throws in
            let found = try transaction.changes(since: token)
            let changes = try #require(found)
            #expect(changes.prefix(2).map(\.key) == ["0", "1"])
            var count = 0
            for change in changes {
                count += 1
                try transaction.removeObject(forKey: change.key, inCollection: change.collection)
            }
            #expect(count == 2000 && changes.allSatisfy(\.isRemoved))
        }
    }
}

extension YapDatabaseConnection {
    fileprivate func token() throws -> YapDatabaseChangeToken {
        try blocking.read { try $0.changeToken(of: "export") }
    }

    fileprivate func changes(since token: YapDatabaseChangeToken) throws -> [String]? {
        try blocking.read { transaction in
            try transaction.changes(since: token)?.map {
                "\($0.collection) \($0.key)" + ($0.isRemoved ? " removed" : "")
            }
        }
    }
}

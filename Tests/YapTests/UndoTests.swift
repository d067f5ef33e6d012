import SQLite
import System
import Testing

@testable import Yap

/// `YapDatabaseUndo`: groups of writes that can be undone and redone.
@Suite struct UndoTests {
    private let stage: UndoStage

    init() throws { stage = try UndoStage() }

    /// Writes of each kind, with rows from before.
    private func change(_ stage: UndoStage) throws {
        try stage.write { transaction in
            for key in ["a", "b", "c", "d"] { try transaction.set("old", key, stamp: 1) }
        }
        try stage.group("Change") { transaction in
            try transaction.set("new", "a")
            try transaction.replaceObject(Todo(title: "new"), forKey: "b", inCollection: "todos")
            try transaction.replaceMetadata(Stamp(milliseconds: 2), forKey: "c", inCollection: "todos")
            try transaction.removeObject(forKey: "d", inCollection: "todos")
            try transaction.set("new", "e", stamp: 3)
        }
    }

    private static let before = ["a old 1", "b old 1", "c old 1", "d old 1"]
    private static let after = ["a new 0", "b new 1", "c old 2", "e new 3"]

    @Test func aGroupIsUndoneAndRedoneAlsoAfterARestart() throws {
        try change(stage)
        #expect(try stage.todos() == Self.after)
        #expect(try stage.actionNames() == [["Change"], []])
        try stage.database.blocking.close()
        var again = try UndoStage(in: stage.folder)
        let group = try #require(try again.read { try $0[again.undo].undoGroups().first })
        #expect(group.changedRowsCount == 5)
        #expect(group.bytesCount > 0)
        #expect(try again.undo() == YapDatabaseUndoResult(actionName: "Change", skippedRows: []))
        #expect(try again.todos() == Self.before)
        #expect(try again.actionNames() == [[], ["Change"]])
        try again.database.blocking.close()
        again = try UndoStage(in: stage.folder)
        #expect(try again.redo()?.actionName == "Change")
        #expect(try again.todos() == Self.after)
        #expect(try again.undo()?.actionName == "Change")
        #expect(try again.todos() == Self.before)
        #expect(try again.undo() == nil)
    }

    @Test func severalGroupsAreUndoneInReverseAndRedoneInOrder() throws {
        for title in ["1", "2", "3"] { try stage.group(title) { try $0.set(title, "a") } }
        #expect(try stage.actionNames() == [["3", "2", "1"], []])
        try stage.write { transaction in
            let log = try transaction[stage.undo]
            try log.undo()
            try log.undo()
            #expect(try transaction.todo("a")?.title == "1")
            #expect(try (log.canUndo, log.canRedo) == (true, true))
            #expect(try (log.undoActionName, log.redoActionName) == ("1", "2"))
        }
        #expect(try stage.actionNames() == [["1"], ["2", "3"]])
        try stage.redo()
        #expect(try stage.todos() == ["a 2 0"])
        try stage.redo()
        #expect(try stage.todos() == ["a 3 0"])
        #expect(try stage.redo() == nil)
    }

    @Test func aRowThatIsWrittenAgainInAGroupGetsTheValueFromBeforeTheGroup() throws {
        try stage.write { try $0.set("first", "a") }
        try stage.group("Type") { transaction in
            for title in ["second", "third"] { try transaction.set(title, "a") }
            try transaction.removeObject(forKey: "a", inCollection: "todos")
            try transaction.set("fourth", "a")
            try transaction.set("gone again", "b")
            try transaction.removeObject(forKey: "b", inCollection: "todos")
        }
        #expect(try stage.read { try $0[stage.undo].undoGroups().first?.changedRowsCount } == 1)
        try stage.undo()
        #expect(try stage.todos() == ["a first 0"])
        try stage.redo()
        #expect(try stage.todos() == ["a fourth 0"])
    }

    @Test func writesOutsideOfAGroupAreNoStep() throws {
        try stage.write { transaction in
            try transaction.set("before", "a")
            try transaction[stage.undo].group("Add") { try transaction.set("in", "b") }
            try transaction.set("after", "c")
        }
        try stage.write { try $0.set("fetched", "d") }
        #expect(try stage.actionNames() == [["Add"], []])
        try stage.undo()
        #expect(try stage.todos() == ["a before 0", "c after 0", "d fetched 0"])
    }

    @Test func aNewGroupDeletesWhatCouldBeRedoneAndOneWithoutAChangeDoesNot() throws {
        try stage.group("One") { try $0.set("one", "a") }
        try stage.undo()
        try stage.write { try $0.set("same", "b") }
        try stage.group("Nothing") { transaction in
            try transaction.set("same", "b")
            try transaction.touchRow(forKey: "b", inCollection: "todos")
            try transaction.removeObject(forKey: "none", inCollection: "todos")
        }
        #expect(try stage.actionNames() == [[], ["One"]])
        try stage.group("Two") { try $0.set("two", "c") }
        #expect(try stage.actionNames() == [["Two"], []])
        #expect(try stage.recordedRows() == 1)
    }

    @Test func aGroupThatThrowsIsUndoneAndTheTransactionContinues() throws {
        try stage.group("One") { try $0.set("one", "a") }
        try stage.undo()
        try stage.write { transaction in
            try transaction.set("kept", "b")
            #expect(throws: Refused.self) {
                try transaction[stage.undo].group("Fails") {
                    try transaction.set("undone", "b")
                    try transaction[stage.undo].group("Inner") { try transaction.set("undone", "c") }
                    throw Refused()
                }
            }
            try transaction.set("after", "d")
        }
        #expect(try stage.todos() == ["b kept 0", "d after 0"])
        #expect(try stage.actionNames() == [[], ["One"]])
        try stage.write { transaction in
            try transaction[stage.undo].group("Discarded") { try transaction.set("x", "x") }
            transaction.rollback()
        }
        #expect(try stage.actionNames() == [[], ["One"]])
        #expect(try stage.recordedRows() == 1)
    }

    @Test func aGroupInAGroupAndASavepointInAGroupArePartsOfIt() throws {
        try stage.group("Outer") { transaction in
            try transaction[stage.undo].group("Inner") { try transaction.set("inner", "a") }
            #expect(throws: Refused.self) {
                try transaction.savepoint {
                    try transaction.set("undone", "b")
                    throw Refused()
                }
            }
            #expect(throws: Refused.self) {
                try transaction[stage.undo].group("Inner that fails") {
                    try transaction.set("undone", "a")
                    throw Refused()
                }
            }
            try transaction.set("outer", "c")
        }
        #expect(try stage.todos() == ["a inner 0", "c outer 0"])
        #expect(try stage.actionNames() == [["Outer"], []])
        #expect(try stage.recordedRows() == 2)
        try stage.undo()
        #expect(try stage.todos().isEmpty)
    }

    @Test func undoInsideOfAGroupIsRefused() throws {
        try stage.group("One") { try $0.set("one", "a") }
        try stage.group("Two") { transaction in
            let log = try transaction[stage.undo]
            #expect(code { try log.undo() } == .undoInsideGroup)
            #expect(code { try log.redo() } == .undoInsideGroup)
            #expect(code { try log.removeAll() } == .undoInsideGroup)
            try transaction.set("two", "b")
        }
        #expect(try stage.actionNames() == [["Two", "One"], []])
    }

    @Test func removeAllForgetsTheGroupsAndNoRow() throws {
        try stage.group("One") { try $0.set("one", "a") }
        try stage.group("Two") { try $0.set("two", "b") }
        try stage.undo()
        try stage.write { try $0[stage.undo].removeAll() }
        #expect(try stage.actionNames() == [[], []])
        #expect(try stage.recordedRows() == 0)
        #expect(try stage.todos() == ["a one 0"])
    }

    @Test func aFailedCommitLeavesTheLogAsItWas() throws {
        try stage.database.letCommitsFail()
        try stage.group("One") { try $0.set("one", "a") }
        let write = { (body: (YapDatabaseReadWriteTransaction) throws -> Void) in
            code {
                try stage.write { transaction in
                    try body(transaction)
                    try transaction.makeCommitFail()
                }
            }
        }
        #expect(write { try $0[stage.undo].undo() } == .sqlite)
        #expect(write { try $0[stage.undo].removeAll() } == .sqlite)
        #expect(try stage.actionNames() == [["One"], []])
        #expect(try stage.todos() == ["a one 0"])
        try stage.undo()
        #expect(try stage.todos().isEmpty)
    }

    @Test func theLogIsObservedByItsChangesAlone() throws {
        let canUndo = { (transaction: YapDatabaseReadTransaction) throws in
            _ = try transaction[stage.undo].canUndo
        }
        func isObserved(_ write: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> Bool {
            try stage.connection.isObserved(canUndo, whenWriting: write)
        }
        #expect(try !isObserved { try $0.set("outside", "a") })
        #expect(
            try isObserved { transaction in
                try transaction[stage.undo].group("One") { try transaction.set("one", "a") }
            })
        #expect(
            try !isObserved { transaction in
                try transaction.set("outside", "b")
                try transaction[stage.undo].group("Nothing") { try transaction.set("one", "a") }
            })
        #expect(try isObserved { try $0[stage.undo].undo() })
        #expect(try isObserved { try $0[stage.undo].redo() })
        #expect(try isObserved { try $0[stage.undo].removeAll() })
    }

    @Test func anotherInstanceUndoesTheGroupsOfThisOne() throws {
        let other = try UndoStage(in: stage.folder)
        try stage.group("Ours") { try $0.set("ours", "a") }
        try other.group("Theirs") { try $0.set("theirs", "b") }
        #expect(try stage.actionNames() == [["Theirs", "Ours"], []])
        #expect(try stage.undo()?.actionName == "Theirs")
        #expect(try other.undo()?.actionName == "Ours")
        #expect(try stage.todos().isEmpty)
        #expect(try other.redo()?.actionName == "Ours")
        #expect(try stage.todos() == ["a ours 0"])
    }

    @Test func groupsOfCollectionsThatAreNoLongerRecordedAreDeleted() throws {
        try stage.group("Note") { try $0.note("text", "1") }
        try stage.group("Both") { transaction in
            try transaction.set("todo", "a")
            try transaction.note("text", "2")
        }
        try stage.group("Todo") { try $0.set("todo", "b") }
        try stage.database.blocking.close()
        let again = try UndoStage(YapDatabaseUndo("undo", in: ["todos"]), in: stage.folder)
        #expect(try again.actionNames() == [["Todo"], []])
        #expect(try again.recordedRows() == 1)
        try again.group("Note") { try $0.note("not recorded", "3") }
        #expect(try again.actionNames() == [["Todo"], []])
    }

    @Test func theTablesAreDroppedWithTheExtension() throws {
        try stage.group("One") { try $0.set("one", "a") }
        try stage.database.blocking.unregister("undo")
        let tables = try stage.read { transaction in
            try transaction.store.statement("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%undo%'") {
                try $0.step() ? $0.int64(at: 0) : -1
            }
        }
        #expect(tables == 0)
        #expect(code { try stage.undo() } == .extensionNotRegistered)
    }
}

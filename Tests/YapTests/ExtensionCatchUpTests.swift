import SQLite
import Testing

@testable import Yap

/// How an extension that missed changes catches up by the log of rows. Two instances on one file act as two processes.
struct ExtensionCatchUpTests {
    private static let rowsCount = 1_200

    private let folder: TestFolder
    /// Without the extension.
    private let other: YapDatabase
    private let writing: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        other = try folder.open()
        writing = other.newConnection()
        try writing.blocking.readWrite { transaction in
            for number in 0..<Self.rowsCount { try transaction.set("\(number)", "\(number)") }
        }
        let first = try folder.open()
        try first.blocking.register(RowMirror(), withName: "mirror")
        try first.blocking.register(RowMirror(["todos"], isByName: true), withName: "named")
        try first.blocking.close()
    }

    private func write(_ keys: some Sequence<Int>, _ title: String = "new") throws {
        try writing.blocking.readWrite { transaction in
            for key in keys { try transaction.set(title, "\(key)") }
        }
    }

    /// Registers both in a new instance, and returns what was handed over.
    private func register() throws -> (database: YapDatabase, lines: [String]) {
        let (database, log) = (try folder.open(), Log())
        try database.blocking.register(RowMirror(log: log), withName: "mirror")
        try database.blocking.register(RowMirror(["todos"], isByName: true), withName: "named")
        #expect(try database.isMirrored() == true)
        #expect(try database.isMirrored("named", ["todos"]) == true)
        return (database, log.lines)
    }

    @Test func aLateRegistrationIsHandedOnlyTheRowsThatChangedWithoutIt() throws {
        try write([3, 5])
        try write([3, 7])
        try writing.blocking.readWrite {
            try $0.replaceObject(Todo(title: "x"), forKey: "8", inCollection: "todos")
            try $0.removeObjects(forKeys: ["4", "6"], inCollection: "todos")
            try $0.set("added", "added")
        }
        #expect(try other.missedChangesCount() == 7)
        let lines = try register().lines
        #expect(lines.first == "missed known")
        #expect(Set(lines.dropFirst()) == Set(["3", "5", "7", "8", "added"].map { "filled \($0)" }))
        #expect(lines.count == 6)
        // The log is emptied once it isn't needed any more.
        #expect(try other.missedChangesCount() == 0)
        let again = try register().lines
        #expect(again == ["missed none"])
    }

    @Test func changesAfterAFailedSavepointAreLogged() throws {
        try writing.blocking.readWrite { transaction in
            try? transaction.savepoint {
                try transaction.set("undone", "1")
                throw Refused()
            }
            try transaction.set("kept", "2")
        }
        #expect(try other.missedChangesCount() == 1)
        #expect(try register().lines == ["missed known", "filled 2"])
    }

    @Test func aCommitWithAllExtensionsRegisteredWritesItsRowsAndTheSnapshotAlone() throws {
        let (database, _) = try register()
        let connection = database.newConnection()
        func changes(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> Int {
            let before = try database.writer { $0.store.sqlite.totalChangesCount }
            try connection.blocking.readWrite(body)
            return try database.writer { $0.store.sqlite.totalChangesCount } - before
        }
        // The row in `database2` and in the table of each extension, and the snapshot.
        for _ in 1...2 { #expect(try changes { try $0.set("x", "1") } == 4) }
        #expect(try changes { try $0.removeObject(forKey: "1", inCollection: "todos") } == 4)
        #expect(try database.missedChangesCount() == nil)
        try database.blocking.unregister("mirror")
        try database.blocking.unregister("named")
        #expect(try changes { try $0.set("x", "1") } == 2)
        #expect(try changes { try $0.removeAllObjects(inCollection: "todos") } == Self.rowsCount + 1)
        #expect(try database.missedChangesCount() == nil)
    }

    @Test func nothingIsLoggedAnyMoreOnceTheExtensionsAreRegistered() throws {
        try write([1])
        try other.blocking.register(RowMirror(), withName: "mirror")
        #expect(try other.missedChangesCount() == 1)
        try other.blocking.register(RowMirror(["todos"], isByName: true), withName: "named")
        try write([2])
        #expect(try other.missedChangesCount() == 0)
        #expect(try other.isMirrored() == true)
    }

    @Test func anExtensionThatCannotCatchUpIsNotLogged() throws {
        try register().database.blocking.unregister("mirror")
        try other.blocking.unregister("named")
        let third = try folder.open()
        try third.blocking.register(WordCounter(), withName: "words")
        try write([1, 2])
        #expect(try other.missedChangesCount() == nil)
        let (again, log) = (try folder.open(), Log())
        try again.blocking.register(WordCounter(log: log), withName: "words")
        #expect(log.lines.contains("words: register after 2 1 missed true"))
    }

    @Test func aRowidThatARowOfAnotherCollectionUsesAgainIsCaughtUp() throws {
        let last = "\(Self.rowsCount - 1)"
        func rowID(_ key: String, _ collection: String) throws -> Int64? {
            try writing.blocking.read { try $0.rowID(forKey: key, inCollection: collection) }
        }
        let before = try rowID(last, "todos")
        try writing.blocking.readWrite {
            try $0.removeObject(forKey: last, inCollection: "todos")
            try $0.setObject("text", forKey: "note", inCollection: "notes")
        }
        #expect(try rowID("note", "notes") == before)
        // The row of before comes again under another rowid.
        try write([Self.rowsCount - 1])
        _ = try register()
        try writing.blocking.readWrite { try $0.removeObject(forKey: "note", inCollection: "notes") }
        try write([5_000])
        #expect(try rowID("5000", "todos") != nil)
        _ = try register()
    }

    @Test func aRowThatIsRemovedAndMadeAgainInOneTransactionIsCaughtUp() throws {
        try writing.blocking.readWrite { transaction in
            try transaction.removeObjects(forKeys: ["3", "4"], inCollection: "todos")
            try transaction.set("again", "3")
            try transaction.removeObject(forKey: "3", inCollection: "todos")
            try transaction.set("in its place", "next")
            try transaction.set("again", "3")
        }
        _ = try register()
    }

    @Test func aCollectionThatWasClearedIsCaughtUpAsFarAsTheLogHasRoom() throws {
        try writing.blocking.readWrite { try $0.setObject("text", forKey: "note", inCollection: "notes") }
        _ = try register()
        try writing.blocking.readWrite { try $0.removeAllObjects(inCollection: "notes") }
        #expect(try other.missedChangesCount() == 1)
        #expect(try register().lines == ["missed known"])
        try other.writer { $0.store.missedChangeLog.rowsMax = Self.rowsCount - 1 }
        try writing.blocking.readWrite { transaction in
            try transaction.set("x", "1")
            try transaction.removeAllObjects(inCollection: "todos")
            try transaction.set("x", "1")
        }
        #expect(try other.missedChangesCount() == 0)
        #expect(try register().lines == ["missed unknown", "filled 1"])
    }

    @Test func whoClearsAllCollectionsMakesItBeginAnew() throws {
        try write([1])
        try writing.blocking.readWrite { try $0.removeAllObjectsInAllCollections() }
        try write([2])
        #expect(try other.missedChangesCount() == 0)
        #expect(try register().lines == ["missed unknown", "filled 2"])
    }

    @Test func moreChangesThanTheLogHoldsMakeTheExtensionThatMissedTheMostBeginAnew() throws {
        try other.writer { $0.store.missedChangeLog.rowsMax = 20 }
        try write(0..<15)
        // One of both catches up in between, and misses only what comes later.
        let third = try folder.open()
        try third.blocking.register(RowMirror(["todos"], isByName: true), withName: "named")
        try third.blocking.close()
        try write(15..<22)
        #expect(try other.missedChangesCount() == 7)
        let (database, log) = (try folder.open(), Log())
        try database.blocking.register(RowMirror(["todos"], isByName: true, log: log), withName: "named")
        #expect(log.take().count == 8)
        try database.blocking.register(RowMirror(log: log), withName: "mirror")
        #expect(log.lines.first == "missed unknown" && log.lines.count == 1 + Self.rowsCount)
        #expect(try database.isMirrored() == true && database.isMirrored("named", ["todos"]) == true)
        try database.blocking.close()
        // A transaction larger than the log.
        try write(0..<50)
        #expect(try other.missedChangesCount() == 0)
        #expect(try register().lines.first == "missed unknown")
    }

    @Test func aRowThatChangesAgainAndAgainTakesOneEntryOfTheLog() throws {
        try other.writer { $0.store.missedChangeLog.rowsMax = 5 }
        for number in 0..<20 { try write([1, 2], "\(number)") }
        #expect(try other.missedChangesCount() == 2)
        #expect(try register().lines.count == 3)
    }

    @Test func aNoteOfAnEarlierVersionOfThisLibraryMakesItBeginAnew() throws {
        try write([1])
        // As such a version does it, which logs nothing.
        try other.writer { core in
            try core.store.sqlite.transaction(.immediate) {
                for name in ["mirror", "named"] {
                    try core.store.config.setText("1", extension: name, key: "hasMissedCommits")
                }
            }
        }
        try write([2])
        #expect(try register().lines.first == "missed unknown")
        #expect(try other.missedChangesCount() == 0)
    }

    @Test func anotherVersionOfTheExtensionBeginsAnew() throws {
        try write([1])
        let (database, log) = (try folder.open(), Log())
        try database.blocking.register(RowMirror(versionTag: "2", log: log), withName: "mirror")
        #expect(log.lines.first == "missed known" && log.lines.count == 1 + Self.rowsCount)
        #expect(try database.isMirrored() == true)
    }

    @Test func theLogIsEmptiedWhenTheLastExtensionThatNeedsItIsUnregistered() throws {
        try write([1])
        try other.blocking.unregister("mirror")
        #expect(try other.missedChangesCount() == 1)
        try other.blocking.unregister("named")
        #expect(try other.missedChangesCount() == 0)
        try write([2])
        #expect(try other.missedChangesCount() == 0)
    }

    @Test func aWriteThatFailsLeavesNothingInTheLog() throws {
        for _ in 1...2 {
            #expect(throws: Refused.self) {
                try writing.blocking.readWrite { transaction in
                    try transaction.set("x", "1")
                    throw Refused()
                }
            }
        }
        #expect(try other.missedChangesCount() == nil)
        try write([2])
        #expect(throws: Refused.self) {
            try writing.blocking.readWrite { transaction in
                try transaction.removeAllObjectsInAllCollections()
                throw Refused()
            }
        }
        try write([3])
        #expect(try other.missedChangesCount() == 2)
        #expect(try register().lines.count == 3)
    }

    @Test func aMemberThatFailsTakesNoOtherMembersChangesFromTheLog() throws {
        try other.writer { core in
            try core.begin()
            try core.member { try $0.set("first", "1") }
            for _ in 1...2 {
                #expect(throws: Refused.self) {
                    try core.member { transaction in
                        try transaction.removeAllObjectsInAllCollections()
                        throw Refused()
                    }
                }
            }
            try core.member { try $0.set("last", "2") }
            try core.commit()
        }
        #expect(try other.missedChangesCount() == 2)
        #expect(try register().lines.count == 3)
    }

    @Test func theFirstMemberThatFailsLeavesTheLogToTheNext() throws {
        try other.writer { core in
            try core.begin()
            #expect(throws: Refused.self) {
                try core.member { transaction in
                    try transaction.set("failed", "1")
                    throw Refused()
                }
            }
            try core.member { try $0.set("last", "2") }
            try core.commit()
        }
        #expect(try register().lines == ["missed known", "filled 2"])
    }

    /// A program of before that registered the extension again, for which the log had them.
    @Test func unneededEntriesTakeNoRoomInTheLog() throws {
        try other.writer { $0.store.missedChangeLog.rowsMax = 5 }
        try write(0..<5)
        try other.writer { core in
            try core.alone { _ in
                for name in ["mirror", "named"] {
                    try core.store.config.remove(extension: name, key: "hasMissedCommits")
                }
            }
            core.store.missedChangeLog.reset()
        }
        try write(0..<3)
        #expect(try other.missedChangesCount() == 3)
    }

    @Test func aChangeThatCannotBeLoggedFailsTheTransactionEvenIfTheAppCatchesTheError() throws {
        try write([1])
        try other.writer { try $0.store.sqlite.execute("ALTER TABLE changes2 RENAME TO elsewhere") }
        let failure = code {
            try writing.blocking.readWrite { transaction in try? transaction.set("lost", "2") }
        }
        #expect(failure == .sqlite)
        #expect(try writing.todoFromDisk("2")?.title == "2")
    }

    // MARK: On the way

    @Test func othersWriteWhileItCatchesUpAndReadsWaitUntilItIsComplete() throws {
        try write(0..<600)
        let database = try folder.open()
        let registration = try SteppedRegistration(RowMirror(), "mirror", in: database)
        #expect(try database.isMirrored() == nil)
        let part = try #require(try registration.next())
        #expect(part > 0.2 && part < 0.8)
        #expect(try database.isMirrored() == nil)
        // Rows that it has, rows that it lacks, and new ones, here and there.
        try database.newConnection().blocking.readWrite { transaction in
            try transaction.removeObjects(forKeys: ["3", "599"], inCollection: "todos")
            try transaction.set("ours", "4")
            try transaction.set("ours", "598")
            try transaction.set("ours", "ours")
        }
        try writing.blocking.readWrite { transaction in
            try transaction.removeObjects(forKeys: ["5", "597"], inCollection: "todos")
            try transaction.set("theirs", "6")
            try transaction.set("theirs", "596")
            try transaction.set("theirs", "theirs")
        }
        try registration.finish()
        #expect(try database.isMirrored() == true)
    }

    @Test func anotherRunContinuesWhereCatchingUpEnded() throws {
        try write(0..<600)
        let crashed = try folder.open()
        let registration = try SteppedRegistration(RowMirror(), "mirror", in: crashed)
        #expect(try registration.next() != nil)
        // Nothing says goodbye, as after a crash.
        let (database, log) = (try folder.open(), Log())
        try database.blocking.register(RowMirror(log: log), withName: "mirror")
        #expect(log.lines.count == 1 + 600 - ExtensionCatchUp.batchEntriesMax)
        #expect(try database.isMirrored() == true)
    }

    @Test func twoInstancesMayCatchUpTheSameExtension() throws {
        try write(0..<600)
        let (first, second) = (try folder.open(), try folder.open())
        let one = try SteppedRegistration(RowMirror(), "mirror", in: first)
        let two = try SteppedRegistration(RowMirror(), "mirror", in: second)
        _ = try (one.next(), two.next())
        try first.newConnection().blocking.readWrite { try $0.set("first", "599") }
        try second.newConnection().blocking.readWrite { try $0.set("second", "1") }
        try one.finish()
        #expect(try first.isMirrored() == true)
        try two.finish()
        #expect(try second.isMirrored() == true)
    }

    @Test func aCancelledCatchingUpContinuesAtTheNextRegistration() async throws {
        try write(0..<600)
        let database = try folder.open()
        let task = Task {
            try await database.register(RowMirror(), withName: "mirror") { _ in
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await database.newConnection().readWrite { try $0.set("ours", "1") }
        let log = Log()
        try await database.register(RowMirror(log: log), withName: "mirror")
        #expect(try database.isMirrored() == true)
        #expect(log.lines.first == "missed known")
        #expect(log.lines.count == 1 + 600 - ExtensionCatchUp.batchEntriesMax + 1)
    }

    @Test func aStoppedRegistrationMissesNoneOfTheWritesThatFollow() throws {
        try write(0..<600)
        let database = try folder.open()
        let registration = try SteppedRegistration(RowMirror(), "mirror", in: database)
        _ = try registration.next()
        let connection = database.newConnection()
        try connection.blocking.readWrite { try $0.set("heard", "1") }
        try registration.stop()
        try connection.blocking.readWrite { try $0.set("missed", "2") }
        try SteppedRegistration(RowMirror(), "mirror", in: database).finish()
        #expect(try database.isMirrored() == true)
    }

    @Test func aStoppedFillingMissesNoneOfTheWritesThatFollow() throws {
        try other.blocking.unregister("mirror")
        try other.blocking.unregister("named")
        let registration = try SteppedRegistration(RowMirror(), "second", in: other)
        _ = try registration.next()
        try write([1], "heard")
        try registration.stop()
        try write([2], "missed")
        try SteppedRegistration(RowMirror(), "second", in: other).finish()
        #expect(try other.isMirrored("second") == true)
    }

    @Test func aRowThatIsNotFilledYetIsNotHandedOverBecauseAnotherProcessWroteIt() throws {
        let database = try folder.open()
        let registration = try SteppedRegistration(RowMirror(), "second", in: database)
        _ = try registration.next()
        try write([1_100])
        _ = try registration.next()
        // It doesn't hear of this row.
        try database.newConnection().blocking.readWrite {
            try $0.removeObject(forKey: "1100", inCollection: "todos")
        }
        try registration.finish()
        #expect(try database.isMirrored("second") == true)
    }

    @Test func anExtensionThatFailsToCatchUpIsNotRegisteredAndLosesNothing() throws {
        try write([1])
        let database = try folder.open()
        #expect(throws: Refused.self) {
            try database.blocking.register(RowMirror { throw Refused() }, withName: "mirror")
        }
        try database.newConnection().blocking.readWrite { try $0.set("ours", "2") }
        #expect(try register().lines.count == 3)
    }

    @Test(arguments: [1, 600]) func aProcessThatWritesBetweenTheBatchesHoldsUpNothingForEver(rowsCount: Int)
        throws
    {
        try write(0..<rowsCount)
        let database = try folder.open()
        var rounds = 0
        func finish(_ registration: SteppedRegistration) throws {
            rounds = 0
            repeat {
                try write(0..<rowsCount, "round \(rounds)")
                rounds += 1
                try #require(rounds < 20)
            } while try registration.next() != nil
        }
        try finish(SteppedRegistration(RowMirror(), "mirror", in: database))
        #expect(try database.isMirrored() == true)
        // One that is filled for the first time.
        try finish(SteppedRegistration(RowMirror(), "second", in: database))
        #expect(try database.isMirrored("second") == true)
    }
}

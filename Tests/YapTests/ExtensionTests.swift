import SQLite
import Testing

@testable import Yap

struct ExtensionTests {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let log = Log()

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
    }

    private func count(_ word: String, _ name: String = "words", on other: YapDatabaseConnection? = nil)
        throws -> Int
    {
        try (other ?? connection).blocking.read { try $0.ext(name, as: WordCounter.self).count(of: word) }
    }

    private func tables(_ prefix: String = "words") throws -> [String] {
        try database.newConnection().blocking.read {
            try $0.sqlite.withStatement(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '\(prefix)%' ORDER BY 1"
            ) { statement in
                var names: [String] = []
                while try statement.step() { names.append(statement.text(at: 0)) }
                return names
            }
        }
    }

    @Test func anExtensionIsFilledAtRegistrationAndFollowsEveryChange() throws {
        try connection.blocking.readWrite {
            try $0.set("buy eggs", "1")
            try $0.set("buy milk", "2")
        }
        try database.blocking.register(WordCounter(), withName: "words")
        #expect(database.registeredExtensionNames == ["words"])
        #expect(try count("buy") == 2)
        try connection.blocking.readWrite {
            try $0.set("sell eggs", "1")
            try $0.set("buy bread", "3")
            // Seen inside of the transaction, too.
            let transaction = try $0.ext("words", as: WordCounter.self)
            #expect(try transaction.count(of: "buy") == 2)
            #expect(try transaction.count(of: "sell") == 1)
        }
        let other = database.newConnection()
        #expect(try count("buy", on: other) == 2)
        try connection.blocking.readWrite {
            try $0.replaceObject(Todo(title: "sell all"), forKey: "2", inCollection: "todos")
            try $0.removeObjects(forKeys: ["1", "3"], inCollection: "todos")
        }
        #expect(try count("buy", on: other) == 0)
        #expect(try count("sell", on: other) == 1)
        #expect(try count("sell", on: database.newConnection()) == 1)
        try connection.blocking.readWrite { try $0.removeAllObjectsInAllCollections() }
        #expect(try count("sell", on: other) == 0)
        #expect(try count("sell", on: database.newConnection()) == 0)
    }

    @Test func hooksRunInOrderAroundEveryKindOfChange() throws {
        try database.blocking.register(WordCounter(log: log), withName: "a")
        try database.blocking.register(WordCounter(dependencies: ["a"], log: log), withName: "b")
        #expect(
            log.take().filter { $0.hasSuffix("is registered") } == ["a is registered", "b is registered"])
        func hooks(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> [String] {
            try connection.blocking.readWrite(body)
            return log.take().filter { $0.contains("will") || $0.contains("did") }
        }
        func expected(_ what: String) -> [String] {
            ["a: will \(what)", "b: will \(what)", "a: did \(what)", "b: did \(what)"]
        }
        #expect(try hooks { try $0.set("x", "1") } == expected("insert 1"))
        #expect(try hooks { try $0.set("y", "1") } == expected("update 1"))
        #expect(
            try hooks { try $0.replaceObject(Todo(title: "z"), forKey: "1", inCollection: "todos") }
                == expected("replaceObject 1"))
        #expect(
            try hooks { try $0.replaceMetadata(Stamp(milliseconds: 1), forKey: "1", inCollection: "todos") }
                == expected("replaceMetadata 1"))
        #expect(
            try hooks { try $0.touchObject(forKey: "1", inCollection: "todos") } == expected("touchObject 1"))
        #expect(
            try hooks { try $0.touchMetadata(forKey: "1", inCollection: "todos") }
                == expected("touchMetadata 1"))
        #expect(try hooks { try $0.touchRow(forKey: "1", inCollection: "todos") } == expected("touchRow 1"))
        #expect(try hooks { try $0.removeObject(forKey: "1", inCollection: "todos") } == expected("remove 1"))
        _ = try hooks { for key in ["1", "2"] { try $0.set("x", key) } }
        #expect(try hooks { try $0.removeAllObjects(inCollection: "todos") } == expected("remove 1,2"))
        #expect(try hooks { try $0.removeAllObjectsInAllCollections() } == expected("removeAll"))
        // Nothing happened, nobody is told.
        #expect(try hooks { try $0.removeObject(forKey: "1", inCollection: "todos") } == [])
    }

    @Test func aTransactionEndsWithFlushesAndThenCommit() throws {
        try database.blocking.register(WordCounter(log: log), withName: "a")
        _ = log.take()
        try connection.blocking.readWrite {
            try $0.ext("a", as: WordCounter.self).pendingRows = [("2", "late")]
            try $0.set("x", "1")
        }
        #expect(
            log.take() == [
                "a: will insert 1", "a: did insert 1", "a: flush rows", "a: will insert 2", "a: did insert 2",
                "a: flush rows", "a: flush tables", "a: committed 2",
            ])
        #expect(try count("late", "a") == 1)
    }

    @Test func extensionsThatChangeRowsForEverFailTheTransaction() throws {
        try database.blocking.register(WordCounter(log: log), withName: "a")
        try connection.blocking.readWrite { try $0.set("x", "1") }
        let failure = code {
            try connection.blocking.readWrite { try $0.ext("a", as: WordCounter.self).isEndless = true }
        }
        #expect(failure == .extensionsDoNotSettle)
    }

    @Test func whatFailsIsRolledBackInTheExtensionToo() throws {
        try database.blocking.register(WordCounter(log: log, poison: "poison"), withName: "words")
        try connection.blocking.readWrite { try $0.set("buy", "1") }
        #expect(try count("buy") == 1)
        _ = log.take()
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction in
                try transaction.set("buy", "2")
                throw Refused()
            }
        }
        #expect(log.take().last == "words: rolled back")
        #expect(try count("buy") == 1)
        // A hook that throws fails the transaction even if the app goes on.
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction in
                try transaction.set("buy", "3")
                try? transaction.set("poison", "4")
            }
        }
        #expect(try count("buy") == 1)
        #expect(try count("poison") == 0)
        #expect(try connection.blocking.read { try $0.allKeys(inCollection: "todos") } == ["1"])
        // A commit that fails.
        try database.letCommitsFail()
        #expect(
            code {
                try connection.blocking.readWrite { transaction in
                    try transaction.set("buy", "5")
                    try transaction.makeCommitFail()
                }
            } == .sqlite)
        #expect(log.take().last == "words: rolled back")
        #expect(try count("buy") == 1)
        try connection.blocking.readWrite {
            try $0.set("buy", "6")
            #expect(try $0.ext("words", as: WordCounter.self).count(of: "buy") == 2)
        }
        #expect(try count("buy", on: database.newConnection()) == 2)
    }

    @Test func aChangeThatFailsHalfwayFailsTheTransactionEvenIfTheAppCatchesTheError() throws {
        try database.blocking.register(WordCounter(), withName: "words")
        try connection.blocking.readWrite { transaction in
            for number in 1...3 { try transaction.set("buy", "\(number)") }
            try transaction.sqlite.execute(
                """
                CREATE TRIGGER refuse BEFORE DELETE ON database2 WHEN old.key = '2'
                BEGIN SELECT RAISE(ABORT, 'refused'); END
                """)
        }
        let failure = code {
            try connection.blocking.readWrite { transaction in
                try? transaction.removeObjects(forKeys: ["1", "2", "3"], inCollection: "todos")
            }
        }
        #expect(failure == .sqlite)
        let (rowCount, wordCount) = try connection.blocking.read {
            (
                try $0.numberOfKeys(inCollection: "todos"),
                try $0.ext("words", as: WordCounter.self).count(of: "buy")
            )
        }
        #expect(rowCount == 3 && wordCount == 3)
    }

    @Test func aHookAfterCommitThatUsesTheTransactionGetsAnError() throws {
        let log = Log()
        try database.blocking.register(LateReader(log: log), withName: "late")
        _ = log.take()
        try connection.blocking.readWrite { try $0.set("buy", "1") }
        #expect(log.lines == ["transactionEnded"])
    }

    @Test func aRegistrationThatFailsLeavesNothing() throws {
        try connection.blocking.readWrite { try $0.set("poison", "1") }
        #expect(throws: Refused.self) {
            try database.blocking.register(WordCounter(log: log, poison: "poison"), withName: "words")
        }
        #expect(log.take().last == "words: rolled back")
        #expect(database.registeredExtensionNames == [])
        #expect(try tables() == [])
        #expect(code { _ = try count("poison") } == .extensionNotRegistered)
        try connection.blocking.readWrite { try $0.set("poison", "2") }
        #expect(log.take() == [])
        try database.blocking.register(WordCounter(log: log), withName: "words")
        #expect(try count("poison") == 2)
    }

    @Test func namesAndDependenciesAreChecked() throws {
        #expect(
            code { try database.blocking.register(WordCounter(dependencies: ["none"]), withName: "a") }
                == .extensionDependencyMissing)
        try database.blocking.register(WordCounter(), withName: "a")
        #expect(code { try database.blocking.register(WordCounter(), withName: "a") } == .extensionNameTaken)
        #expect(code { try database.blocking.unregister("none") } == .extensionNotRegistered)
        #expect(
            code { try connection.blocking.read { _ = try $0.ext("a", as: NothingExtension.self) } }
                == .extensionNotRegistered)
    }

    @Test func unregisteringDropsTheTablesOfTheExtensionAndOfThoseThatDependOnIt() async throws {
        try await database.register(WordCounter(), withName: "a")
        try await database.register(WordCounter(dependencies: ["a"]), withName: "b")
        try await database.register(WordCounter(dependencies: ["b"]), withName: "c")
        try await database.register(WordCounter(), withName: "d")
        #expect(try tables() == ["words_a", "words_b", "words_c", "words_d"])
        try await database.unregister("a")
        #expect(try tables() == ["words_d"])
        #expect(database.registeredExtensionNames == ["d"])
        try await connection.readWrite { try $0.set("x", "1") }
        // The name is free again, and the second registration has nothing of the first.
        try await database.register(WordCounter(), withName: "a")
        #expect(try countNow("x", "a") == 1)
    }

    private func countNow(_ word: String, _ name: String) throws -> Int { try count(word, name) }

    @Test func anotherRunGetsBackWhatWasStoredUnlessItMissedCommits() throws {
        func run(_ body: (YapDatabase) throws -> Void) throws -> [String] {
            let database = try folder.open()
            try body(database)
            try database.blocking.close()
            return log.take().filter { $0.contains("register ") || $0.contains("nothing") }
        }
        func register(_ database: YapDatabase, _ tag: String) throws {
            try database.blocking.register(WordCounter(versionTag: tag, log: log), withName: "words")
        }
        try database.blocking.close()
        #expect(try run { try register($0, "1") } == ["words: register anew"])
        #expect(try run { try register($0, "1") } == ["words: register after 2 1 missed false"])
        #expect(try run { try register($0, "2") } == ["words: register after 2 1 missed false"])
        // A run without the extension that writes: its tables stay, and the next registration hears of it.
        #expect(try run { try $0.newConnection().blocking.readWrite { try $0.set("x", "1") } } == [])
        let lines = try run { database in
            try register(database, "2")
            #expect(try count("x", on: database.newConnection()) == 1)
        }
        #expect(lines == ["words: register after 2 2 missed true"])
        // Another class: the tables of the first are dropped.
        #expect(
            try run { try $0.blocking.register(NothingExtension(log: log), withName: "words") } == [
                "nothing anew"
            ])
        let again = try folder.open()
        #expect(
            try again.newConnection().blocking.read {
                try $0.sqlite.withStatement("SELECT count(*) FROM sqlite_schema WHERE name = 'words_words'") {
                    try $0.step() ? $0.int64(at: 0) : -1
                }
            } == 0)
    }

    @Test func anExtensionOfAnEarlierRunIsDroppedOnlyWhenItIsUnregistered() throws {
        try database.blocking.register(WordCounter(), withName: "words")
        try database.blocking.close()
        let second = try folder.open()
        try second.newConnection().blocking.readWrite { try $0.set("x", "1") }
        let third = try folder.open()
        func isThere() throws -> Bool {
            try third.newConnection().blocking.read {
                try $0.sqlite.withStatement("SELECT 1 FROM sqlite_schema WHERE name = 'words_words'") {
                    try $0.step()
                }
            }
        }
        #expect(try isThere())
        try second.blocking.unregister("words")
        #expect(try !isThere())
    }

    @Test func aRowidThatIsUsedAgainInOneTransactionIsAnotherRow() throws {
        try database.blocking.register(WordCounter(), withName: "words")
        try connection.blocking.readWrite { try $0.set("buy", "1") }
        try connection.blocking.readWrite { transaction in
            let before = try transaction.rowID(forKey: "1", inCollection: "todos")
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.set("sell", "2")
            // SQLite gives the highest rowid again.
            #expect(try transaction.rowID(forKey: "2", inCollection: "todos") == before)
        }
        for other in [connection, database.newConnection()] {
            #expect(try count("buy", on: other) == 0)
            #expect(try count("sell", on: other) == 1)
            #expect(try other.blocking.read { try $0.todo("2") }?.title == "sell")
            #expect(try other.blocking.read { try $0.todo("1") } == nil)
        }
    }

    @Test func aReaderOfAnOlderSnapshotDoesNotSeeAnExtensionThatWasRegisteredSince() throws {
        try connection.blocking.read { transaction throws in
            try database.blocking.register(WordCounter(), withName: "words")
            #expect(
                code { _ = try transaction.ext("words", as: WordCounter.self) } == .extensionNotRegistered)
        }
        #expect(try count("x") == 0)
    }

    @Test(arguments: ["database2", "Yap2", "changes2", "words_a", "WORDS_A", "sqlite_x", "a\nb", ""])
    func aTableThatIsNotTheExtensionsToOwnIsRefused(table: String) throws {
        try database.blocking.register(WordCounter(), withName: "a")
        let wrong = ScriptedExtension(tables: [table], fills: false)
        #expect(code { try database.blocking.register(wrong, withName: "wrong") } == .invalidExtension)
    }

    /// SQLite makes `TABLE_data` and others for a virtual table, so that its owner may write them.
    @Test(arguments: [
        ("words", "words_data", false), ("words_data", "words", false), ("Words", "WORDS_content", false),
        ("words_idx", "words", false), ("words", "words_other", true), ("words", "wordsdata", true),
        ("words", "words_data_old", true), ("words_data", "words_idx", true),
    ])
    func aTableThatAnotherExtensionsVirtualTableMayHaveIsRefused(
        first: String, second: String, isAllowed: Bool
    )
        throws
    {
        try database.blocking.register(ScriptedExtension(tables: [first], fills: false), withName: "first")
        let later = ScriptedExtension(tables: [second, second + "_node"], fills: false)
        let failure = code { try database.blocking.register(later, withName: "later") }
        #expect(failure == (isAllowed ? nil : .invalidExtension))
    }

    @Test func anExtensionUsesItsTablesAndNoOthers() throws {
        let log = Log()
        let own = ScriptedExtension(
            tables: ["own"], fills: false,
            onRegister: { part in
                try part.tables.execute("CREATE TABLE own (word TEXT, n INTEGER)")
                try part.tables.run("INSERT INTO own VALUES (?1, ?2)", [.text("milk"), .integer(3)])
                try? part.tables.savepoint {
                    try part.tables.run("DELETE FROM own")
                    throw Refused()
                }
                if try part.tables.rows("SELECT * FROM own") == [[.text("milk"), .integer(3)]] {
                    log.add("undone")
                }
                if code({ try part.tables.run("DELETE FROM yap2") }) == .sqlite { log.add("refused") }
                if try part.tables.rows("SELECT count(*) FROM database2") == [[.integer(0)]] {
                    log.add("read")
                }
            })
        try database.blocking.register(own, withName: "own")
        #expect(log.lines == ["undone", "refused", "read"])
        try connection.blocking.read { transaction in
            let tables = try transaction.ext("own", as: ScriptedExtension.self).tables
            #expect(try tables.rows("SELECT n FROM own") == [[.integer(3)]])
            #expect(code { try tables.run("DELETE FROM own") } == .readOnlyTransaction)
            #expect(code { _ = try tables.rows("DELETE FROM own RETURNING n") } == .readOnlyTransaction)
        }
        let kept = try connection.blocking.read { try $0.ext("own", as: ScriptedExtension.self).tables }
        #expect(code { _ = try kept.rows("SELECT n FROM own") } == .transactionEnded)
    }

    @Test func rowsThatASavepointUndoesFailTheTransaction() throws {
        let own = ScriptedExtension(tables: ["own"], fills: false)
        try database.blocking.register(own, withName: "own")
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction in
                let tables = try transaction.ext("own", as: ScriptedExtension.self).tables
                try? tables.savepoint {
                    try transaction.set("x", "1")
                    throw Refused()
                }
            }
        }
        #expect(try connection.blocking.read { try $0.todo("1") } == nil)
    }
}

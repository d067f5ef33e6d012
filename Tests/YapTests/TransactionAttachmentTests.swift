import Dispatch
import System
import Testing

@testable import Yap

/// What an app attaches to a transaction: information for observers of the commit, completions, a value of its own.
struct TransactionAttachmentTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let commits = CommitList()

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection(name: "editor")
        database.addInlineCommitObserver { [commits] in commits.add($0) }
    }

    private func infos() -> [Int?] { commits.commits.map { $0.info as? Int } }

    /// The lines that completions added to `log`, in their order, once all of them have run.
    private func lines(_ log: Log) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            do {
                // Completions run one at a time, so this is the last one.
                try last { continuation.resume(returning: log.lines) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private func last(_ completion: @escaping @Sendable () -> Void) throws {
        try connection.blocking.readWrite { try $0.addCompletion(completion) }
    }

    /// Runs writes as one group.
    private func group(_ writes: [MemberRequest<Void>]) {
        let queue = WorkQueue<any WriteRequest>()
        for write in writes { _ = queue.push(write) }
        GroupWriter(queue: queue, writer: database.writer).runOnce()
    }

    private func write(
        by connection: YapDatabaseConnection,
        _ body: @escaping @Sendable (YapDatabaseReadWriteTransaction) throws -> Void
    ) -> MemberRequest<Void> {
        MemberRequest(by: connection, body) { _ in }
    }

    // MARK: Commits

    @Test func aCommitHasTheInformationOfItsTransactionAlone() throws {
        try connection.blocking.readWrite { transaction in
            #expect(transaction.commitInfo == nil)
            transaction.commitInfo = 7
            try transaction.set("a", "1")
        }
        try connection.blocking.readWrite { try $0.set("b", "1") }
        #expect(infos() == [7, nil])
        #expect(commits.commits.allSatisfy { $0.wasMade(by: connection) })
        // One that failed, and one that changed nothing, are no commits.
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction throws in
                transaction.commitInfo = 8
                try transaction.set("c", "1")
                throw Refused()
            }
        }
        try connection.blocking.readWrite { $0.commitInfo = 9 }
        #expect(infos() == [7, nil])
    }

    @Test func aCommitNamesItsConnection() async throws {
        let other = database.newConnection()
        try await connection.readWrite { try $0.set("a", "1") }
        try await connection.readWrite { try $0.set("b", "1") }
        try await other.readWrite { try $0.set("c", "1") }
        try await database.register(WordCounter(), withName: "words")
        let (seen, editor) = (commits.commits, connection)
        #expect(seen.map { $0.wasMade(by: editor) } == [true, true, false, false])
        #expect(seen.map { $0.wasMade(by: other) } == [false, false, true, false])
        #expect(seen.map(\.connectionName) == ["editor", "editor", nil, nil])
        // The missed commits may be those of others.
        var late = seen[0]
        late.missedCommits = 1
        #expect(!late.wasMade(by: editor) && late.connectionName == nil)
        try await database.close()
    }

    @Test func aCommitOfAnotherInstanceHasNeitherInformationNorConnection() throws {
        let other = try folder.open()
        try other.newConnection(name: "editor").blocking.readWrite { transaction in
            transaction.commitInfo = 7
            try transaction.set("a", "1")
        }
        try connection.blocking.read { _ in }
        let commit = try #require(commits.commits.last)
        #expect(commit.isExternal && commit.info == nil && commit.connectionName == nil)
        #expect(!commit.wasMade(by: connection))
    }

    @Test func eachMemberOfAGroupHasItsOwnInformationConnectionAndCompletions() async throws {
        let (log, other) = (Log(), database.newConnection(name: "sync"))
        group([
            write(by: connection) {
                $0.commitInfo = 1
                try $0.addCompletion { log.add("1") }
                try $0.set("a", "1")
            },
            write(by: other) { transaction throws in
                transaction.commitInfo = 2
                try transaction.addCompletion { log.add("2") }
                try transaction.set("b", "2")
                throw Refused()
            },
            write(by: other) {
                try $0.addCompletion { log.add("3") }
                try $0.set("c", "3")
            },
            write(by: connection) {
                $0.commitInfo = 4
                try $0.set("d", "4")
            },
        ])
        #expect(infos() == [1, nil, 4])
        #expect(commits.commits.map(\.connectionName) == ["editor", "sync", "editor"])
        #expect(try await lines(log) == ["1", "3"])
        try await database.close()
    }

    @Test func aGroupThatIsNotCommittedCompletesNothing() async throws {
        let log = Log()
        try database.letCommitsFail()
        group([
            write(by: connection) {
                try $0.addCompletion { log.add("1") }
                try $0.set("a", "1")
            },
            write(by: connection) {
                try $0.addCompletion { log.add("2") }
                try $0.makeCommitFail()
            },
        ])
        #expect(try await lines(log).isEmpty)
        #expect(commits.commits.isEmpty)
        try await database.close()
    }

    @Test func aFailedSavepointTakesItsInformationAndItsCompletionsWithIt() async throws {
        let log = Log()
        try await connection.readWrite { transaction in
            transaction.commitInfo = 1
            try transaction.addCompletion { log.add("before") }
            try? transaction.savepoint { () throws in
                transaction.commitInfo = 2
                try transaction.addCompletion { log.add("failed") }
                try transaction.savepoint { try transaction.addCompletion { log.add("inside") } }
                throw Refused()
            }
            #expect(transaction.commitInfo as? Int == 1)
            try transaction.savepoint { try transaction.addCompletion { log.add("kept") } }
            try transaction.addCompletion { log.add("after") }
            try transaction.set("a", "1")
        }
        #expect(try await lines(log) == ["before", "kept", "after"])
        #expect(infos() == [1])
        try await database.close()
    }

    // MARK: Completions

    @Test func completionsRunInOrderAfterTheCommitAndMayWrite() async throws {
        let (log, connection) = (Log(), connection)
        for number in 1...3 {
            try await connection.readWrite { transaction in
                for part in ["a", "b"] {
                    try transaction.addCompletion {
                        let title = try? connection.blocking.readWrite { transaction in
                            try transaction.set("later", "later")
                            return try transaction.todo("\(number)")?.title
                        }
                        log.add("\(title ?? "-") \(part)")
                    }
                }
                try transaction.set("\(number)", "\(number)")
            }
        }
        #expect(try await lines(log) == ["1 a", "1 b", "2 a", "2 b", "3 a", "3 b"])
        try await database.close()
    }

    @Test func whatWasRolledBackIsNotCompleted() async throws {
        let log = Log()
        try await connection.readWrite { transaction in
            try transaction.addCompletion { log.add("rolled back") }
            try transaction.set("a", "1")
            transaction.rollback()
        }
        await #expect(throws: Refused.self) {
            try await connection.readWrite { transaction throws in
                try transaction.addCompletion { log.add("thrown") }
                try transaction.set("a", "1")
                throw Refused()
            }
        }
        // It changes nothing, and is no failure.
        try await connection.readWrite { try $0.addCompletion { log.add("unchanged") } }
        let ended = try await connection.readWrite { UncheckedTransaction($0) }
        #expect(code { try ended.transaction.addCompletion { log.add("ended") } } == .transactionEnded)
        #expect(try await lines(log) == ["unchanged"])
        try await database.close()
    }

    @Test func aCompletionThatBlocksDelaysNoWrite() async throws {
        let gate = DispatchSemaphore(value: 0)
        try await connection.readWrite { try $0.addCompletion { gate.wait() } }
        for title in ["a", "b"] { try await connection.readWrite { try $0.set(title, "1") } }
        #expect(commits.commits.count == 2)
        gate.signal()
        #expect(try await lines(Log()).isEmpty)
        try await database.close()
    }

    @Test func completionsThatWereNotCalledAreBounded() async throws {
        let (gate, count) = (DispatchSemaphore(value: 0), CompletionQueue.completionsMax)
        defer { gate.signal() }
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        // One that runs doesn't count.
        try await connection.readWrite { transaction in
            try transaction.addCompletion {
                begin.finish()
                gate.wait()
            }
        }
        for await _ in began {}
        let fill: @Sendable (YapDatabaseReadWriteTransaction) throws -> Void = { transaction in
            for _ in 1..<count { try transaction.addCompletion {} }
            try transaction.addCompletion { end.finish() }
            #expect(code { try transaction.addCompletion {} } == .tooManyCompletions)
        }
        // What fails gives its places back.
        try await connection.readWrite { transaction in
            try fill(transaction)
            transaction.rollback()
        }
        try await connection.readWrite { transaction in
            try? transaction.savepoint {
                try fill(transaction)
                throw Refused()
            }
            try fill(transaction)
            // It may go on.
            try transaction.set("a", "1")
        }
        try await connection.readWrite { transaction in
            #expect(code { try transaction.addCompletion {} } == .tooManyCompletions)
            try transaction.set("b", "1")
        }
        #expect(commits.commits.count == 2)
        gate.signal()
        for await _ in ended {}
        #expect(try await lines(Log()).isEmpty)
        try await database.close()
    }

    @Test func completionsOfADatabaseThatIsClosedStillRun() async throws {
        let (gate, log) = (DispatchSemaphore(value: 0), Log())
        let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
        try await connection.readWrite { transaction in
            try transaction.addCompletion { gate.wait() }
            try transaction.addCompletion {
                log.add("run")
                continuation.finish()
            }
        }
        try await database.close()
        gate.signal()
        for await _ in ended {}
        #expect(log.lines == ["run"])
    }

    // MARK: A value of the app's own

    @Test func aTransactionHasItsConnectionAndAValueForItsTime() throws {
        var transactions: [YapDatabaseReadTransaction] = []
        try connection.blocking.read { transaction throws in
            #expect(transaction.connection === connection && transaction.userInfo == nil)
            transaction.userInfo = 1
            #expect(transaction.userInfo as? Int == 1)
            transactions.append(transaction)
        }
        try connection.blocking.readWrite { transaction throws in
            #expect(transaction.connection === connection && transaction.userInfo == nil)
            transaction.userInfo = 2
            try? transaction.savepoint { () throws in
                transaction.userInfo = 3
                throw Refused()
            }
            #expect(transaction.userInfo as? Int == 3)
            transactions.append(transaction)
        }
        #expect(transactions.allSatisfy { $0.connection == nil && $0.userInfo == nil })
    }

    @Test func aHookFindsTheValueAndTheConnectionOfTheWrite() throws {
        let log = Log()
        try database.blocking.register(
            YapDatabaseHooks(
                "hooks", of: Todo.self, in: "todos",
                didModify: { _, transaction in
                    log.add("\(transaction.connection?.name ?? "-") \(transaction.userInfo as? Int ?? 0)")
                }))
        try connection.blocking.readWrite { transaction in
            transaction.userInfo = 5
            try transaction.set("a", "1")
        }
        #expect(log.lines == ["editor 5"])
    }

    // MARK: Releasing

    /// Notes with which error a write in its `deinit` fails.
    private final class Attached: Sendable {
        private let connection: YapDatabaseConnection
        private let log: Log

        init(_ connection: YapDatabaseConnection, _ log: Log) {
            (self.connection, self.log) = (connection, log)
        }

        deinit {
            let failure = code { try connection.blocking.readWrite { _ in } }
            let reading = code { try connection.blocking.read { _ in } }
            log.add(failure?.rawValue ?? reading?.rawValue ?? "written")
        }
    }

    @Test func whatWasAttachedIsReleasedWithNoLockHeld() throws {
        let (folder, log) = (try TestFolder(), Log())
        let connection = try folder.open().newConnection()
        try connection.blocking.readWrite { transaction in
            transaction.commitInfo = Attached(connection, log)
            transaction.userInfo = Attached(connection, log)
            try transaction.set("a", "1")
        }
        #expect(log.take() == ["written", "written"])
        try? connection.blocking.readWrite { transaction throws in
            transaction.commitInfo = Attached(connection, log)
            transaction.userInfo = Attached(connection, log)
            let attached = Attached(connection, log)
            try transaction.addCompletion { withExtendedLifetime(attached) {} }
            throw Refused()
        }
        #expect(log.take() == ["written", "written", "written"])
        try connection.blocking.read { $0.userInfo = Attached(connection, log) }
        #expect(log.take() == ["written"])
    }
}

/// A transaction that a test takes out of its closure.
private struct UncheckedTransaction: @unchecked Sendable {
    // Sendable because the test uses it after the transaction has ended, when each call throws.
    let transaction: YapDatabaseReadWriteTransaction

    init(_ transaction: YapDatabaseReadWriteTransaction) { self.transaction = transaction }
}

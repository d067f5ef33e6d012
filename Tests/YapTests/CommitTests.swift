import Testing

@testable import Yap

struct CommitTests {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
    }

    /// The commit that the closure makes, as an observer gets it.
    private func commit(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> YapDatabaseCommit
    {
        let seen = CommitList()
        let id = database.addInlineCommitObserver { seen.add($0) }
        try connection.blocking.readWrite(body)
        database.removeCommitObserver(id)
        return try #require(seen.commits.last)
    }

    @Test func aCommitNamesWhatItChanged() throws {
        try connection.blocking.readWrite {
            for key in ["kept", "updated", "removed", "touched", "again"] { try $0.set("old", key) }
            try $0.setObject("x", forKey: "n", inCollection: "notes")
        }
        let commit = try self.commit { transaction in
            try transaction.set("new", "inserted")
            try transaction.set("new", "updated")
            try transaction.removeObject(forKey: "removed", inCollection: "todos")
            try transaction.touchRow(forKey: "touched", inCollection: "todos")
            try transaction.removeObject(forKey: "again", inCollection: "todos")
            try transaction.set("new", "again")
            try transaction.removeAllObjects(inCollection: "notes")
        }
        #expect(commit.snapshot == 2 && !commit.isExternal)
        #expect(commit.insertedKeys(inCollection: "todos") == ["inserted"])
        #expect(commit.updatedKeys(inCollection: "todos") == ["again", "updated"])
        #expect(commit.removedKeys(inCollection: "todos") == ["removed"])
        #expect(commit.touchedKeys(inCollection: "todos") == ["touched"])
        #expect(
            commit.changedKeys(inCollection: "todos") == [
                "again", "inserted", "removed", "touched", "updated",
            ])
        #expect(commit.changedCollections == ["notes", "todos"])
        #expect(commit.didClear(collection: "notes") && !commit.didClear(collection: "todos"))
        #expect(commit.hasChange(inCollection: "todos") && !commit.hasChange(inCollection: "other"))
        #expect(commit.hasChange(forKey: "updated", inCollection: "todos"))
        #expect(!commit.hasChange(forKey: "kept", inCollection: "todos"))
        #expect(commit.hasChange(forKey: "n", inCollection: "notes"))
        let cleared = try self.commit { try $0.removeAllObjectsInAllCollections() }
        #expect(cleared.didClearAllCollections && cleared.hasChange(forKey: "x", inCollection: "any"))
    }

    @Test func aCommitWithMoreChangesThanItNamesSaysSo() throws {
        var options = YapDatabaseOptions()
        options.changedKeysPerCommitMax = 3
        let other = try folder.open(options)
        let seen = CommitList()
        other.addInlineCommitObserver { seen.add($0) }
        try other.newConnection().blocking.readWrite { transaction in
            for number in 0..<5 { try transaction.set("t", "\(number)") }
            try transaction.setObject("x", forKey: "n", inCollection: "notes")
        }
        let commit = try #require(seen.commits.last)
        #expect(commit.isIncomplete(inCollection: "todos") && commit.isIncomplete(inCollection: "notes"))
        #expect(commit.changedKeys(inCollection: "todos") == ["0", "1", "2"])
        #expect(commit.hasChange(forKey: "4", inCollection: "todos"))
        #expect(!commit.isIncomplete(inCollection: "other"))
    }

    @Test func commitsComeInOrderFromTheMomentTheyAreAskedFor() async throws {
        try await connection.readWrite { try $0.set("a", "1") }
        var commits = database.commits.makeAsyncIterator()
        try await connection.readWrite { try $0.set("b", "2") }
        try await connection.readWrite { try $0.set("c", "3") }
        let second = await commits.next()
        let third = await commits.next()
        #expect(second?.snapshot == 2 && second?.missedCommits == 0)
        #expect(third?.changedKeys(inCollection: "todos") == ["3"])
        try await database.close()
        #expect(await commits.next()?.snapshot == nil)
    }

    @Test func aSlowReaderOfCommitsIsNotifiedOfTheGap() async throws {
        var commits = database.commits.makeAsyncIterator()
        for number in 0..<100 { try await connection.readWrite { try $0.set("a", "\(number)") } }
        let first = try #require(await commits.next())
        #expect(first.snapshot == 37 && first.missedCommits == 36)
        // Code that knows nothing of gaps is told that everything may have changed.
        #expect(first.hasChange(inCollection: "notes"))
        let second = try #require(await commits.next())
        #expect(
            second.snapshot == 38 && second.missedCommits == 0 && !second.hasChange(inCollection: "notes"))
    }

    @Test func anObserverMayWriteAndIsCalledInOrder() throws {
        let log = Log()
        let connection = connection
        database.addInlineCommitObserver { commit in
            log.add("begin \(commit.snapshot)")
            if commit.snapshot < 3 {
                do {
                    try connection.blocking.readWrite { try $0.set("t", "\(commit.snapshot)") }
                } catch {
                    log.add("\(error)")
                }
            }
            log.add("end \(commit.snapshot)")
        }
        try connection.blocking.readWrite { try $0.set("a", "1") }
        #expect(log.lines == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"])
    }

    @Test func commitsThatWaitForASlowObserverAreBoundedAndTheGapIsMarked() throws {
        let writesCount = CommitPublisher.queuedCommitsMax + 100
        let seen = CommitList()
        let connection = connection
        database.addInlineCommitObserver { commit in
            seen.add(commit)
            guard commit.snapshot == 1 else { return }
            for number in 0..<writesCount {
                do {
                    try connection.blocking.readWrite { try $0.set("t", "\(number)") }
                } catch {
                    Issue.record(error)
                }
            }
        }
        try connection.blocking.readWrite { try $0.set("a", "first") }
        let commits = seen.commits
        #expect(commits.count == CommitPublisher.queuedCommitsMax + 1)
        #expect(commits[1].missedCommits == 100 && commits[1].hasChange(inCollection: "any"))
        #expect(commits.dropFirst(2).allSatisfy { $0.missedCommits == 0 })
        #expect(commits.last?.snapshot == UInt64(writesCount) + 1)
    }

    @Test func anObserverIsNotCalledInsideAWriteTransaction() throws {
        let other = try folder.open()
        let log = Log()
        database.addInlineCommitObserver { [connection] commit in
            guard commit.isExternal else { return }
            let failure = code { try connection.blocking.readWrite { try $0.set("seen", "seen") } }
            log.add(failure?.rawValue ?? "written")
        }
        try other.newConnection().blocking.readWrite { try $0.set("a", "1") }
        // The write notices the other's commit; the read inside must not hand it out yet.
        try connection.blocking.readWrite { [database] _ in
            _ = try database.newConnection().blocking.read(\.snapshot)
        }
        #expect(log.lines == ["written"])
    }

    @Test func aRemovedObserverIsNotCalled() throws {
        let log = Log()
        let id = database.addInlineCommitObserver { log.add("\($0.snapshot)") }
        try connection.blocking.readWrite { try $0.set("a", "1") }
        database.removeCommitObserver(id)
        try connection.blocking.readWrite { try $0.set("a", "2") }
        #expect(log.lines == ["1"])
    }

    @Test func anObservationGivesTheValueNowAndAfterEachCommitThatCanChangeIt() async throws {
        let log = Log()
        var values = connection.observe { transaction in
            log.add("query")
            return try transaction.numberOfKeys(inCollection: "todos")
        }.makeAsyncIterator()
        #expect(try await values.next() == 0)
        try await connection.readWrite { try $0.set("a", "1") }
        #expect(try await values.next() == 1)
        // A commit to another collection does not ask again; two commits are answered by one value.
        try await connection.readWrite { try $0.setObject("x", forKey: "n", inCollection: "notes") }
        try await connection.readWrite { try $0.set("b", "2") }
        try await connection.readWrite { try $0.set("c", "3") }
        #expect(try await values.next() == 3)
        #expect(log.lines.count == 3)
        try await connection.readWrite { try $0.removeAllObjects(inCollection: "todos") }
        #expect(try await values.next() == 0)
        try await database.close()
        #expect(try await values.next() == nil)
    }

    @Test func anObservationThrowsWhatItsQueryThrows() async throws {
        var values = connection.observe { _ -> Int in throw Refused() }.makeAsyncIterator()
        await #expect(throws: Refused.self) { try await values.next() }
    }
}

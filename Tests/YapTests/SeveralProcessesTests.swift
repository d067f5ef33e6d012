import Foundation
import Testing

@testable import Yap

/// Two instances on one file know as little of each other as two processes do.
struct SeveralProcessesTests {
    let folder: TestFolder
    let ours: YapDatabase
    let theirs: YapDatabase
    let connection: YapDatabaseConnection
    let other: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        ours = try folder.open()
        theirs = try folder.open()
        connection = ours.newConnection()
        other = theirs.newConnection()
    }

    @Test func whatAnotherProcessCommittedIsSeenByReadersAndWriters() throws {
        try connection.blocking.readWrite { try $0.set("ours", "1") }
        #expect(try other.blocking.read { try $0.todo("1") }?.title == "ours")
        try other.blocking.readWrite { try $0.set("theirs", "1") }
        #expect(try connection.blocking.read { try $0.todo("1") }?.title == "theirs")
        try connection.blocking.readWrite { transaction throws in
            #expect(try transaction.todo("1")?.title == "theirs")
            #expect(transaction.snapshot == 2)
            try transaction.set("ours again", "1")
        }
        #expect(try other.blocking.read { try $0.todo("1") }?.title == "ours again")
        #expect(ours.snapshot == 3)
    }

    @Test func aCommitOfAnotherProcessBetweenTwoOfOursDropsTheCaches() throws {
        try connection.blocking.readWrite { try $0.set("first", "1") }
        _ = try connection.blocking.read { try $0.todo("1") }
        try other.blocking.readWrite { try $0.set("theirs", "1") }
        // Our commit is known in memory, and theirs before it is not.
        try ours.newConnection().blocking.readWrite { try $0.set("second", "2") }
        #expect(try connection.blocking.read { try $0.todo("1") }?.title == "theirs")
    }

    @Test func aCommitThatFailedIsNotTakenForTheOneOfThatNumberByAnotherProcess() throws {
        try ours.letCommitsFail()
        try connection.blocking.readWrite { try $0.set("first", "1") }
        _ = try connection.blocking.read { try $0.todo("1") }
        #expect(
            code {
                try connection.blocking.readWrite { transaction in
                    try transaction.set("failed", "1")
                    try transaction.makeCommitFail()
                }
            } == .sqlite)
        try other.blocking.readWrite { try $0.set("theirs", "1") }
        #expect(try connection.blocking.read { try $0.todo("1") }?.title == "theirs")
    }

    /// A database whose observers are notified at its next transaction, and a connection of it.
    private func withoutNotification() throws -> (YapDatabase, YapDatabaseConnection) {
        var options = YapDatabaseOptions()
        options.observesOtherProcesses = false
        let database = try folder.open(options)
        return (database, database.newConnection())
    }

    @Test func observersAreNotifiedOfAnotherProcessesCommitWhenItIsSeen() async throws {
        let (ours, connection) = try withoutNotification()
        var commits = ours.commits.makeAsyncIterator()
        try await connection.readWrite { try $0.set("ours", "1") }
        try await other.readWrite { try $0.set("theirs", "2") }
        try await other.readWrite { try $0.set("theirs", "3") }
        _ = try await connection.read { _ in }
        try await connection.readWrite { try $0.set("ours", "4") }
        let first = await commits.next()
        let second = try #require(await commits.next())
        let third = await commits.next()
        #expect(first?.snapshot == 1 && first?.isExternal == false)
        #expect(second.snapshot == 3 && second.isExternal && second.missedCommits == 1)
        #expect(second.hasChange(forKey: "2", inCollection: "todos") && second.changedCollections == [])
        #expect(third?.snapshot == 4 && third?.isExternal == false && third?.missedCommits == 0)
    }

    @Test func observersAreNotifiedOfACommitOfAnotherProcessWithoutATransactionHere() async throws {
        var commits = ours.commits.makeAsyncIterator()
        try await other.readWrite { try $0.set("theirs", "1") }
        let commit = try #require(await commits.next())
        #expect(commit.snapshot == 1 && commit.isExternal)
        var titles = connection.observe { try $0.todo("1")?.title }.makeAsyncIterator()
        #expect(try await titles.next() == "theirs")
        try await other.readWrite { try $0.set("changed", "1") }
        #expect(try await titles.next() == "changed")
    }

    @Test func anUnobservedDatabaseHasNoFileForNotifications() async throws {
        try await other.readWrite { try $0.set("theirs", "1") }
        let names = { try FileManager.default.contentsOfDirectory(atPath: self.folder.path) }
        #expect(try names().allSatisfy { !$0.hasSuffix("-notify") })
        _ = ours.commits
        #expect(try names().contains { $0.hasSuffix("-notify") })
    }

    @Test func aCommitOfAnotherProcessIsNoticedByTheFirstReadOfANewConnection() async throws {
        let (ours, connection) = try withoutNotification()
        var commits = ours.commits.makeAsyncIterator()
        try await other.readWrite { try $0.set("theirs", "1") }
        _ = try await ours.newConnection().read { _ in }
        try await connection.readWrite { try $0.set("ours", "2") }
        let first = try #require(await commits.next())
        #expect(first.snapshot == 1 && first.isExternal)
        #expect(await commits.next()?.snapshot == 2)
    }

    @Test func extensionsDropTheirCachesWhenAnotherProcessWrote() throws {
        try ours.blocking.register(WordCounter(), withName: "words")
        try theirs.blocking.register(WordCounter(), withName: "words")
        func counts() throws -> [Int] {
            try [connection, other].map { connection in
                try connection.blocking.read { try $0.ext("words", as: WordCounter.self).count(of: "buy") }
            }
        }
        #expect(try counts() == [0, 0])
        try connection.blocking.readWrite { try $0.set("buy", "1") }
        #expect(try counts() == [1, 1])
        try other.blocking.readWrite { try $0.set("buy", "2") }
        #expect(try counts() == [2, 2])
        try connection.blocking.readWrite {
            try $0.set("buy", "3")
            #expect(try $0.ext("words", as: WordCounter.self).count(of: "buy") == 3)
        }
        #expect(try counts() == [3, 3])
    }

    @Test func aWriteThatWaitsTooLongForAnotherProcessIsBusy() throws {
        var options = YapDatabaseOptions()
        options.busyTimeoutMilliseconds = 0
        let impatient = try folder.open(options).newConnection()
        try connection.blocking.readWrite { _ in
            #expect(code { try impatient.blocking.readWrite { _ in } } == .busy)
            #expect(code { try impatient.blocking.read { _ in } } == nil)
        }
        try impatient.blocking.readWrite { try $0.set("later", "1") }
    }
}

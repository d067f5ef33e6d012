import Foundation
import SQLite
import SQLiteTestSupport
import Testing

@testable import Yap

/// `database.vacuum()`.
@Suite struct VacuumTests {
    private let folder: TestFolder
    private let index = YapDatabaseSecondaryIndex("titles", of: Todo.self, in: "todos", version: "1") {
        $0.column(\.title)
    }

    init() throws { folder = try TestFolder() }

    /// A database with few rows and many free pages.
    private func shrunk(_ options: YapDatabaseOptions = YapDatabaseOptions()) throws -> YapDatabase {
        let database = try folder.open(options)
        try database.blocking.register(index)
        let connection = database.newConnection()
        try connection.blocking.readWrite { transaction in
            for number in 0..<2_000 {
                try transaction.set(String(repeating: "x", count: 500) + "\(number)", "\(number)")
            }
        }
        try connection.blocking.readWrite { transaction in
            try transaction.removeObjects(forKeys: (100..<2_000).map { "\($0)" }, inCollection: "todos")
        }
        try database.writer.withCore { _ = try $0.store.sqlite.checkpoint() }
        return database
    }

    private func size() throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: folder.file)[.size] as? Int)
    }

    @Test func theFileGetsSmallerAndAllConnectionsReadOn() async throws {
        let database = try shrunk()
        let other = try folder.open()
        try await other.register(index)
        let theirs = other.newConnection()
        let last = String(repeating: "x", count: 500) + "99"
        #expect(try await theirs.read { try $0.todo("99") }?.title == last)
        let (before, snapshot) = (try size(), database.snapshot)
        try await database.vacuum()
        #expect(try size() < before / 5)
        #expect(database.snapshot == snapshot)
        for connection in [theirs, database.newConnection()] {
            try await connection.read { [index] transaction throws in
                #expect(try transaction.numberOfKeys(inCollection: "todos") == 100)
                let rows = try transaction[index].rows(where: { $0.title == last })
                #expect(rows.map(\.key) == ["99"])
            }
        }
        try await theirs.readWrite { try $0.set("after", "1") }
        #expect(try await database.newConnection().read { try $0.todo("1") }?.title == "after")
        #expect(try DatabaseFile(path: folder.file).integrityMessages().isEmpty)
    }

    @Test func aFullDiskLeavesTheFileAsItWas() throws {
        let vfs = FaultVFS()
        var options = YapDatabaseOptions()
        options.vfsName = vfs.name
        let database = try shrunk(options)
        let before = try size()
        vfs.arm(.diskFull, at: 5, .sticky)
        #expect(code { try database.blocking.vacuum() } == .diskFull)
        vfs.disarm()
        #expect(try size() == before)
        let connection = database.newConnection()
        #expect(try connection.blocking.read { try $0.numberOfKeys(inCollection: "todos") } == 100)
        try connection.blocking.readWrite { try $0.set("after", "1") }
        try database.blocking.vacuum()
        #expect(try size() < before / 5)
        try database.blocking.close()
    }

    @Test func aCancelledVacuumLeavesTheFileAsItWas() async throws {
        let database = try shrunk()
        let before = try size()
        #expect(throws: CancellationError.self) { try database.blocking.vacuum { true } }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await database.vacuum()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try size() == before)
        try await database.newConnection().readWrite { try $0.set("after", "1") }
        #expect(try DatabaseFile(path: folder.file).integrityMessages().isEmpty)
    }

    @Test func itIsRefusedInsideOfAWriteAndAfterTheEnd() throws {
        let database = try folder.open()
        try database.newConnection().blocking.readWrite { _ in
            #expect(code { try database.blocking.vacuum() } == .nestedTransaction)
        }
        try database.blocking.close()
        #expect(code { try database.blocking.vacuum() } == .closed)
    }

    @Test func aWriterOfAnotherProcessIsWaitedForOnlySoLong() throws {
        var options = YapDatabaseOptions()
        options.busyTimeoutMilliseconds = 0
        let database = try shrunk(options)
        let other = try folder.open()
        try other.newConnection().blocking.readWrite { _ in
            #expect(code { try database.blocking.vacuum() } == .busy)
        }
        try database.blocking.vacuum()
    }
}

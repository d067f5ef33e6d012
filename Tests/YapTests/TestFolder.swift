import Foundation
import SQLiteTestSupport
import System
import Waiting

@testable import Yap

struct Todo: Codable, Sendable, Equatable {
    var title: String
    var isDone = false
    var priority = 0
}

struct Stamp: Codable, Sendable, Equatable {
    var milliseconds: Int64
}

/// A folder of a test's own, removed when the test lets it go.
final class TestFolder: Sendable {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    var path: String { folder.path }
    var file: String { folder.file("test.yap") }

    /// The options, with the key that `Scripts/sqlcipher` gives.
    static func options(_ options: YapDatabaseOptions = YapDatabaseOptions()) throws -> YapDatabaseOptions {
        var options = options
        if options.encryptionKey == nil,
            let key = ProcessInfo.processInfo.environment["YAP_TEST_KEY"]
        {
            options.encryptionKey = try .init(bytes: Array(key.utf8))
        }
        return options
    }

    /// A database with todos (with stamps as metadata) in "todos", and texts in "notes". `Scripts/sqlcipher` lets it be
    /// encrypted.
    func open(
        _ options: YapDatabaseOptions = YapDatabaseOptions(),
        _ more: (inout YapDatabaseConfiguration) -> Void = { _ in }
    ) throws -> YapDatabase {
        try YapDatabase(path: file, options: Self.options(options)) {
            $0.register(Todo.self, metadata: Stamp.self, inCollection: "todos")
            $0.register(String.self, inCollection: "notes")
            more(&$0)
        }
    }
}

/// A database with a connection in a folder of its own.
struct TodoStage {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection

    /// - Parameter titles: Titles of todos, by their keys.
    init(_ titles: KeyValuePairs<String, String> = [:], metadata: Stamp? = nil) throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
        if titles.isEmpty { return }
        try connection.blocking.readWrite { transaction in
            for (key, title) in titles {
                try transaction.setObject(
                    Todo(title: title), metadata: metadata, forKey: key, inCollection: "todos")
            }
        }
    }
}

extension YapDatabaseReadTransaction {
    func todo(_ key: String) throws -> Todo? {
        try object(Todo.self, forKey: key, inCollection: "todos")
    }
}

extension YapDatabaseReadWriteTransaction {
    func set(_ title: String, _ key: String) throws {
        try setObject(Todo(title: title), forKey: key, inCollection: "todos")
    }
}

extension YapDatabaseConnection {
    /// What a new connection, whose caches are empty, reads.
    func todoFromDisk(_ key: String) throws -> Todo? {
        try database.newConnection().blocking.read { try $0.todo(key) }
    }
}

/// The code of the error that `body` throws; `nil` when it throws none.
func code(_ body: () throws -> Void) -> YapDatabaseError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? YapDatabaseError)?.code
    }
}

struct Refused: Error, Equatable {}

/// What happened, in order; from any thread.
final class Log: Sendable {
    private let state = WatchedValue<[String]>([])

    var lines: [String] { state.value }

    func add(_ line: String) {
        state.change { $0.append(line) }
    }

    /// Returns when it has so many lines.
    func has(_ count: Int) async { await state.becomes { $0.count >= count } }

    /// The lines so far, which are then forgotten.
    func take() -> [String] {
        state.change { lines in
            defer { lines = [] }
            return lines
        }
    }
}

/// The commits that an observer was called with.
final class CommitList: Sendable {
    private let state = Lock<[YapDatabaseCommit]>([])

    var commits: [YapDatabaseCommit] { state.withLock { $0 } }

    func add(_ commit: YapDatabaseCommit) {
        state.withLock { $0.append(commit) }
    }
}

/// Runs `body` on a thread of its own. Returns whether the system gave one.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    (try? SystemThread.detach(name: "test", body)) != nil
}

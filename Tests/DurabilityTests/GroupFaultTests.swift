import OwnThreads
import SQLite
import SQLiteTestSupport
import Testing
import Yap

/// Writes of many tasks share commits. When a call fails, each task is told the truth about its own.
@Suite(.onOwnThreads) struct GroupFaultTests {
    static let tasksCount = 24
    static let rowsCount = 3

    @Test(arguments: [FaultKind.write, .sync, .diskFull], FaultDuration.allCases)
    func eachMemberOfAGroupGetsItsResult(kind: FaultKind, duration: FaultDuration) async throws {
        var failedCount = 0
        for nth in stride(from: 1, through: 60, by: 3) {
            let folder = try TemporaryFolder()
            let vfs = FaultVFS()
            let path = folder.file("test.yap")
            let database = try open(path, vfs)
            vfs.arm(kind, at: nth, duration)
            let acknowledged = await write(database)
            vfs.disarm()
            failedCount += Self.tasksCount - acknowledged.count
            let expected = Set(acknowledged.flatMap { task in (0..<Self.rowsCount).map { "\(task)-\($0)" } })
            let comment = Comment(rawValue: "\(kind) \(duration) \(nth)")
            #expect(try keys(database) == expected, comment)
            let fresh = try open(path, nil)
            #expect(try keys(fresh) == expected, comment)
            #expect(database.snapshot == UInt64(acknowledged.count), comment)
            try await fresh.close()
            try await database.close()
            #expect(try Connection(path: path).integrityCheck() == [], comment)
        }
        #expect(failedCount > 0)
    }

    private func open(_ path: String, _ vfs: FaultVFS?) throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.vfsName = vfs?.name
        return try YapDatabase(path: path, options: options) { configuration in
            configuration.register(String.self, inCollection: "rows")
        }
    }

    /// The tasks whose write returned.
    private func write(_ database: YapDatabase) async -> Set<Int> {
        let connection = database.newConnection()
        let value = String(repeating: "x", count: 2000)
        return await withTaskGroup(of: Int?.self) { group in
            for task in 0..<Self.tasksCount {
                group.addTask {
                    do {
                        try await connection.readWrite { transaction in
                            for row in 0..<Self.rowsCount {
                                try transaction.setObject(
                                    value, forKey: "\(task)-\(row)", inCollection: "rows")
                            }
                        }
                        return task
                    } catch {
                        return nil
                    }
                }
            }
            var acknowledged: Set<Int> = []
            for await task in group { task.map { _ = acknowledged.insert($0) } }
            return acknowledged
        }
    }

    private func keys(_ database: YapDatabase) throws -> Set<String> {
        try Set(database.newConnection().blocking.read { try $0.allKeys(inCollection: "rows") })
    }
}

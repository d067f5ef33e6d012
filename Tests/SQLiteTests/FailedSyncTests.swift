import SQLite
import SQLiteTestSupport
import Testing

/// A commit that begins the write-ahead log anew makes two syncs: of the log's header, before it overwrites the first
/// frames, and of the frames. When one fails, what is in the log must neither damage the file nor bring the commit
/// back.
@Suite struct FailedSyncTests {
    /// What happens after the commit whose sync failed, with the syncs still failing or mended.
    private enum Sequel: CaseIterable {
        case nothing
        case anotherFails
        case anotherIsCutShort
    }

    private let folder: TemporaryFolder
    private let disk = SimulatedDisk()
    private let options: OpenOptions

    init() throws {
        folder = try TemporaryFolder()
        var options = OpenOptions()
        options.vfsName = disk.name
        self.options = options
    }

    @Test(
        "159. a power loss after a commit that failed as it began the log anew leaves the file whole",
        arguments: [1, 2])
    func aPowerLossAfterTheLogWasBegunAnewLeavesAWholeFile(failingSync: Int) throws {
        for sequel in Sequel.allCases {
            for seed: UInt64 in 1...60 {
                let what = "sync \(failingSync), then \(sequel), seed \(seed)"
                let path = folder.file("\(what).sqlite")
                let failed = try fail(path, failingSync, sequel, changes: 1 + Int(seed % 6))
                try disk.start(with: .synced(seed: seed))
                let connection = try Connection(path: path, options: options)
                #expect(try connection.integrityCheck() == [], "\(what)")
                // Frames that no sync followed may come back, as a whole.
                let value = try value(connection)
                #expect(value == 20 || failed.contains(value), "\(what): \(value)")
            }
        }
    }

    @Test(arguments: [1, 2])
    func aCommitThatFailedAsItBeganTheLogAnewIsNotFoundByTheNextProcess(failingSync: Int) throws {
        for sequel in [Sequel.nothing, .anotherFails] {
            let path = folder.file("\(failingSync) \(sequel).sqlite")
            _ = try fail(path, failingSync, sequel, changes: 1)
            try disk.start(with: .writes)
            let connection = try Connection(path: path, options: options)
            #expect(try connection.integrityCheck() == [])
            #expect(try value(connection) == 20, "sync \(failingSync), then \(sequel)")
        }
    }

    /// Commits twenty times, copies the log into the file, lets the next commit fail in a sync, and ends.
    /// - Returns: the values of the commits that were not acknowledged.
    private func fail(_ path: String, _ failingSync: Int, _ sequel: Sequel, changes: Int) throws -> [Int64] {
        let connection = try Connection(path: path, options: options)
        try connection.execute(
            """
            CREATE TABLE items (id INTEGER PRIMARY KEY, value INTEGER, text TEXT);
            CREATE INDEX items_value ON items (value);
            WITH numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers WHERE number < 40)
            INSERT INTO items (value, text) SELECT 0, printf('%500c', 'x') FROM numbers
            """)
        for value in 1...20 { try set(value, connection) }
        try connection.checkpoint()
        disk.failSyncs(from: failingSync)
        #expect(throws: SQLiteError.self) { try set(100, connection) }
        switch sequel {
        case .nothing: disk.die()
        case .anotherFails:
            #expect(throws: SQLiteError.self) { try set(101, connection) }
            disk.die()
        case .anotherIsCutShort:
            disk.mend()
            disk.die(atChange: changes, losesPower: true)
            try? set(101, connection)
            disk.die()
        }
        disk.mend()
        return [100, 101]
    }

    /// Changes each row and the index, all in one commit.
    private func set(_ value: Int, _ connection: Connection) throws {
        try connection.transaction(.immediate) {
            try connection.execute("UPDATE items SET value = \(value), text = text || \(value)")
        }
    }

    /// The one value of all rows.
    private func value(_ connection: Connection) throws -> Int64 {
        let values = try connection.integers("SELECT DISTINCT value FROM items")
        return try #require(values.count == 1 ? values.first : nil, "\(values)")
    }
}

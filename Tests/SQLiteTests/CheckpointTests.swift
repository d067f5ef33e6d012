import Dispatch
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

@Suite struct CheckpointTests {
    let folder: TemporaryFolder
    let vfs = FaultVFS()

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.file("test.sqlite") }

    private func open(checkpointFrames: Int32 = 1000) throws -> Connection {
        var options = OpenOptions()
        options.vfsName = vfs.name
        options.checkpointFrames = checkpointFrames
        let connection = try Connection(path: path, options: options)
        try connection.execute("CREATE TABLE IF NOT EXISTS items (data BLOB)")
        return connection
    }

    /// A connection past the VFS under test, as another process has it. It waits for nobody.
    private func other() throws -> Connection {
        var options = OpenOptions()
        options.busyTimeoutMilliseconds = 0
        return try Connection(path: path, options: options)
    }

    /// The same, in a transaction that reads what is there now.
    private func reader() throws -> Connection {
        let reader = try other()
        try reader.begin(.deferred)
        _ = try reader.integer("SELECT count(*) FROM items")
        return reader
    }

    private func add(_ connection: Connection, rowsCount: Int = 1) throws {
        try connection.transaction(.immediate) {
            for _ in 0..<rowsCount { try connection.execute("INSERT INTO items VALUES (zeroblob(3000))") }
        }
    }

    @Test func aCheckpointCopiesTheLogAndTheNextCommitBeginsItAnew() throws {
        let connection = try open()
        try add(connection, rowsCount: 50)
        let result = try connection.checkpoint()
        #expect(result.logFrames > 50 && result.checkpointedFrames == result.logFrames)
        try add(connection)
        #expect(connection.logFrames < 10)
    }

    @Test func inMemoryThereIsNothingToCopy() throws {
        #expect(try Connection(path: ":memory:").checkpoint().logFrames == -1)
    }

    @Test func aReaderHoldsTheLogUntilItHasRead() throws {
        let connection = try open()
        try add(connection, rowsCount: 50)
        let reader = try reader()
        try add(connection)
        let held = try connection.checkpoint(readersMilliseconds: 3)
        #expect(held.checkpointedFrames < held.logFrames && held.hasReaders)
        try reader.rollback()
        let result = try connection.checkpoint()
        #expect(result.checkpointedFrames == result.logFrames && !result.hasReaders)
    }

    @Test func aReaderOfTheNewestHoldsNothingBackButTheLogsBeginning() throws {
        let connection = try open()
        try add(connection, rowsCount: 50)
        let reader = try reader()
        let result = try connection.checkpoint()
        #expect(result.checkpointedFrames == result.logFrames && result.hasReaders)
        try add(connection)
        #expect(connection.logFrames > 50)
        try reader.rollback()
    }

    @Test(arguments: [true, false])
    func aCheckpointWaitsForReadersSoThatTheLogBeginsAnew(readsTheNewest: Bool) throws {
        let connection = try open()
        try add(connection, rowsCount: 50)
        let reader = Shared(try reader())
        if !readsTheNewest { try add(connection) }
        let calls = Lock(0)
        // It goes while the log is copied. What isn't copied whole is synced once.
        vfs.watch { kind in
            let count = calls.withLock { calls in
                calls += kind == .sync ? 1 : 0
                return calls
            }
            if count == (readsTheNewest ? 2 : 1) { try? reader.connection.rollback() }
        }
        let result = try connection.checkpoint(readersMilliseconds: 60_000)
        #expect(result.checkpointedFrames == result.logFrames)
        try add(connection)
        #expect(connection.logFrames < 10)
    }

    /// Whatever SQLite's version: a commit, which may begin the log anew, and a checkpoint never overlap.
    @Test func noCommitRunsDuringACheckpoint() throws {
        let connection = try open(checkpointFrames: 20)
        try add(connection)
        let other = Shared(try other())
        let outcomes = Lock((busy: 0, committed: 0))
        vfs.watch { _ in
            do {
                try other.connection.execute("INSERT INTO items VALUES (zeroblob(3000))")
                outcomes.withLock { $0.committed += 1 }
            } catch let error as SQLiteError where error.isBusy {
                outcomes.withLock { $0.busy += 1 }
            } catch {
                Issue.record(error)
            }
        }
        for _ in 0..<60 { try add(connection) }
        try connection.checkpoint()
        // A second one that begins at once, and finds all copied.
        try connection.checkpoint()
        let (busy, committed) = outcomes.withLock { $0 }
        #expect(committed == 0)
        #expect(busy > 200)
        try add(other.connection)
        #expect(try connection.integer("SELECT count(*) FROM items") == 62)
        #expect(try connection.integrityCheck() == [])
    }

    private func copyLog() throws -> Int {
        var options = OpenOptions()
        options.vfsName = vfs.name
        return try Connection.copyLogWhileOthersCommit(path: path, options: options)
    }

    /// The rows of a copy of the file and its log, as they would be found after a crash.
    private func rowsOfCopy() throws -> Int64? {
        let copy = try TemporaryFolder()
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: path + ending, toPath: copy.file("copy.sqlite\(ending)"))
        }
        let connection = try Connection(path: copy.file("copy.sqlite"))
        #expect(try connection.integrityCheck() == [])
        return try connection.integer("SELECT count(*) FROM items")
    }

    /// Whatever SQLite's version: commits go on, and none begins the log anew while it is copied.
    @Test func othersCommitWhileTheLogIsCopiedAndNoneBeginsItAnew() throws {
        let connection = try open()
        try add(connection, rowsCount: 50)
        let other = Shared(try other())
        let frames = Lock<[Int]>([])
        vfs.watch { _ in
            do {
                try other.connection.execute("INSERT INTO items VALUES (zeroblob(3000))")
                frames.withLock { $0.append(other.connection.logFrames) }
            } catch {
                Issue.record(error)
            }
        }
        let copiedFrames = try copyLog()
        vfs.watch { _ in }
        let seen = frames.withLock { $0 }
        #expect(seen.count > 50 && seen == seen.sorted())
        #expect(copiedFrames > 50)
        #expect(try rowsOfCopy() == Int64(50 + seen.count))
        // What came meanwhile is left to copy, and then the log begins anew.
        let result = try connection.checkpoint()
        #expect(result.checkpointedFrames == result.logFrames && result.logFrames > copiedFrames)
        try add(connection)
        #expect(connection.logFrames < 10)
        #expect(try rowsOfCopy() == Int64(51 + seen.count))
    }

    /// What SQLite 3.7.0 to 3.51.2 must not meet: logs are begun anew while copies begin and end.
    @Test func copiesBesideCommitsThatBeginTheLogAnewLoseNothing() throws {
        var options = OpenOptions()
        options.checkpointFrames = 20
        let connection = try Connection(path: path, options: options)
        try connection.execute("CREATE TABLE items (data BLOB)")
        let path = path
        let copies = Lock((count: 0, isOver: false))
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { ended.signal() }
            while !copies.withLock({ $0.isOver }) {
                do {
                    try Connection.copyLogWhileOthersCommit(path: path, options: OpenOptions())
                    copies.withLock { $0.count += 1 }
                } catch let error as SQLiteError where error.isBusy {
                    continue
                } catch {
                    Issue.record(error)
                    return
                }
            }
        }
        var (rowsCount, begunAnewCount, frames) = (0, 0, 0)
        while rowsCount < 50_000, begunAnewCount < 20 || copies.withLock({ $0.count }) < 20 {
            try add(connection)
            rowsCount += 1
            if connection.logFrames < frames { begunAnewCount += 1 }
            frames = connection.logFrames
        }
        copies.withLock { $0.isOver = true }
        ended.wait()
        #expect(begunAnewCount >= 20 && copies.withLock { $0.count } >= 20)
        #expect(try rowsOfCopy() == Int64(rowsCount))
    }

    @Test func aCheckpointDoesNotBeginWhileAnotherConnectionWrites() throws {
        let connection = try open()
        try add(connection)
        try connection.execute("PRAGMA busy_timeout = 0")
        let other = try other()
        try other.begin(.immediate)
        let error = #expect(throws: SQLiteError.self) { try connection.checkpoint() }
        #expect(error?.isBusy == true)
        try other.rollback()
        try connection.checkpoint()
    }

    @Test func theVersionsWithTheWALResetBugAreKnown() {
        for version in ["3.7.0", "3.40.1", "3.44.5", "3.45.0", "3.50.6", "3.51.0", "3.51.2"] {
            #expect(SQLiteVersion(version)?.hasWALResetBug == true, "\(version)")
        }
        for version in ["3.6.23", "3.44.6", "3.50.7", "3.51.3", "3.53.0", "4.0.0"] {
            #expect(SQLiteVersion(version)?.hasWALResetBug == false, "\(version)")
        }
        #expect(SQLiteVersion("three") == nil)
        #expect(SQLiteVersion.loaded.text == Connection.libraryVersion)
    }

    @Test func noConnectionMakesSQLitesOwnCheckpoints() throws {
        let connection = try open()
        for _ in 0..<1_500 { try connection.execute("INSERT INTO items VALUES (zeroblob(3000))") }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(connection.logFrames > 1_500)
        #expect(size.map { $0 <= 2 * 4096 } == true)
    }

    @Test func aFailingCheckpointIsReportedUntilOneSucceeds() throws {
        let connection = try open(checkpointFrames: 20)
        try add(connection, rowsCount: 15)
        #expect(connection.checkpointError == nil)
        // The commit's own sync is the first.
        vfs.arm(.sync, at: 2, .once)
        try add(connection, rowsCount: 15)
        #expect(connection.checkpointError?.isSyncFailure == true)
        #expect(try connection.integer("SELECT count(*) FROM items") == 30)
        try add(connection)
        #expect(connection.checkpointError != nil, "each attempt copies all: not at each commit")
        try add(connection, rowsCount: 20)
        #expect(connection.checkpointError == nil)
    }
}

/// A connection that a VFS's calls use, on the thread that made them.
private final class Shared: @unchecked Sendable {
    // Sendable because the VFS is called by the one thread that runs the test.
    let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }
}

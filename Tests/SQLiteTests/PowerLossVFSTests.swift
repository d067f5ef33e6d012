import Foundation
import SQLite
import SQLiteTestSupport
import Testing

@Suite struct PowerLossVFSTests {
    /// Runs the commits of `FaultVFSTests` until the power goes at change `cut`, and says what was acknowledged.
    private struct Run {
        let folder: TemporaryFolder
        let vfs = PowerLossVFS()
        let acknowledged: [Int64]
        let wasCut: Bool
        var path: String { folder.file("test.sqlite") }

        init(cutAtChange cut: Int, _ synchronous: Synchronous) throws {
            folder = try TemporaryFolder()
            var options = OpenOptions()
            options.vfsName = vfs.name
            options.synchronous = synchronous
            options.cacheBytes = 16 << 10
            vfs.cutPower(atChange: cut)
            acknowledged = commits(10, of: 5, path: folder.file("test.sqlite"), options: options)
            wasCut = vfs.isPowerCut
            vfs.cutPower()
        }
    }

    @Test func withFullSyncNoAcknowledgedCommitIsLostAtAnyPowerFailure() throws {
        var cut = 1
        var wasCut = true
        while wasCut {
            let run = try Run(cutAtChange: cut, .full)
            wasCut = run.wasCut
            let seed = UInt64(cut) &* 977
            try run.vfs.restorePower(seed: seed)
            try verify(
                path: run.path, acknowledged: run.acknowledged, membersCount: 5, "cut \(cut), seed \(seed)")
            cut += 1
            try #require(cut < 2000)
        }
        #expect(cut > 100)
    }

    @Test func withNormalSyncCommitsMayBeLostAndTheFileStaysSound() throws {
        var lostCount = 0
        for cut in stride(from: 3, to: 300, by: 7) {
            let run = try Run(cutAtChange: cut, .normal)
            try run.vfs.restorePower(seed: UInt64(cut))
            let connection = try Connection(path: run.path)
            #expect(try connection.integrityCheck() == [], "cut \(cut)")
            let hasTable = try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'items'")
            guard hasTable == 1 else { continue }
            let halves = "SELECT commit_number FROM items GROUP BY commit_number HAVING count(*) <> 5"
            #expect(try connection.integers(halves) == [], "cut \(cut)")
            let found = try Set(connection.integers("SELECT DISTINCT commit_number FROM items"))
            lostCount += run.acknowledged.filter { !found.contains($0) }.count
        }
        #expect(lostCount > 0)
    }

    /// The tester must be able to see a loss: without syncs there are lost commits and damaged files.
    @Test func withoutSyncsCommitsAreLostAndFilesDamaged() throws {
        var lostCount = 0
        var damagedCount = 0
        for cut in stride(from: 3, to: 300, by: 3) {
            let run = try Run(cutAtChange: cut, .off)
            try run.vfs.restorePower(seed: UInt64(cut))
            do {
                let connection = try Connection(path: run.path)
                if try !connection.integrityCheck().isEmpty { damagedCount += 1 }
                let found = try Set(connection.integers("SELECT DISTINCT commit_number FROM items"))
                lostCount += run.acknowledged.filter { !found.contains($0) }.count
            } catch let error as SQLiteError {
                if error.isCorrupt || error.isNotADatabase { damagedCount += 1 }
                lostCount += run.acknowledged.count
            }
        }
        #expect(lostCount > 0)
        #expect(damagedCount > 0)
    }

    @Test func oneSeedLeavesTheSameBytesAndSeedsDiffer() throws {
        func content(seed: UInt64) throws -> (Data?, Int) {
            let folder = try TemporaryFolder()
            let vfs = PowerLossVFS()
            var options = OpenOptions()
            options.vfsName = vfs.name
            options.synchronous = .off
            let connection = try Connection(path: folder.file("test.sqlite"), options: options)
            // Not in the log, whose salts are random.
            try connection.execute("PRAGMA journal_mode=DELETE; CREATE TABLE items (data BLOB)")
            try connection.execute(
                "INSERT INTO items VALUES (zeroblob(100000)); UPDATE items SET data = hex(data)")
            vfs.cutPower()
            try connection.close()
            let lost = try vfs.restorePower(seed: seed)
            return (FileManager.default.contents(atPath: folder.file("test.sqlite")), lost)
        }
        var distinct: Set<Int> = []
        for seed in 1...12 as ClosedRange<UInt64> {
            let first = try content(seed: seed)
            let second = try content(seed: seed)
            #expect(first == second)
            distinct.insert(first.1)
        }
        #expect(distinct.count > 2)
    }

    @Test func powerComesBackOnlyWhenAllIsClosedAndThenAllWorks() throws {
        let folder = try TemporaryFolder()
        let vfs = PowerLossVFS()
        var options = OpenOptions()
        options.vfsName = vfs.name
        let connection = try Connection(path: folder.file("test.sqlite"), options: options)
        try connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY); INSERT INTO items VALUES (1)")
        vfs.cutPower()
        #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO items VALUES (2)") }
        #expect(throws: PowerLossError.self) { try vfs.restorePower(seed: 1) }
        try connection.close()
        try vfs.restorePower(seed: 1)
        let again = try Connection(path: folder.file("test.sqlite"), options: options)
        try again.execute("INSERT INTO items VALUES (3)")
        #expect(try again.integers("SELECT id FROM items") == [1, 3])
        #expect(vfs.changesCount > 0)
    }
}

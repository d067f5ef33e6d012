import OwnThreads
import SQLiteTestSupport
import System
import TestSeed
import Testing

/// The power goes at each write, sync, truncation and deletion of each workload; of what was not synced the disk keeps
/// what a seed decides. Then it goes once more while the file is opened again.
@Suite(.onOwnThreads) struct PowerLossTests {
    @Test(arguments: Workload.all)
    func yapKeepsEveryAcknowledgedCommit(workload: Workload) throws {
        try sweep(YapSubject.self, workload, isDurable: true)
    }

    @Test(arguments: Workload.all)
    func theCloudStoreKeepsEveryAcknowledgedCommit(workload: Workload) throws {
        try sweep(CloudStoreSubject.self, workload, isDurable: true)
    }

    @Test(arguments: Workload.all)
    func yapWithNormalDurabilityLosesOnlyTheLastCommits(workload: Workload) throws {
        let lostCount = try sweep(YapSubject.self, workload, isDurable: false)
        // The tester can see a loss.
        #expect(lostCount > 0)
    }

    @discardableResult
    private func sweep<Store: Subject>(_ type: Store.Type, _ workload: Workload, isDurable: Bool) throws
        -> Int
    {
        let seed = TestSeed.value
        var lostCount = 0
        var cut = 0
        for place in Places.oneIn(3) {
            cut = place
            guard let lost = try loses(type, workload, isDurable, cut, seed &+ UInt64(cut)) else { break }
            lostCount += lost
        }
        // A whole workload changes the disk more often than it commits.
        #expect(cut > 30)
        print(
            "power: \(Store.name), \(workload), durable \(isDurable): points up to \(cut) from seed \(seed), "
                + "\(lostCount) commits lost"
        )
        return lostCount
    }

    /// How many commits were lost when the power went at change `cut`; `nil` when the workload ended before.
    private func loses<Store: Subject>(
        _ type: Store.Type, _ workload: Workload, _ isDurable: Bool, _ cut: Int, _ seed: UInt64
    ) throws -> Int? {
        let folder = try TemporaryFolder()
        let vfs = PowerLossVFS()
        vfs.cutPower(atChange: cut)
        let run = WorkloadRun<Store>(
            path: folder.file("test.db"), vfsName: vfs.name, isDurable: isDurable,
            comment: "\(Store.name), \(workload), cut \(cut), seed \(seed)")
        run.run(workload)
        let wasCut = vfs.isPowerCut
        vfs.cutPower()
        run.close()
        try vfs.restorePower(seed: seed)
        guard wasCut else { return nil }

        vfs.cutPower(atChange: 1 + cut % 7)
        try? run.open()
        vfs.cutPower()
        run.close()
        try vfs.restorePower(seed: ~seed)
        return run.checkFile(mayLoseLast: !isDurable)
    }
}

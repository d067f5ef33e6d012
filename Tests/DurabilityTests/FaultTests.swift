import OwnThreads
import SQLiteTestSupport
import TestSeed
import Testing

/// For every N: the Nth call of a kind fails, once or from then on. Whatever was acknowledged is in the file, whatever
/// was not is absent or whole, the file is sound, and the open store reads what the file holds.
@Suite(.onOwnThreads) struct FaultTests {
    @Test(arguments: Workload.all, FaultKind.allCases)
    func yapKeepsItsPromisesWhereverACallFails(workload: Workload, kind: FaultKind) throws {
        try sweep(YapSubject.self, workload, kind)
    }

    @Test(arguments: Workload.all, FaultKind.allCases)
    func theCloudStoreKeepsItsPromisesWhereverACallFails(workload: Workload, kind: FaultKind) throws {
        try sweep(CloudStoreSubject.self, workload, kind)
    }

    private func sweep<Store: Subject>(_ type: Store.Type, _ workload: Workload, _ kind: FaultKind) throws {
        let callsCount = try countCalls(type, workload, kind)
        let name = "\(Store.name), \(workload), \(kind)"
        for duration in FaultDuration.allCases {
            let end = try Places.oneIn(12).first { nth in
                try !fires(type, workload, kind, duration, at: nth, "\(name) \(nth) \(duration)")
            }
            // The workload makes no fewer calls after a fault was armed that never fires.
            let isComplete = end.map { $0 > callsCount } ?? false
            #expect(isComplete, "\(name) \(duration): ended early")
        }
        print("faults: \(name): \(callsCount) points, swept once and sticky")
    }

    private func countCalls<Store: Subject>(
        _ type: Store.Type, _ workload: Workload, _ kind: FaultKind
    ) throws -> Int {
        let folder = try TemporaryFolder()
        let vfs = FaultVFS()
        let run = WorkloadRun<Store>(path: folder.file("test.db"), vfsName: vfs.name, comment: "\(workload)")
        run.run(workload)
        let commits = workload.steps.filter { if case .commit = $0 { true } else { false } }
        #expect(run.acknowledgedCount == commits.count)
        let count = vfs.count(of: kind)
        run.close()
        return count
    }

    private func fires<Store: Subject>(
        _ type: Store.Type, _ workload: Workload, _ kind: FaultKind, _ duration: FaultDuration, at nth: Int,
        _ comment: String
    ) throws -> Bool {
        let folder = try TemporaryFolder()
        let vfs = FaultVFS()
        vfs.arm(kind, at: nth, duration)
        let run = WorkloadRun<Store>(path: folder.file("test.db"), vfsName: vfs.name, comment: comment)
        run.run(workload)
        let hasFired = vfs.firedCount > 0
        vfs.disarm()
        run.checkFile()
        run.commitWithoutFaults()
        run.checkFile()
        run.close()
        run.checkFile()
        return hasFired
    }
}

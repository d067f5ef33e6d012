import CloudStore
import SQLite
import SQLiteTestSupport
import Testing

/// The power fails at every change of the disk, one after the other.
@Suite struct PowerLossTests {
    @Test(arguments: Workload.all) func whatWasAcknowledgedOutlivesThePower(_ workload: Workload) throws {
        for nth in 1... {
            for seed in [UInt64(1), 2, 3] {
                guard try run(workload, powerCutAt: nth, seed: seed) else { return }
            }
        }
    }

    /// Returns false when the workload changes the disk less often than that.
    private func run(_ workload: Workload, powerCutAt nth: Int, seed: UInt64) throws -> Bool {
        let folder = try TemporaryFolder()
        let vfs = PowerLossVFS()
        let path = folder.file("store.db")
        var options = OpenOptions()
        options.vfsName = vfs.name
        var acknowledged: [Int] = []
        do {
            let store = try SQLiteCloudStore(path: path, options: options)
            vfs.cutPower(atChange: nth)
            for (index, step) in workload.steps.enumerated() {
                do {
                    try step(store)
                    acknowledged.append(index)
                } catch is CloudStoreError {
                    break
                }
            }
        }
        guard acknowledged.count < workload.steps.count || vfs.isPowerCut else { return false }
        try vfs.restorePower(seed: seed)
        let reopened = try SQLiteCloudStore(path: path, options: options)
        #expect(try reopened.integrityCheck() == [])
        let found = try Content(of: reopened)
        // The write that the power cut short may have reached the disk whole, or not at all.
        let next = acknowledged.count < workload.steps.count ? [acknowledged + [acknowledged.count]] : []
        #expect(
            try ([acknowledged] + next).contains { try workload.content(after: $0) == found },
            "power cut at \(nth), seed \(seed): acknowledged \(acknowledged)")
        return true
    }
}

import CloudStore
import SQLite
import SQLiteTestSupport
import TestSeed
import Testing

/// The power fails at every change of the disk, one after the other.
@Suite struct PowerLossTests {
    @Test(arguments: Workload.all) func whatWasAcknowledgedOutlivesThePower(_ workload: Workload) throws {
        for nth in Places.oneIn(3) {
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
        // So that the power goes in checkpoints too.
        options.checkpointFrames = 10
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

    @Test("155. a power loss doesn't undo what a store showed after its process was killed")
    func whatIsFoundAfterAKillOutlivesThePower() throws {
        var foundCount = 0
        for nth in 1...40 {
            for seed in [UInt64(1), 2, 3] where try isFound(killedAt: nth, seed: seed) { foundCount += 1 }
        }
        #expect(foundCount > 0, "a kill between the writes of a commit and its sync leaves it to be found")
    }

    /// - Returns: Whether the commit that the kill cut short was found, and then outlived the power.
    private func isFound(killedAt nth: Int, seed: UInt64) throws -> Bool {
        let folder = try TemporaryFolder()
        let disk = SimulatedDisk()
        let path = folder.file("store.db")
        var options = OpenOptions()
        options.vfsName = disk.name
        do {
            let store = try SQLiteCloudStore(path: path, options: options)
            disk.die(atChange: nth, losesPower: false)
            do {
                try store.apply { $0.records = [Rows.record("a", counter: 1)] }
                return false
            } catch is CloudStoreError {}
        }
        try disk.start(with: .writes)
        do {
            let store = try SQLiteCloudStore(path: path, options: options)
            guard try store.record("a") != nil else { return false }
            disk.die()
        }
        try disk.start(with: .synced(seed: seed))
        let store = try SQLiteCloudStore(path: path, options: options)
        #expect(try store.record("a") != nil, "killed at \(nth), seed \(seed)")
        return true
    }
}

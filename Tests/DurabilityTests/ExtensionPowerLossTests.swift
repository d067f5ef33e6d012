import ExtensionModel
import OwnThreads
import SQLiteTestSupport
import TestSeed
import Testing
import Yap

/// The power goes while extensions are filled and while they catch up; of what was not synced the disk keeps what a
/// seed decides.
@Suite(.onOwnThreads) struct ExtensionPowerLossTests {
    /// How many places are taken beside the first ones.
    private static let placesCount = 12

    @Test(arguments: ExtensionSweep.allCases)
    func extensionsMatchTheRowsAfterAnyPowerFailure(sweep: ExtensionSweep) throws {
        let seed = TestSeed.value
        let template = try sweep.file(seed: seed)
        let changesCount = try countChanges(template)
        var (cutsCount, unfinishedCount) = (0, 0)
        for cut in Places.oneIn(max(1, changesCount / Self.placesCount)) {
            if cut > changesCount { break }
            let comment = "seed \(seed), \(sweep), cut \(cut)"
            if try isUnfinished(template, cut, seed &+ UInt64(cut), comment) { unfinishedCount += 1 }
            cutsCount += 1
        }
        #expect(unfinishedCount > 0)
        print("power: \(sweep): \(cutsCount) of \(changesCount) places, \(unfinishedCount) in the middle")
    }

    private func countChanges(_ template: ExtensionFile) throws -> Int {
        let vfs = PowerLossVFS()
        let run = ExtensionRun(try ExtensionFile(copying: template), vfsName: vfs.name)
        let count = vfs.changesCount
        run.close()
        return count
    }

    /// Returns whether the power went with rows still to be handed over.
    private func isUnfinished(_ template: ExtensionFile, _ cut: Int, _ seed: UInt64, _ comment: String) throws
        -> Bool
    {
        let file = try ExtensionFile(copying: template)
        let vfs = PowerLossVFS()
        vfs.cutPower(atChange: cut)
        let run = ExtensionRun(file, vfsName: vfs.name)
        vfs.cutPower()
        run.close()
        try vfs.restorePower(seed: seed)
        let isUnfinished = try !file.notes().isEmpty
        try run.checkFile(comment)
        return isUnfinished
    }
}

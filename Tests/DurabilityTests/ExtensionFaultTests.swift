import ExtensionModel
import OwnThreads
import SQLiteTestSupport
import TestSeed
import Testing
import Yap

/// The Nth call of a kind fails, once or from then on, while extensions are filled and while they catch up.
@Suite(.onOwnThreads) struct ExtensionFaultTests {
    /// How many places of a kind are taken beside the first ones.
    private static let placesCount = 2

    // A file that is used and not closed is neither truncated nor deleted.
    @Test(arguments: ExtensionSweep.allCases, [FaultKind.open, .read, .write, .sync, .diskFull])
    func extensionsAreAsTheRowsAreWhereverACallFails(sweep: ExtensionSweep, kind: FaultKind) throws {
        let seed = TestSeed.value
        let template = try sweep.file(seed: seed)
        let callsCount = try countCalls(template, kind)
        var (sweptCount, failedCount) = (0, 0)
        for duration in FaultDuration.allCases {
            for place in Places.oneIn(max(1, callsCount / Self.placesCount)) {
                if place > callsCount { break }
                let comment = "seed \(seed), \(sweep), \(kind) \(place) \(duration)"
                if try fails(template, kind, duration, at: place, comment) { failedCount += 1 }
                sweptCount += 1
            }
        }
        #expect(failedCount > 0)
        print("faults: \(sweep), \(kind): \(sweptCount) runs, \(callsCount) places, \(failedCount) failed")
    }

    private func countCalls(_ template: ExtensionFile, _ kind: FaultKind) throws -> Int {
        let vfs = FaultVFS()
        let file = try ExtensionFile(copying: template)
        let run = ExtensionRun(file, vfsName: vfs.name)
        #expect(run.errors.isEmpty && run.acknowledged != nil, "\(run.errors)")
        let count = vfs.count(of: kind)
        run.close()
        try run.checkFile("without faults")
        return count
    }

    /// Returns whether it threw anything.
    private func fails(
        _ template: ExtensionFile, _ kind: FaultKind, _ duration: FaultDuration, at place: Int,
        _ comment: String
    ) throws -> Bool {
        let file = try ExtensionFile(copying: template)
        let vfs = FaultVFS()
        vfs.arm(kind, at: place, duration)
        let run = ExtensionRun(file, vfsName: vfs.name)
        vfs.disarm()
        run.checkErrors(comment)
        try run.checkOpen(comment)
        run.close()
        try run.checkFile(comment)
        return !run.errors.isEmpty
    }
}

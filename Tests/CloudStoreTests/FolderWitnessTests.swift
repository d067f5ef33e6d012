import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

@testable import CloudStore

/// A data folder that was put back is known by its witness, and no other is taken for one.
@Suite struct FolderWitnessTests {
    private let folder: TemporaryFolder
    private let data: DataFolder
    private let witness: FolderWitness

    init() throws {
        folder = try TemporaryFolder()
        data = DataFolder(path: folder.file("data"))
        try data.make()
        witness = FolderWitness(path: data.witnessPath)
    }

    /// A server begins on the folder; `end` marks it a last time, as one that is told to end does.
    @discardableResult
    private func serve(_ data: DataFolder, _ witness: FolderWitness, end: Bool = true) throws -> FolderHistory
    {
        let control = try ControlStore(path: data.controlPath)
        let history = try data.compare(control, witness)
        try data.mark(control, witness)
        if end { try data.mark(control, witness) }
        return history
    }

    private func copy(_ from: String, _ to: String) throws {
        try? FileManager.default.removeItem(atPath: to)
        try FileManager.default.copyItem(atPath: from, toPath: to)
    }

    private func makeStore() throws -> String {
        let path = try data.storePath(container: "c.d", environment: "production", makesFolders: true)
        let store = try SQLiteCloudStore(path: path)
        try store.apply { $0.zones = [ZoneRow(key: Rows.zone, epoch: 7)] }
        store.close()
        return path
    }

    private func epochs(_ path: String) throws -> [Int64] {
        let connection = try Connection(path: path)
        defer { try? connection.close() }
        return try connection.withStatement("SELECT epoch FROM zones ORDER BY zone") { statement in
            var epochs: [Int64] = []
            while try statement.step() { epochs.append(statement.int64(at: 0)) }
            return epochs
        }
    }

    @Test func aFolderThatWasPutBackIsNoticedAndGetsNewEpochs() throws {
        let store = try makeStore()
        try serve(data, witness)
        let cold = folder.file("cold")
        try copy(data.path, cold)
        let before = try epochs(store)
        // Served again, and be it that nobody told it to end.
        #expect(try serve(data, witness, end: false) == .isAsItWas)
        try copy(cold, data.path)
        #expect(try serve(data, witness) == .wasPutBack(environments: 1))
        let after = try epochs(store)
        #expect(!before.isEmpty && Set(before).isDisjoint(with: after))
        #expect(try serve(data, witness) == .isAsItWas, "once")
        // The same copy, put back again.
        try copy(cold, data.path)
        #expect(try serve(data, witness) == .wasPutBack(environments: 1))
    }

    @Test func aRenewalThatWasCutShortIsDoneAgain() throws {
        _ = try makeStore()
        try serve(data, witness)
        let cold = folder.file("cold")
        try copy(data.path, cold)
        try serve(data, witness)
        try copy(cold, data.path)
        // Killed before the folder is marked: the stores are renewed, and the witness is still ahead.
        try data.renewAll(SystemRandomSource())
        #expect(try serve(data, witness) == .wasPutBack(environments: 1))
    }

    @Test func aFolderOfBeforeItsWitnessIsNoticed() throws {
        let control = try Connection(path: data.controlPath)
        try control.execute("DELETE FROM folder")
        try control.close()
        let older = folder.file("older")
        try copy(data.path, older)
        #expect(try serve(data, witness) == .isAsItWas)
        try copy(older, data.path)
        #expect(try serve(data, witness) == .wasPutBack(environments: 0))
    }

    @Test func restartsKillsMovesBackupsAndNewMachinesAreNotTakenForIt() throws {
        #expect(try serve(data, witness) == .isAsItWas, "new")
        #expect(try serve(data, witness) == .isAsItWas, "ended in order")
        #expect(try serve(data, witness, end: false) == .isAsItWas)
        #expect(try serve(data, witness) == .isAsItWas, "killed")
        // Killed between the folder's mark and the witness's.
        _ = try ControlStore(path: data.controlPath).folderMarks.advance()
        #expect(try serve(data, witness) == .isAsItWas)
        // A backup into the same place, with the witness of what was there before.
        let archive = folder.file("b.tar")
        _ = try data.backUp(to: archive)
        #expect(try serve(data, witness) == .isAsItWas, "a backup changes nothing")
        try FileManager.default.removeItem(atPath: data.path)
        _ = try data.restore(from: archive)
        #expect(try serve(data, witness) == .isAsItWas, "a restore has renewed the epochs itself")
        #expect(try data.renewEpochs() == 0)
        #expect(try serve(data, witness) == .isAsItWas, "and so has yap restored")
        let moved = DataFolder(path: folder.file("moved"))
        try FileManager.default.moveItem(atPath: data.path, toPath: moved.path)
        #expect(try serve(moved, FolderWitness(path: moved.witnessPath)) == .isAsItWas, "no witness there")
        #expect(try serve(moved, witness) == .isAsItWas, "a witness at a place of its own")
        // Another folder in its place.
        try data.make()
        #expect(try serve(data, witness) == .isAsItWas)
    }

    @Test func aFolderThatWasPutBackByHandAndRenewedByHandIsRenewedOnce() throws {
        try serve(data, witness)
        let cold = folder.file("cold")
        try copy(data.path, cold)
        try serve(data, witness)
        try copy(cold, data.path)
        _ = try data.renewEpochs()
        #expect(try serve(data, witness) == .isAsItWas)
    }

    @Test func anUnreadableWitnessDoesNotPreventServing() throws {
        try Data("something else\n".utf8).write(to: URL(filePath: witness.path))
        let control = try ControlStore(path: data.controlPath)
        guard case .isUnknown = try data.compare(control, witness) else {
            Issue.record("it was read")
            return
        }
        #expect(throws: DataFolderError.self) { try data.mark(control, witness) }
        #expect(try String(contentsOfFile: witness.path, encoding: .utf8) == "something else\n")
    }

    @Test func theFolderIsMarkedOnDiskBeforeTheWitnessIsUpdated() throws {
        for nth in 1... {
            for seed in [UInt64(1), 2, 3] {
                guard try run(powerCutAt: nth, seed: seed) else { return }
            }
        }
    }

    /// Returns false when the marks change the disk less often than that.
    private func run(powerCutAt nth: Int, seed: UInt64) throws -> Bool {
        let folder = try TemporaryFolder()
        let data = DataFolder(path: folder.file("data"))
        try data.make()
        let witness = FolderWitness(path: data.witnessPath)
        let vfs = PowerLossVFS()
        do {
            let control = try ControlStore(path: data.controlPath, vfsName: vfs.name)
            vfs.cutPower(atChange: nth)
            do {
                for _ in 0..<4 { try data.mark(control, witness) }
            } catch is CloudStoreError {}
        }
        guard vfs.isPowerCut else { return false }
        try vfs.restorePower(seed: seed)
        let control = try ControlStore(path: data.controlPath, vfsName: vfs.name)
        #expect(
            try data.compare(control, witness) == .isAsItWas, "power cut at \(nth), seed \(seed)")
        return true
    }

    @Test func aWitnessRemembersSoManyIdentities() throws {
        for id in 1...40 { try witness.remember(FolderMark(id: UInt64(id), number: 1)) }
        #expect(try witness.marks().map(\.id) == (25...40).reversed().map { UInt64($0) })
        #expect(DataFolder(path: "/a/b//").witnessPath == "/a/b.witness")
    }
}

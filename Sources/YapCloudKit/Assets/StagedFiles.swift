internal import CloudWire
import Foundation
internal import System

/// The copies of files that a transaction makes and no longer needs.
///
/// Files that are to be sent are copied when their change is queued: the app's own may go or change the moment its
/// commit has returned. A copy is on the disk before the commit that names it, and is removed after the commit that no
/// longer does. So a crash leaves at most a copy that nothing names, and the next registration removes it.
final class StagedFiles {
    private let cloudKit: YapDatabaseCloudKit
    private let tables: CloudKitTables
    /// Made in this transaction: a rollback takes them away.
    private var made: [String] = []
    /// Named by no change any more once this transaction is committed.
    private var unused: [String] = []
    /// Whether copies are looked for that a crash left behind.
    var collectsOrphans = false
    /// Whether what waits for files has to be looked at again.
    var liftsMissingFiles = false

    init(_ cloudKit: YapDatabaseCloudKit, _ tables: CloudKitTables) {
        self.cloudKit = cloudKit
        self.tables = tables
    }

    /// Copies the files that the fields name. Those in the folder of files stay there: they never change.
    /// - Returns: The fields with the copies, and whether a file can't be read.
    func stage(_ fields: [String: Field]) throws -> (fields: [String: Field], isFileMissing: Bool) {
        var isFileMissing = false
        let staged = try fields.mappingAssets { asset in
            if let file = CloudFile(asset) {
                let folder = FileFolder(tables.files, files: cloudKit.assetFiles, random: cloudKit.random)
                _ = try folder.touch(file)
                return nil
            }
            guard let source = asset.fileURL?.path else { return nil }
            if let known = tables.assets.name(of: asset), try tables.queuedFiles.isKnownAsset(known) {
                return nil
            }
            let name = cloudKit.random.nextUUID()
            do {
                try cloudKit.assetFiles.copy(source, to: tables.assets.file(name))
            } catch AssetFileError.unreadable {
                isFileMissing = true
                return nil
            }
            made.append(name)
            try tables.queuedFiles.noteAsset(name)
            return tables.assets.asset(name)
        }
        return (staged, isFileMissing)
    }

    /// Finds out which copies go with the commit.
    func settle(isQueueTouched: Bool) throws {
        guard isQueueTouched || collectsOrphans else { return }
        unused += try tables.queuedFiles.takeUnusedAssets()
        guard collectsOrphans else { return }
        collectsOrphans = false
        let used = try tables.queuedFiles.usedAssets()
        unused += cloudKit.assetFiles.names(in: tables.assets.path).filter { !used.contains($0) }
    }

    /// Removes the copies that the commit needs no more.
    func didCommit() { remove(unused) }

    /// Removes what the transaction made.
    func didRollback() { remove(made) }

    private func remove(_ names: [String]) {
        for name in names { cloudKit.assetFiles.remove(tables.assets.file(name)) }
    }

    /// Notes that a change left the queue or is rewritten. If it waited for a file, other changes that wait for files
    /// are tried again.
    func noteChange(of change: ChangeRow) throws {
        if change.quarantineCode == MissingFiles.quarantineCode {
            liftsMissingFiles = true
        } else if change.fields.hasAssets, try tables.queuedFiles.hasMissingFiles(change.id) {
            liftsMissingFiles = true
        }
    }

    /// Lifts the quarantine of changes that wait for files, if one of the files has arrived or one of the changes was
    /// replaced.
    /// - Returns: Whether it lifted the quarantine.
    func liftMissingFiles() throws -> Bool {
        if try tables.queuedFiles.takeArrivedFiles() { liftsMissingFiles = true }
        guard liftsMissingFiles else { return false }
        liftsMissingFiles = false
        try tables.queue.liftQuarantine(code: MissingFiles.quarantineCode)
        return true
    }

    func makeRestorePoint() -> () -> Void {
        let (madeCount, saved) = (made.count, (made, unused, collectsOrphans, liftsMissingFiles))
        return { [self] in
            remove(Array(made.dropFirst(madeCount)))
            (made, unused, collectsOrphans, liftsMissingFiles) = saved
        }
    }
}

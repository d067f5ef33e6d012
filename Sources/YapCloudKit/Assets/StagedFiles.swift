internal import CloudWire
import Foundation
internal import System

/// The copies of files that a transaction makes, and the copies that are no longer needed after it.
///
/// Files are copied when their change is queued, because the app may delete or change its own file as soon as
/// the commit has returned. A copy is on disk before the commit that names it, and is removed after the
/// commit that removes its last name. So a crash can only leave copies without a name, which the next
/// registration removes.
final class StagedFiles {
    private let cloudKit: YapDatabaseCloudKit
    private let tables: CloudKitTables
    /// Copies made in this transaction. A rollback removes them.
    private var made: [String] = []
    /// Copies that no change names after this transaction is committed.
    private var unused: [String] = []
    /// True to look for copies that a crash has left.
    var collectsOrphans = false
    /// True to check the changes that wait for files again.
    var liftsMissingFiles = false

    init(_ cloudKit: YapDatabaseCloudKit, _ tables: CloudKitTables) {
        self.cloudKit = cloudKit
        self.tables = tables
    }

    /// Copies the files in the fields. Files in the sync's own folder of files aren't copied, because they
    /// never change.
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

    /// Determines the copies to remove after the commit.
    func settle(isQueueTouched: Bool) throws {
        guard isQueueTouched || collectsOrphans else { return }
        unused += try tables.queuedFiles.takeUnusedAssets()
        guard collectsOrphans else { return }
        collectsOrphans = false
        let used = try tables.queuedFiles.usedAssets()
        unused += cloudKit.assetFiles.names(in: tables.assets.path).filter { !used.contains($0) }
    }

    /// Removes the copies that aren't needed after the commit.
    func didCommit() { remove(unused) }

    /// Removes the copies that the transaction made.
    func didRollback() { remove(made) }

    private func remove(_ names: [String]) {
        for name in names { cloudKit.assetFiles.remove(tables.assets.file(name)) }
    }

    /// Records that a change was removed from the queue or rewritten. If it waited for a file, other changes
    /// that wait for files are tried again.
    func noteChange(of change: ChangeRow) throws {
        if change.quarantineCode == MissingFiles.quarantineCode {
            liftsMissingFiles = true
        } else if change.fields.hasAssets, try tables.queuedFiles.hasMissingFiles(change.id) {
            liftsMissingFiles = true
        }
    }

    /// Ends the quarantine of changes that wait for files, if one of the files has arrived or one of the
    /// changes was replaced.
    /// - Returns: True if the quarantine of a change was ended.
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

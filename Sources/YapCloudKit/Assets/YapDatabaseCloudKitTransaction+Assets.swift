internal import CloudKit
internal import CloudWire
import Foundation
internal import SQLite
internal import System

/// What a transaction does with copies of files.
struct StagedAssets {
    /// Made in this transaction: a rollback takes them away.
    var made: [String] = []
    /// Named by no change any more once this transaction is committed.
    var unused: [String] = []
    /// Whether copies are looked for that a crash left behind.
    var collectsOrphans = false
}

/// Files that are to be sent are copied when their change is queued: the app's own may go or change the moment its
/// commit has returned.
///
/// A copy is on the disk before the commit that names it, and is removed after the commit that no longer does. So a
/// crash leaves at most a copy that nobody names, and the next registration removes it.
extension YapDatabaseCloudKitTransaction {
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
            self.assets.made.append(name)
            try tables.queuedFiles.noteAsset(name)
            return tables.assets.asset(name)
        }
        return (staged, isFileMissing)
    }

    /// Finds out which copies go with the commit.
    func settleAssets() throws {
        guard isQueueTouched || assets.collectsOrphans else { return }
        assets.unused += try tables.queuedFiles.takeUnusedAssets()
        guard assets.collectsOrphans else { return }
        assets.collectsOrphans = false
        let used = try tables.queuedFiles.usedAssets()
        assets.unused += cloudKit.assetFiles.names(in: tables.assets.path).filter { !used.contains($0) }
    }

    func removeAssets(_ names: [String]) {
        for name in names { cloudKit.assetFiles.remove(tables.assets.file(name)) }
    }

    /// Nothing of the transaction is kept.
    public func didRollback() {
        removeAssets(assets.made)
    }
}

import CloudStore
import Seams

/// What users have uploaded and not saved, so that nobody fills the disk with files that no quota counts. Forgotten
/// with the process: a restart lets everybody upload anew.
struct UnsavedUploads {
    private struct Files {
        var bytes: Int64 = 0
        /// By digest: the size, and until when a record can be saved with it.
        var files: [[UInt8]: (bytes: Int64, untilMilliseconds: Int64)] = [:]
    }

    private var users: [String: Files] = [:]

    /// Whether a user may upload one more.
    mutating func admits(_ user: String, _ limits: AssetLimits, _ nowMilliseconds: Int64) -> Bool {
        guard let mine = users[user] else { return true }
        if mine.bytes < limits.unsavedBytesMax, mine.files.count < limits.unsavedFilesMax { return true }
        for (digest, file) in mine.files where file.untilMilliseconds <= nowMilliseconds {
            remove(digest, of: user)
        }
        guard let left = users[user] else { return true }
        return left.bytes < limits.unsavedBytesMax && left.files.count < limits.unsavedFilesMax
    }

    mutating func add(_ use: AssetUse, of user: String, untilMilliseconds: Int64) {
        remove(use.digest, of: user)
        users[user, default: Files()].bytes += use.bytes
        users[user, default: Files()].files[use.digest] = (use.bytes, untilMilliseconds)
    }

    mutating func remove(_ digest: [UInt8], of user: String) {
        guard let file = users[user]?.files.removeValue(forKey: digest) else { return }
        users[user]?.bytes -= file.bytes
        if users[user]?.files.isEmpty ?? false { users[user] = nil }
    }
}

extension CloudService {
    func rememberUnsaved(_ use: AssetUse, of user: String) {
        let until =
            clock.nowMilliseconds() + limits.assets.receiptMilliseconds + limits.assets.unusedMilliseconds
        unsaved.withLock { $0.add(use, of: user, untilMilliseconds: until) }
    }

    /// Records hold them now.
    func forgetUnsaved(_ rows: [RecordAssetsRow], of caller: ServiceCaller) {
        guard let user = caller.assetUser, !rows.isEmpty else { return }
        unsaved.withLock { unsaved in
            for use in rows.lazy.flatMap(\.uses) { unsaved.remove(use.digest, of: user) }
        }
    }
}

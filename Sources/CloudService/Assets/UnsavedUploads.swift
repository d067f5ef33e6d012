import CloudStore

/// What users have uploaded and not saved, so that nobody fills the disk with files that no quota counts. Forgotten
/// with the process: a restart lets everybody upload anew.
///
/// A file that was saved and let go of again lies on the disk until it is collected, so what was uploaded since the
/// last that may be collected counts too, but for what the user has.
struct UnsavedUploads {
    private static let hourMilliseconds: Int64 = 3_600_000

    private struct Files {
        var bytes: Int64 = 0
        /// By digest: the size, and until when a record can be saved with it.
        var files: [[UInt8]: (bytes: Int64, untilMilliseconds: Int64)] = [:]
        /// Bytes of all uploads, saved or not, by the hour until which their files stay.
        var sent: [Int64: Int64] = [:]
        /// Bytes of the uploads that have not ended.
        var underWayBytes: Int64 = 0

        var isEmpty: Bool { files.isEmpty && sent.isEmpty && underWayBytes == 0 }
    }

    private var users: [String: Files] = [:]

    /// Bytes that a user has uploaded and that may still lie on the disk.
    mutating func sentBytes(_ user: String, _ nowMilliseconds: Int64) -> Int64 {
        guard var mine = users[user] else { return 0 }
        mine.sent = mine.sent.filter { $0.key > nowMilliseconds / Self.hourMilliseconds }
        users[user] = mine.isEmpty ? nil : mine
        return mine.sent.values.reduce(0, +)
    }

    /// Returns true if a user may upload one more.
    mutating func admits(_ user: String, _ limits: AssetLimits, _ nowMilliseconds: Int64) -> Bool {
        hasRoom(user, nowMilliseconds) { mine in
            mine.bytes + mine.underWayBytes < limits.unsavedBytesMax
                && mine.files.count < limits.unsavedFilesMax
        }
    }

    /// Counts bytes of an upload that goes on; false when the user's other files are as many bytes as are allowed.
    ///
    /// - Parameter ownBytes: what was counted of this upload before. They don't count against it, so that one file may
    ///   be larger than the limit, as far as a file may.
    mutating func grow(
        _ user: String, by bytes: Int64, ownBytes: Int64, _ limits: AssetLimits, _ nowMilliseconds: Int64
    ) -> Bool {
        let isAdmitted = hasRoom(user, nowMilliseconds) { mine in
            mine.bytes + mine.underWayBytes - ownBytes < limits.unsavedBytesMax
        }
        if isAdmitted { users[user, default: Files()].underWayBytes += bytes }
        return isAdmitted
    }

    /// Returns true if a user has room, without the files that no record can be saved with any more where they are in
    /// the way.
    private mutating func hasRoom(
        _ user: String, _ nowMilliseconds: Int64, _ isRoom: (Files) -> Bool
    ) -> Bool {
        guard let mine = users[user], !isRoom(mine) else { return true }
        for (digest, file) in mine.files where file.untilMilliseconds <= nowMilliseconds {
            remove(digest, of: user)
        }
        return users[user].map(isRoom) ?? true
    }

    /// An upload has ended, finished or not.
    mutating func end(_ user: String, bytes: Int64) {
        users[user]?.underWayBytes -= bytes
        if users[user]?.isEmpty ?? false { users[user] = nil }
    }

    mutating func add(_ use: AssetUse, of user: String, untilMilliseconds: Int64) {
        remove(use.digest, of: user)
        users[user, default: Files()].bytes += use.bytes
        users[user, default: Files()].files[use.digest] = (use.bytes, untilMilliseconds)
        users[user, default: Files()].sent[untilMilliseconds / Self.hourMilliseconds, default: 0] += use.bytes
    }

    mutating func remove(_ digest: [UInt8], of user: String) {
        guard let file = users[user]?.files.removeValue(forKey: digest) else { return }
        users[user]?.bytes -= file.bytes
        if users[user]?.isEmpty ?? false { users[user] = nil }
    }
}

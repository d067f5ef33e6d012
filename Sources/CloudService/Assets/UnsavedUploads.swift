import CloudStore

/// The uploads of users that aren't saved in records yet. The limit prevents users from filling the disk with
/// files that no quota counts. Kept in memory, so a restart resets it.
///
/// A file that was saved and then removed from its record stays on disk until it is collected. So recent
/// uploads count too, until their files may be collected, except for the bytes in the user's quota.
struct UnsavedUploads {
    private static let hourMilliseconds: Int64 = 3_600_000

    private struct Files {
        var bytes: Int64 = 0
        /// By digest: the size, and the time until which a record can hold the file.
        var files: [[UInt8]: (bytes: Int64, untilMilliseconds: Int64)] = [:]
        /// Bytes of all uploads, saved or not, by the hour until which their files are kept.
        var sent: [Int64: Int64] = [:]
        /// Bytes of the uploads in progress.
        var underWayBytes: Int64 = 0

        var isEmpty: Bool { files.isEmpty && sent.isEmpty && underWayBytes == 0 }
    }

    private var users: [String: Files] = [:]

    /// Bytes that a user has uploaded and that may still be on disk.
    mutating func sentBytes(_ user: String, _ nowMilliseconds: Int64) -> Int64 {
        guard var mine = users[user] else { return 0 }
        mine.sent = mine.sent.filter { $0.key > nowMilliseconds / Self.hourMilliseconds }
        users[user] = mine.isEmpty ? nil : mine
        return mine.sent.values.reduce(0, +)
    }

    /// Returns true if a user may upload one more file.
    mutating func admits(_ user: String, _ limits: AssetLimits, _ nowMilliseconds: Int64) -> Bool {
        hasRoom(user, nowMilliseconds) { mine in
            mine.bytes + mine.underWayBytes < limits.unsavedBytesMax
                && mine.files.count < limits.unsavedFilesMax
        }
    }

    /// Counts bytes of an upload in progress. Returns false if the user's other files already use the allowed
    /// bytes.
    ///
    /// - Parameter ownBytes: bytes already counted for this upload. They aren't compared with the limit, so
    ///   one file may exceed it, up to the maximum of a file.
    mutating func grow(
        _ user: String, by bytes: Int64, ownBytes: Int64, _ limits: AssetLimits, _ nowMilliseconds: Int64
    ) -> Bool {
        let isAdmitted = hasRoom(user, nowMilliseconds) { mine in
            mine.bytes + mine.underWayBytes - ownBytes < limits.unsavedBytesMax
        }
        if isAdmitted { users[user, default: Files()].underWayBytes += bytes }
        return isAdmitted
    }

    /// Returns true if the user has room. Discards expired uploads if they use the room.
    private mutating func hasRoom(
        _ user: String, _ nowMilliseconds: Int64, _ isRoom: (Files) -> Bool
    ) -> Bool {
        guard let mine = users[user], !isRoom(mine) else { return true }
        for (digest, file) in mine.files where file.untilMilliseconds <= nowMilliseconds {
            remove(digest, of: user)
        }
        return users[user].map(isRoom) ?? true
    }

    /// Ends an upload, whether finished or cancelled.
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

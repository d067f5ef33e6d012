import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What backups that were killed have left beside the archives: drafts that nobody will finish.
///
/// A draft is held (`flock`) as long as its process lives, whatever number that has, and begins as our archives do:
/// nothing else is touched.
enum BackupLeftovers {
    /// What belongs to a draft, by what its name has more.
    static let endings = [".sums", ".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal"]

    /// Removes those in the folder where `mine` will be the caller's own draft. What can't be looked at or removed
    /// stays.
    static func remove(besides mine: String) {
        let folder = Folders.parent(of: mine)
        let entry = TarHeader.Entry(name: BackupEntry.format.name, bytes: 0)
        let first = Array(TarHeader.blocks(of: entry).prefix(TarHeader.nameBytesMax))
        for name in (try? Folders.names(in: folder)) ?? [] {
            guard let process = process(ofDraft: name) else { continue }
            let draft = folder == "." && !mine.hasPrefix("./") ? name : "\(folder)/\(name)"
            guard isAbandoned(draft, of: process, isMine: draft == mine, beginning: first) else { continue }
            // The draft last: as long as it is there, the others are found.
            for ending in endings + [""] { unlink(draft + ending) }
        }
    }

    /// The process in the name of a draft, as `b.tar.part-77` or `b.tar.part-77.1`; nil for other names.
    private static func process(ofDraft name: String) -> pid_t? {
        guard let dash = name.lastIndex(of: "-"), name[..<dash].hasSuffix(".part"),
            let number = name[name.index(after: dash)...].split(
                separator: ".", omittingEmptySubsequences: false
            ).first,
            name[name.index(after: dash)...].dropFirst(number.count + 1).allSatisfy(\.isNumber),
            let process = pid_t(number), process > 0
        else { return nil }
        return process
    }

    private static func isAbandoned(
        _ draft: String, of process: pid_t, isMine: Bool, beginning first: [UInt8]
    ) -> Bool {
        guard let file = try? OpenFile(draft, .reading, followsLinks: false),
            (try? file.lock(waits: false)) == true, let bytes = try? file.read(bytesMax: first.count)
        else { return false }
        // Created a moment ago and not locked yet, or its process was killed before the first write.
        if bytes.isEmpty { return isMine || kill(process, 0) != 0 && errno == ESRCH }
        return bytes == first
    }
}

import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Removes the drafts that killed backups left beside the archives.
///
/// A draft is locked (`flock`) as long as its process runs, and begins like an archive of ours. Other files
/// aren't touched.
enum BackupLeftovers {
    /// Suffixes of a draft's additional files.
    static let endings = [".sums", ".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal"]

    /// Removes abandoned drafts in the folder of `mine`, the caller's own draft. Files that can't be read or
    /// removed stay.
    static func remove(besides mine: String) {
        let folder = Folders.parent(of: mine)
        let entry = TarHeader.Entry(name: BackupEntry.format.name, bytes: 0)
        let first = Array(TarHeader.blocks(of: entry).prefix(TarHeader.nameBytesMax))
        for name in (try? Folders.names(in: folder)) ?? [] {
            guard let process = process(ofDraft: name) else { continue }
            let draft = folder == "." && !mine.hasPrefix("./") ? name : "\(folder)/\(name)"
            guard isAbandoned(draft, of: process, isMine: draft == mine, beginning: first) else { continue }
            // The draft itself last: while it exists, the next backup finds the additional files.
            for ending in endings + [""] { unlink(draft + ending) }
        }
    }

    /// Returns the process number in the name of a draft, such as `b.tar.part-77` or `b.tar.part-77.1`, or
    /// nil for other names.
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

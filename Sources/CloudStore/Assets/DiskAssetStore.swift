import Crypto
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Stores files in a folder: each as `<two hexadecimal digits>/<the other 62>` of its SHA-256. Files that are
/// being written are in the folder `incoming`.
///
/// A file is written and synced under a temporary name, then renamed, and the folders are synced. After a
/// crash, the file is either complete or missing.
package final class DiskAssetStore: AssetStore {
    /// Prevents the collection by returning nil, or allows it as long as the result is held.
    package typealias Gate = @Sendable () throws -> (any AnyObject & Sendable)?

    /// Path of the folder.
    package let path: String
    private let clock: any TimeSource
    private let gate: Gate?
    private let calls: FileCalls
    /// Number of started files. Also the lock that prevents the removal of a file while it is renewed.
    private let begun = Lock(0)
    /// Folders that this process has synced, together with the folders that contain them.
    private let lasting = Lock<Set<String>>([])

    /// Makes a store for a folder. The folder is created with the first file.
    ///
    /// - Parameters:
    ///   - clock: Sets the times of files.
    ///   - gate: Called before files are removed. Nil to always allow the collection.
    package convenience init(path: String, clock: any TimeSource, gate: Gate? = nil) {
        self.init(path: path, clock: clock, gate: gate, calls: .system)
    }

    /// Makes a store for a folder, with the file system calls `calls`.
    package init(path: String, clock: any TimeSource, gate: Gate? = nil, calls: FileCalls) {
        self.path = path
        self.clock = clock
        self.gate = gate
        self.calls = calls
    }

    /// Starts a file. See `AssetStore`.
    package func begin() throws -> any StoredAssetWriter {
        let number = begun.withLock { begun in
            begun += 1
            return begun
        }
        let incoming = "\(path)/incoming"
        let name = "\(incoming)/\(getpid())-\(number)"
        let file = try CloudStoreError.translating {
            do throws(FileError) {
                return try OpenFile(name, .creating(mode: 0o600), calls: calls)
            } catch {
                guard error.code == ENOENT else { throw error }
                try Folders.make(incoming, calls: calls)
                return try OpenFile(name, .creating(mode: 0o600), calls: calls)
            }
        }
        do {
            return try DiskAssetWriter(self, file)
        } catch {
            discard(name)
            throw error
        }
    }

    /// Opens a file. See `AssetStore`.
    package func open(_ digest: [UInt8]) throws -> (any StoredAssetReader)? {
        do throws(FileError) {
            return try DiskAssetReader(OpenFile(filePath(of: digest), .reading, calls: calls))
        } catch {
            if error.code == ENOENT { return nil }
            throw CloudStoreError(error)
        }
    }

    /// Sets a file's time to now. See `AssetStore`.
    package func renew(_ digest: [UInt8]) throws -> Bool {
        let name = filePath(of: digest)
        var times = Self.times(clock.nowMilliseconds())
        return try begun.withLock { _ in
            guard utimensat(AT_FDCWD, name, &times, 0) != 0 else { return true }
            if errno == ENOENT { return false }
            throw CloudStoreError(FileError(.write, name, errno))
        }
    }

    /// Returns a page of the files. See `AssetStore`.
    package func files(after: [UInt8]?, filesMax: Int) throws -> [AssetFileEntry] {
        var entries: [AssetFileEntry] = []
        let first = after?.first ?? 0
        for bucket in first...255 {
            let folder = "\(path)/\(Hex.text([bucket]))"
            let digests = try names(in: folder)
                .compactMap { name in Hex.bytes(name).map { [bucket] + $0 } }
                .filter { digest in
                    digest.count == SHA256.digestBytes
                        && (after.map { $0.lexicographicallyPrecedes(digest) } ?? true)
                }
                .sorted { $0.lexicographicallyPrecedes($1) }
            for digest in digests {
                guard entries.count < filesMax else { return entries }
                // A file that was deleted since the listing is left out.
                if let entry = entry(of: digest) { entries.append(entry) }
            }
        }
        return entries
    }

    /// Removes a file. See `AssetStore`.
    package func remove(_ digest: [UInt8], ifOlderThan milliseconds: Int64) throws -> Bool {
        try begun.withLock { _ in
            guard let entry = entry(of: digest), entry.atMilliseconds < milliseconds else { return false }
            do throws(FileError) {
                try remove(filePath(of: digest))
                return true
            } catch {
                if error.code == ENOENT { return false }
                throw CloudStoreError(error)
            }
        }
    }

    /// Calls the gate. See `AssetStore`.
    package func holdForCollection() throws -> (any AnyObject & Sendable)? {
        guard let gate else { return self }
        return try gate()
    }

    /// Removes unfinished files of an earlier process. Call it in the only process that writes to the folder,
    /// before it writes.
    ///
    /// - Returns: The number of removed files.
    /// - Throws: `CloudStoreError`.
    @discardableResult
    package func sweepUnfinished() throws -> Int {
        let incoming = "\(path)/incoming"
        let names = try names(in: incoming)
        for name in names {
            do throws(FileError) {
                try remove("\(incoming)/\(name)")
            } catch {
                if error.code != ENOENT { throw CloudStoreError(error) }
            }
        }
        return names.count
    }

    /// Returns the path of the file `digest`.
    package func filePath(of digest: [UInt8]) -> String {
        let text = Hex.text(digest)
        return "\(path)/\(text.prefix(2))/\(text.dropFirst(2))"
    }
}

// MARK: - Folders

extension DiskAssetStore {
    /// Moves a complete, synced file to the path of its digest. Returns when the new name is on disk too.
    func publish(_ incoming: String, _ digest: [UInt8]) throws {
        let name = filePath(of: digest)
        let folder = Folders.parent(of: name)
        try CloudStoreError.translating {
            do throws(FileError) {
                try move(incoming, to: name)
            } catch {
                guard error.code == ENOENT else { throw error }
                try Folders.make(folder, calls: calls)
                try move(incoming, to: name)
            }
            try Folders.sync(folder, calls: calls)
            try syncName(of: folder)
        }
    }

    private func move(_ incoming: String, to name: String) throws(FileError) {
        try begun.withLock { (_) throws(FileError) in
            _ = try calls(.rename, name) { rename(incoming, name) }
        }
    }

    /// Syncs the parent of a folder once, so that the folder itself survives a power loss. The process that
    /// created the folder may have ended before it synced the parent.
    private func syncName(of folder: String) throws(FileError) {
        guard lasting.withLock({ !$0.contains(folder) }) else { return }
        try Folders.sync(path, calls: calls)
        try Folders.sync(Folders.parent(of: path), calls: calls)
        _ = lasting.withLock { $0.insert(folder) }
    }

    /// Removes an unfinished file. If that fails, the file is removed when the server starts again.
    func discard(_ incoming: String) { try? remove(incoming) }

    private func remove(_ path: String) throws(FileError) {
        try calls(.remove, path) { unlink(path) }
    }

    /// Returns the names in a folder, or an empty array if it doesn't exist.
    private func names(in folder: String) throws -> [String] {
        try CloudStoreError.translating { try Folders.names(in: folder, calls: calls) }
    }

    private func entry(of digest: [UInt8]) -> AssetFileEntry? {
        var status = stat()
        guard lstat(filePath(of: digest), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        let milliseconds = Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
        return AssetFileEntry(digest: digest, bytes: Int64(status.st_size), atMilliseconds: milliseconds)
    }

    /// Returns access and modification times, both set to this time.
    static func times(_ milliseconds: Int64) -> [timespec] {
        let time = timespec(
            tv_sec: Int(milliseconds / 1_000), tv_nsec: Int(milliseconds % 1_000) * 1_000_000)
        return [time, time]
    }

    var timesNow: [timespec] { Self.times(clock.nowMilliseconds()) }
}

extension CloudStoreError {
    /// Makes the error for a failed call on a record's file.
    init(_ error: FileError) {
        self =
            error.isDiskFull
            ? .diskFull(path: error.path) : .diskFailing(path: error.path, reason: error.reason)
    }

    /// Runs `body`, and throws an error of a file as an error of the store.
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as FileError {
            throw CloudStoreError(error)
        }
    }
}

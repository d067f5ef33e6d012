import Crypto
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Files in a folder: `<two hexadecimal digits>/<the other 62>` of the SHA-256 of each, and in `incoming` those that
/// are being written.
///
/// A file is written and synced under a name that nobody looks for, then renamed, and the folders are synced: a crash
/// leaves the file whole, or not at all.
public final class DiskAssetStore: AssetStore {
    /// What is done to files and folders, for tests that let it fail.
    package enum Step: Sendable, CaseIterable {
        case makeFolder, create, write, sync, rename, syncFolder, open, read, list, remove
    }

    /// Holds the collection back, or lets it go on while the result lives.
    public typealias Gate = @Sendable () throws -> (any AnyObject & Sendable)?

    /// Where the folder is.
    public let path: String
    private let clock: any TimeSource
    private let gate: Gate?
    /// Called before each step; what it throws takes the place of what the system would have said.
    let before: @Sendable (Step) throws -> Void
    /// Counts the files that were begun; and keeps a file from being removed while it is renewed.
    private let begun = Lock(0)
    /// Folders that this process has synced together with their own names.
    private let lasting = Lock<Set<String>>([])

    /// Names a folder, which is made with the first file.
    ///
    /// - Parameters:
    ///   - clock: tells how old files are.
    ///   - gate: asked before files are removed; nil: nothing holds the collection back.
    public convenience init(path: String, clock: any TimeSource, gate: Gate? = nil) {
        self.init(path: path, clock: clock, gate: gate, before: { _ in })
    }

    /// Lets `before` fail where the system would.
    package init(
        path: String, clock: any TimeSource, gate: Gate? = nil,
        before: @escaping @Sendable (Step) throws -> Void
    ) {
        self.path = path
        self.clock = clock
        self.gate = gate
        self.before = before
    }

    /// Begins a file. See `AssetStore`.
    public func begin() throws -> any StoredAssetWriter {
        let number = begun.withLock { begun in
            begun += 1
            return begun
        }
        let incoming = "\(path)/incoming"
        let name = "\(incoming)/\(getpid())-\(number)"
        func create() throws -> Int32 {
            try before(.create)
            return systemOpen(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        }
        var descriptor = try create()
        if descriptor < 0, errno == ENOENT {
            try makeFolder(incoming)
            descriptor = try create()
        }
        guard descriptor >= 0 else { throw Self.failure(name, errno) }
        do {
            return try DiskAssetWriter(self, descriptor: descriptor, path: name)
        } catch {
            close(descriptor)
            discard(name)
            throw error
        }
    }

    /// Opens a file. See `AssetStore`.
    public func open(_ digest: [UInt8]) throws -> (any StoredAssetReader)? {
        let name = filePath(of: digest)
        try before(.open)
        let descriptor = systemOpen(name, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.failure(name, errno)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            defer { close(descriptor) }
            throw Self.failure(name, errno)
        }
        return DiskAssetReader(
            descriptor: descriptor, path: name, bytes: Int64(status.st_size), before: before)
    }

    /// Makes a file young again. See `AssetStore`.
    public func renew(_ digest: [UInt8]) throws -> Bool {
        let name = filePath(of: digest)
        var times = Self.times(clock.nowMilliseconds())
        return try begun.withLock { _ in
            guard utimensat(AT_FDCWD, name, &times, 0) != 0 else { return true }
            if errno == ENOENT { return false }
            throw Self.failure(name, errno)
        }
    }

    /// A page of the files. See `AssetStore`.
    public func files(after: [UInt8]?, filesMax: Int) throws -> [AssetFileEntry] {
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
                // A file that was deleted since isn't listed.
                if let entry = entry(of: digest) { entries.append(entry) }
            }
        }
        return entries
    }

    /// Removes a file. See `AssetStore`.
    public func remove(_ digest: [UInt8], ifOlderThan milliseconds: Int64) throws -> Bool {
        try begun.withLock { _ in
            guard let entry = entry(of: digest), entry.atMilliseconds < milliseconds else { return false }
            let name = filePath(of: digest)
            try before(.remove)
            guard unlink(name) != 0 else { return true }
            if errno == ENOENT { return false }
            throw Self.failure(name, errno)
        }
    }

    /// Asks the gate. See `AssetStore`.
    public func holdForCollection() throws -> (any AnyObject & Sendable)? {
        guard let gate else { return self }
        return try gate()
    }

    /// Removes what an earlier process had begun and never finished. For the one process that writes here, before it
    /// begins.
    ///
    /// - Returns: how many there were.
    /// - Throws: `CloudStoreError`.
    @discardableResult
    public func sweepUnfinished() throws -> Int {
        let incoming = "\(path)/incoming"
        let names = try names(in: incoming)
        for name in names where unlink("\(incoming)/\(name)") != 0 && errno != ENOENT {
            throw Self.failure("\(incoming)/\(name)", errno)
        }
        return names.count
    }

    /// Where the file `digest` lies.
    public func filePath(of digest: [UInt8]) -> String {
        let text = Hex.text(digest)
        return "\(path)/\(text.prefix(2))/\(text.dropFirst(2))"
    }
}

// MARK: - Folders

extension DiskAssetStore {
    /// Puts a file that is whole and synced under its digest, and returns when that is on the disk too.
    func publish(_ incoming: String, _ digest: [UInt8]) throws {
        let name = filePath(of: digest)
        let folder = String(name.dropLast(2 * digest.count - 1))
        func move() throws -> Bool {
            try begun.withLock { _ in
                try before(.rename)
                guard rename(incoming, name) != 0 else { return true }
                if errno == ENOENT { return false }
                throw Self.failure(name, errno)
            }
        }
        if try !move() {
            try makeFolder(folder)
            guard try move() else { throw Self.failure(name, ENOENT) }
        }
        try syncFolder(folder)
        try syncName(of: folder)
    }

    /// Makes the name of a folder itself survive a loss of power, once. The process that made the folder may not have
    /// synced it yet, or have died in between.
    private func syncName(of folder: String) throws {
        guard lasting.withLock({ !$0.contains(folder) }) else { return }
        try syncFolder(path)
        try syncFolder(Folders.parent(of: path))
        _ = lasting.withLock { $0.insert(folder) }
    }

    /// Removes what was begun. What can't be removed now is swept when the server starts again.
    func discard(_ incoming: String) {
        guard (try? before(.remove)) != nil else { return }
        unlink(incoming)
    }

    /// Makes a folder and those above it, and syncs the folder that each is in.
    private func makeFolder(_ folder: String) throws {
        try before(.makeFolder)
        let parent = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? "."
        guard mkdir(folder, 0o700) != 0 else { return try syncFolder(parent.isEmpty ? "/" : parent) }
        switch errno {
        case EEXIST: return
        case ENOENT where !parent.isEmpty && parent != ".":
            try makeFolder(parent)
            guard mkdir(folder, 0o700) != 0, errno != EEXIST else { return try syncFolder(parent) }
            throw Self.failure(folder, errno)
        default: throw Self.failure(folder, errno)
        }
    }

    private func syncFolder(_ folder: String) throws {
        try before(.syncFolder)
        let descriptor = systemOpen(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Self.failure(folder, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Self.failure(folder, errno) }
    }

    /// The names in a folder, none when it isn't there.
    private func names(in folder: String) throws -> [String] {
        try before(.list)
        guard let stream = opendir(folder) else {
            if errno == ENOENT { return [] }
            throw Self.failure(folder, errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private func entry(of digest: [UInt8]) -> AssetFileEntry? {
        var status = stat()
        guard lstat(filePath(of: digest), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        let milliseconds = Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
        return AssetFileEntry(digest: digest, bytes: Int64(status.st_size), atMilliseconds: milliseconds)
    }

    /// Access and modification, both of them now.
    static func times(_ milliseconds: Int64) -> [timespec] {
        let time = timespec(
            tv_sec: Int(milliseconds / 1_000), tv_nsec: Int(milliseconds % 1_000) * 1_000_000)
        return [time, time]
    }

    var timesNow: [timespec] { Self.times(clock.nowMilliseconds()) }

    static func failure(_ path: String, _ code: Int32) -> CloudStoreError {
        code == ENOSPC || code == EDQUOT
            ? .diskFull(path: path) : .diskFailing(path: path, reason: String(cString: strerror(code)))
    }
}

/// `open` by another name: inside a type that has one of its own, the system's can't be called.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

import CloudStore
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The reason that the server can't write, or soon won't be able to. The raw value is its name in the log and
/// in `/health`.
enum DiskTrouble: String, Sendable {
    case full = "disk full"
    case readOnly = "disk read-only"
    case failing = "disk failing"
    /// A store's log can't be copied into its file. Writes stay in the log, which grows.
    case checkpoint = "checkpoint failing"
}

/// Monitors whether the server can write. It is notified of each write, logs when trouble begins and ends,
/// and probes the disk during trouble, since there may be no other writes.
final class DiskWatch: Sendable {
    private let trouble = Lock<DiskTrouble?>(nil)
    /// Functions that retry to copy the log of each store in which that failed, by the store's path.
    private let stuckLogs = Lock<[String: @Sendable () -> CloudStoreError?]>([:])
    private let log: ServerLog?
    private let probe: @Sendable (_ isSuspect: Bool) -> DiskTrouble?

    /// - Parameter probe: checks whether files can be written, more thoroughly after a failure. May block.
    init(log: ServerLog?, probe: @escaping @Sendable (_ isSuspect: Bool) -> DiskTrouble?) {
        self.log = log
        self.probe = probe
    }

    /// Notes a successful write. It may have changed nothing, so it proves little.
    func worked() {
        if trouble.withLock({ $0 != nil }) { _ = look() }
    }

    /// Notes a failed read or write.
    func failed(_ error: CloudStoreError, isWrite: Bool) {
        switch error {
        case .diskFull: change(to: .full, error: error)
        case .cannotOpen where isWrite: change(to: .readOnly, error: error)
        case .diskFailing, .failed: change(to: .failing, error: error)
        case .damaged, .notADatabase, .foreignFile, .newerFormat, .olderFormat:
            log?.add(event: "store can't be read", [("error", error.description)])
        case .cannotOpen, .busy, .tooManyRows: break
        }
    }

    /// Notes a successful write to the store at `path`. `failure` is the reason that its log can't be copied
    /// into its file, or nil.
    ///
    /// - Parameter retry: retries the copy, and returns the reason if it fails. May block.
    func noteCheckpoint(
        of path: String, _ failure: CloudStoreError?, retry: @escaping @Sendable () -> CloudStoreError?
    ) {
        // The previous closure is released after the lock.
        let (_, hasChanged) = stuckLogs.withLock { stuck in
            defer { stuck[path] = failure == nil ? nil : retry }
            return (stuck[path], (stuck[path] == nil) != (failure == nil))
        }
        guard hasChanged else { return }
        if let failure {
            log?.add(
                event: DiskTrouble.checkpoint.rawValue,
                [
                    (
                        "effect",
                        "writes stay in the store's log, which grows until the disk is full"
                    ),
                    ("error", failure.description),
                ])
        } else {
            log?.add(event: "checkpoint fails no longer", [("store", path)])
        }
    }

    /// Number of stores whose log can't be copied into their file.
    var stuckLogsCount: Int { stuckLogs.withLock { $0.count } }

    /// Returns the reason that the server can't write now, or soon won't be able to. Nil if it can. May block.
    func look() -> DiskTrouble? {
        let known = trouble.withLock { $0 }
        let found = probe(known != nil)
        if found != known { change(to: found, error: nil) }
        if let found { return found }
        for (path, retry) in stuckLogs.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            noteCheckpoint(of: path, retry(), retry: retry)
        }
        return stuckLogsCount == 0 ? nil : .checkpoint
    }

    private func change(to new: DiskTrouble?, error: CloudStoreError?) {
        let old = trouble.withLock { trouble in
            defer { trouble = new }
            return trouble
        }
        guard old != new else { return }
        if let new {
            log?.add(
                event: new.rawValue,
                [
                    ("effect", "writes are rejected with TRY_AGAIN_LATER, reads are served"),
                    ("error", error?.description ?? "a file can't be written"),
                ])
        } else {
            log?.add(event: "disk can be written again", [])
        }
    }
}

/// Tests whether a file can be written in the server's folder.
enum DiskProbe {
    /// Free bytes below which a file is written as a test.
    static let freeBytesSuspect: Int64 = 16 << 20
    private static let bytes = 64 << 10

    /// Returns the reason that `folder` can't be written, or nil. Writes a file if there is little free space, or
    /// if it `isSuspect`. An existing problem ends only with some margin of free space, so that the state doesn't
    /// flap.
    static func trouble(of folder: String, isSuspect: Bool) -> DiskTrouble? {
        let hasLittle = freeBytes(of: folder).map { $0 < freeBytesSuspect } ?? true
        guard isSuspect || hasLittle else { return nil }
        if isSuspect && hasLittle { return .full }
        let path = "\(folder)/.probe-\(getpid())"
        defer { unlink(path) }
        do throws(FileError) {
            let file = try OpenFile(path, .updatingOrCreating)
            // The blocks of an existing file could be overwritten even on a full disk.
            try file.truncate()
            try file.write([UInt8](repeating: 0x59, count: bytes))
            try file.sync()
            return nil
        } catch {
            return trouble(error.code)
        }
    }

    /// Free bytes for this process's user.
    static func freeBytes(of folder: String) -> Int64? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    private static func trouble(_ code: Int32) -> DiskTrouble {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: .full
        case EROFS, EACCES, EPERM: .readOnly
        default: .failing
        }
    }
}

/// A store that reports the results of its writes to a watch.
struct WatchedStore: CloudStore {
    let store: SQLiteCloudStore
    let watch: DiskWatch

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        do {
            return try store.read(body)
        } catch let error as CloudStoreError {
            watch.failed(error, isWrite: false)
            throw error
        }
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        do {
            let result = try store.write(body)
            watch.worked()
            noteCheckpoint()
            return result
        } catch let error as CloudStoreError {
            watch.failed(error, isWrite: true)
            throw error
        }
    }

    var checkpointIsDue: Bool { store.checkpointIsDue }

    func checkpoint() {
        store.checkpoint()
        noteCheckpoint()
    }

    private func noteCheckpoint() {
        watch.noteCheckpoint(of: store.path, store.checkpointFailure) { [weak store] in
            store?.retryCheckpoint()
        }
    }
}

import SQLite
import System

/// The open control file: its connections, its transactions and its cache. All owners of its tables share it.
///
/// All calls may block on the file.
final class ControlFile: Sendable {
    let path: String
    let clock: any TimeSource
    let secret: ControlSecret
    private let monotonic: any MonotonicSource
    private let writer: Lock<Connection>
    private let reader: Lock<Connection>
    private let cache = Lock(ControlCache())

    /// Opens the file and upgrades it to this version.
    ///
    /// - Throws: `ControlError.noFile`; `CloudStoreError` if the file can't be opened or isn't a control file.
    init(
        path: String, clock: any TimeSource, monotonic: any MonotonicSource, vfsName: String? = nil,
        namesUsersByKeys: Bool = false
    ) throws {
        guard !ControlStore.isAbsent(path) else { throw ControlError.noFile(path: path) }
        self.path = path
        self.clock = clock
        self.monotonic = monotonic
        var options = OpenOptions()
        options.create = false
        options.vfsName = vfsName
        let opened = try CloudStoreError.translating(path: path) {
            let writer = try Connection(path: path, options: options) {
                guard try ControlFormat.isPrepared($0, path: path) else {
                    throw ControlError.noFile(path: path)
                }
            }
            try writer.transaction(.immediate) { try ControlFormat.upgrade(writer) }
            let reader = try Connection(path: path, options: options)
            let secret = try ControlSecret(in: reader, path: path, namesUsersByKeys: namesUsersByKeys)
            return (writer: writer, reader: reader, secret: secret)
        }
        secret = opened.secret
        writer = Lock(opened.writer)
        reader = Lock(opened.reader)
    }

    /// Runs `body` in a write transaction, which is rolled back if `body` throws.
    func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let result = try writer.withLock { connection in
            try CloudStoreError.translating(path: path) {
                try connection.transaction(.immediate) { try body(connection) }
            }
        }
        // The next look-up reads the file, so that this process sees its own write at once.
        cache.withLock { $0.isStale = true }
        return result
    }

    /// Runs `body` in a read transaction.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try reader.withLock { connection in
            try CloudStoreError.translating(path: path) {
                try connection.transaction(.deferred) { try body(connection) }
            }
        }
    }

    /// Returns an entry of the cache. If the cache is older than `ControlStore.freshMilliseconds`, the file is checked
    /// first.
    ///
    /// - Parameters:
    ///   - cached: Returns the entry, or nil if the cache doesn't have it.
    ///   - load: Reads the entry from the file, or returns nil if it doesn't exist.
    ///   - keep: Adds what `load` returned to the cache.
    func lookUp<Found>(
        cached: (ControlCache) -> Found?, load: (Connection) throws -> Found?,
        keep: (inout ControlCache, Found) -> Void
    ) throws -> Found? {
        let now = monotonic.elapsedMilliseconds()
        if let found = cache.withLock({ $0.isFresh(at: now) ? cached($0) : nil }) { return found }
        // The cache changes only while the reader is held, so its entries are of the version that was read. The mark
        // is cleared before the file is read: a write in between sets it again.
        return try read { connection in
            cache.withLock { $0.isStale = false }
            let version = try ControlFormat.value(of: "PRAGMA data_version", connection)
            if let found = cache.withLock({ cache -> Found? in
                cache.checked(fileVersion: version, at: now)
                return cached(cache)
            }) {
                return found
            }
            guard let found = try load(connection) else { return nil }
            cache.withLock { keep(&$0, found) }
            return found
        }
    }
}

extension CloudStoreError {
    /// Runs `body`, and throws an error of SQLite as an error of the store at `path`.
    static func translating<Result>(path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            throw CloudStoreError(error, path: path)
        }
    }
}

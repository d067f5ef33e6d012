import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads the usage of users in a container's other environment, so that one quota applies to both.
///
/// The store may be missing, and may be open in this process. It is never made, upgraded or changed.
package final class SiblingStore: Sendable {
    private struct Opened {
        let connection: Connection
        let file: FileIdentity
    }

    private let path: String
    /// Nil until the file exists.
    private let opened = Lock<Opened?>(nil)

    /// Makes a reader for the store's file. It is opened at the first call after the file exists.
    package init(path: String) {
        self.path = path
    }

    /// Returns the committed usage of users. An unreadable file counts as empty: a service on such a file can't write
    /// either.
    package func usage(of keys: [UsageKey]) -> [UsageKey: StoredSize] {
        opened.withLock { opened in
            do {
                // An environment that was removed and created again has a new file at the same path.
                let file = FileIdentity(path: path)
                if opened?.file != file { opened = nil }
                guard let file else { return [:] }
                let store = try opened ?? Opened(connection: Self.open(path), file: file)
                opened = store
                var wanted = StoreLoad()
                wanted.usageOf = keys
                let question = wanted
                return try store.connection.transaction(.deferred) {
                    try SQLiteStoreTransaction(store.connection).load(question)
                }.usage.mapValues(\.size)
            } catch {
                opened = nil
                return [:]
            }
        }
    }

    /// Closes the file. The connection can write, so that the last one to close copies the log into the file.
    package func close() {
        opened.withLock { $0 = nil }
    }

    private static func open(_ path: String) throws -> Connection {
        var options = OpenOptions()
        options.create = false
        return try Connection(path: path, options: options) {
            guard try SQLiteStoreFormat.isPrepared($0, path: path) else {
                throw CloudStoreError.foreignFile(path: path)
            }
        }
    }
}

/// The identity of the file at a path.
private struct FileIdentity: Equatable {
    let device: UInt64
    let inode: UInt64

    /// Returns nil if the file doesn't exist or can't be examined.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
}

import SQLite
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The store of a container's other environment, asked for what users have there, so that one quota holds for both.
///
/// It may be missing, and open in this process or not. Nothing of it is made, upgraded or changed.
public final class SiblingStore: Sendable {
    private struct Opened {
        let connection: Connection
        let file: FileIdentity
    }

    private let path: String
    /// Nil as long as there is no file.
    private let opened = Lock<Opened?>(nil)

    /// Names the store's file. It is opened when it is first asked, and is there.
    public init(path: String) {
        self.path = path
    }

    /// What is committed there, of those who have something. What can't be read counts as nothing: a service on a file
    /// in such a state takes nothing in either.
    public func usage(of keys: [UsageKey]) -> [UsageKey: StoredSize] {
        opened.withLock { opened in
            do {
                // An environment that was removed and made again has another file under the same path.
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

    /// Closes the file. It writes so that it can be the last to close it, which puts the log into the file.
    public func close() {
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

/// Which file lies at a path.
private struct FileIdentity: Equatable {
    let device: UInt64
    let inode: UInt64

    /// Nil when there is none, or it may not be looked at.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
}

import System

/// A collection as a write-behind dictionary: a change returns at once, is visible to the next read, and is committed
/// soon after, together with others.
///
/// ```swift
/// let settings = try YapDatabaseProxy(connection, of: Setting.self, in: "settings")
/// try settings.setObject(Setting(isOn: true), forKey: "sounds")
/// let sounds = try await settings.object(forKey: "sounds")
/// ```
///
/// Reads return the pending changes of this proxy, and otherwise the newest commit. Other connections see a change
/// once it is committed. If two proxies or connections write the same row, the last commit wins.
///
/// A change that has returned is **not** on disk: a crash can lose it. `flush()` waits until it is committed. Use a
/// proxy for values that may be lost, such as settings and drafts, and `connection.readWrite` for all others. Pending
/// changes are written even when the proxy is released, but not after the database is closed.
///
/// If a transaction fails because of the file, for example on a full disk, its changes stay pending, reads still
/// return them, and the next change or `flush()` tries again. If a single change can't be written, for example
/// because its value can't be encoded or a hook throws, that change is discarded and the others are written. If the
/// error comes at the end of the transaction, fewer and fewer changes are tried at once to find the one that fails.
/// The handler and `flush()` report both.
public final class YapDatabaseProxy<Object: Sendable>: Sendable {
    /// Collection of the proxy.
    public let collection: String

    let connection: YapDatabaseConnection
    let queue: ProxyQueue<Object>

    /// Creates a proxy of a collection.
    ///
    /// - Parameters:
    ///   - connection: The connection to read and write with.
    ///   - type: The type that is registered for the collection.
    ///   - collection: The collection.
    ///   - pendingMax: Maximum number of rows with pending changes.
    ///   - whenFailed: Called with each failed transaction, one at a time, on a queue of its own. Up to 64 failures
    ///     are queued for a slow handler; then the oldest are dropped.
    /// - Throws: `YapDatabaseError`: `missingRegistration` or `typeMismatch`; `transactionNotPermitted` if the
    ///   connection doesn't permit `readWrite`.
    public init(
        _ connection: YapDatabaseConnection, of type: Object.Type = Object.self, in collection: String,
        pendingMax: Int = 1_000, whenFailed: @escaping @Sendable (YapDatabaseProxyError) -> Void = { _ in }
    ) throws {
        try connection.check(.readWrite)
        try connection.database.checkRegistration(of: type, inCollection: collection)
        self.collection = collection
        self.connection = connection
        queue = ProxyQueue(connection, collection, pendingMax: max(1, pendingMax), whenFailed: whenFailed)
    }

    // MARK: Reading

    /// Returns the object of a row, or nil if it doesn't exist. A pending change is returned from memory.
    ///
    /// - Throws: `CancellationError`; `YapDatabaseError`: `decoding`, `closed`, or an error of the file.
    public func object(forKey key: String) async throws -> Object? {
        let change = queue.change(of: key)
        if let change, change.isOfWholeRow { return change.object }
        return try await connection.read { [collection] transaction in
            try transaction.object(key, collection, after: change)
        }
    }

    // MARK: Changing

    /// Sets the object of a row, inserts the row if it doesn't exist, and returns at once. Clears the row's metadata.
    ///
    /// - Throws: `YapDatabaseError`: `tooManyPendingChanges` if `pendingMax` rows have pending changes, which leaves
    ///   this row unchanged; `closed`.
    public func setObject(_ object: Object, forKey key: String) throws {
        try queue.add(.set(object, metadata: nil), key)
    }

    /// Removes a row if it exists, and returns at once. Throws the errors of `setObject`.
    public func removeObject(forKey key: String) throws {
        try queue.add(.remove, key)
    }

    /// Removes all rows of the collection, and returns at once. Discards pending changes that no transaction has
    /// begun to write, so it can't exceed the maximum.
    ///
    /// - Throws: `YapDatabaseError` with `closed`.
    public func removeAllObjects() throws {
        try queue.addRemovalOfAll()
    }

    /// Discards the pending changes that no transaction has begun to write, for example after a failure.
    public func discardPendingChanges() {
        queue.discardPending()
    }

    /// Waits until all earlier changes are committed. Cancelling the task doesn't end the wait.
    ///
    /// - Throws: `YapDatabaseProxyError`: the changes that stay pending because a transaction failed, or the first
    ///   change that was discarded since the last flush.
    public func flush() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.flush { continuation.resume(with: $0) }
        }
    }

    // MARK: Blocking

    /// Blocking forms of this proxy's calls.
    public var blocking: Blocking { Blocking(proxy: self) }

    /// Blocking forms of a proxy's calls: they run on the caller's thread and wait. Don't use them in async code.
    public struct Blocking: Sendable {
        let proxy: YapDatabaseProxy

        /// Returns the object of a row, or nil if it doesn't exist. A pending change is returned from memory.
        ///
        /// - Throws: `YapDatabaseError`: `nestedTransaction` inside a read of the connection, if the row has no
        ///   pending change; `decoding`, `closed`, or an error of the file.
        @available(*, noasync, message: "call `try await proxy.object(forKey:)`")
        public func object(forKey key: String) throws -> Object? {
            let change = proxy.queue.change(of: key)
            if let change, change.isOfWholeRow { return change.object }
            try proxy.connection.check(.blockingRead)
            return try proxy.connection.readNow { transaction in
                try transaction.object(key, proxy.collection, after: change)
            }.result
        }

        /// Waits until all earlier changes are committed.
        ///
        /// - Throws: The errors of `flush()`; `YapDatabaseError`: `nestedTransaction` inside a write transaction,
        ///   which the changes would wait for; `deadlock` inside a read that a write waits for.
        @available(*, noasync, message: "call `try await proxy.flush()`")
        public func flush() throws {
            let writer = proxy.connection.database.writer
            if writer.isMine {
                throw YapDatabaseError(.nestedTransaction, "a write is open on this thread already")
            }
            let (answers, thread) = (WorkQueue<Result<Void, any Error>>(), ThreadID.current)
            // The writing thread may run a closure that reads on a connection on which this thread is reading.
            try writer.beginWaiting()
            proxy.queue.flush { result in
                LockWaits.end(thread)
                _ = answers.push(result)
            }
            try answers.take(max: 1)?.first?.get()
        }
    }
}

extension ProxyChanges.Change {
    /// True if the change determines the whole row, so that the stored row isn't needed.
    fileprivate var isOfWholeRow: Bool {
        if case .replace = self { false } else { true }
    }

    fileprivate var object: Object? {
        switch self {
        case .set(let object, _): object
        case .remove: nil
        case .replace(let replacement): replacement.object
        }
    }
}

/// Reports changes of a proxy that were not written.
public struct YapDatabaseProxyError: Error, Sendable, CustomStringConvertible {
    /// Collection of the proxy.
    public let collection: String
    /// Key of the row of the discarded change. If it is nil and `isRemovalOfAllDiscarded` is false, all changes stay
    /// pending.
    public let discardedKey: String?
    /// True if `removeAllObjects()` was discarded, so that the rows in the collection stay.
    public let isRemovalOfAllDiscarded: Bool
    /// The error of the transaction.
    public let underlying: any Error

    init(
        collection: String, discardedKey: String? = nil, isRemovalOfAllDiscarded: Bool = false,
        underlying: any Error
    ) {
        (self.collection, self.discardedKey) = (collection, discardedKey)
        (self.isRemovalOfAllDiscarded, self.underlying) = (isRemovalOfAllDiscarded, underlying)
    }

    /// Place and reason in one line.
    public var description: String {
        let place = "collection \"\(collection)\""
        if isRemovalOfAllDiscarded { return "the removal of all rows was discarded, \(place): \(underlying)" }
        guard let discardedKey else { return "changes are pending, \(place): \(underlying)" }
        return "a change was discarded, \(place), key \"\(discardedKey)\": \(underlying)"
    }
}

import System

/// A collection as a dictionary that is written behind the caller: a change returns at once and is seen by the next
/// read, and is committed soon after, together with others.
///
/// ```swift
/// let settings = try YapDatabaseProxy(connection, of: Setting.self, in: "settings")
/// try settings.setObject(Setting(isOn: true), forKey: "sounds")
/// let sounds = try await settings.object(forKey: "sounds")
/// ```
///
/// Reads see the changes of this proxy that are pending, and else the newest commit. Other connections see a change
/// once it is committed. Of two writers of one row, the one that commits last wins.
///
/// A change that has returned is **not** on disk: a crash can lose it. `flush()` waits until it is committed. Use a
/// proxy for values that may be lost, such as settings and drafts, and `connection.readWrite` for all others. Pending
/// changes are written also when the proxy is released, but not after the database is closed.
///
/// If a transaction fails because of the file, for example on a full disk, its changes stay pending, reads go on to see
/// them, and the next change or `flush()` tries again. If a single change can't be written, for example because its
/// value can't be encoded or a hook throws, that change is discarded and the others are written. If the error comes at
/// the end of the transaction, fewer and fewer changes are tried at once to find the one that fails alone. The handler
/// and `flush()` report both.
public final class YapDatabaseProxy<Object: Sendable>: Sendable {
    /// The collection that it reads and writes.
    public let collection: String

    let connection: YapDatabaseConnection
    let queue: ProxyQueue<Object>

    /// Makes a proxy of a collection.
    ///
    /// - Parameters:
    ///   - connection: Reads and writes for it.
    ///   - type: The type that is registered for the collection.
    ///   - collection: The collection.
    ///   - pendingMax: Maximum number of rows with pending changes.
    ///   - whenFailed: Called with each failed transaction, one at a time, on a queue of its own. Up to 64 failures
    ///     wait for a slow handler; then the oldest are dropped.
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

    /// Returns the object of a row, or nil if there is no such row. A pending change is answered from memory.
    ///
    /// - Throws: `CancellationError`; `YapDatabaseError`: `decoding`, `closed`, or what the file gave.
    public func object(forKey key: String) async throws -> Object? {
        let change = queue.change(of: key)
        if let change, change.isOfWholeRow { return change.object }
        return try await connection.read { [collection] transaction in
            try transaction.object(key, collection, after: change)
        }
    }

    // MARK: Changing

    /// Sets the object of a row, whether the row exists or not, and returns at once. The row's metadata is cleared.
    ///
    /// - Throws: `YapDatabaseError`: `tooManyPendingChanges` if `pendingMax` rows have pending changes, which leaves
    ///   this row as it was; `closed`.
    public func setObject(_ object: Object, forKey key: String) throws {
        try queue.add(.set(object, metadata: nil), key)
    }

    /// Removes a row, if it exists, and returns at once. Throws as `setObject`.
    public func removeObject(forKey key: String) throws {
        try queue.add(.remove, key)
    }

    /// Removes all rows of the collection, and returns at once. Pending changes that no transaction has begun to write
    /// are dropped, so there is always room for it.
    ///
    /// - Throws: `YapDatabaseError` of code `closed`.
    public func removeAllObjects() throws {
        try queue.addRemovalOfAll()
    }

    /// Drops the pending changes that no transaction has begun to write: after a failure, to give them up.
    public func discardPendingChanges() {
        queue.discardPending()
    }

    /// Waits until all changes that were made before are committed. Cancelling the task doesn't end the wait.
    ///
    /// - Throws: `YapDatabaseProxyError`: the changes that stay pending because a transaction failed, or the first
    ///   change that was discarded since the last flush.
    public func flush() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.flush { continuation.resume(with: $0) }
        }
    }

    // MARK: Blocking

    /// The forms that run on the caller's thread and wait.
    public var blocking: Blocking { Blocking(proxy: self) }

    /// The forms of a proxy's calls that run on the caller's thread and wait. Not for use in async code.
    public struct Blocking: Sendable {
        let proxy: YapDatabaseProxy

        /// Returns the object of a row, or nil if there is no such row. A pending change is answered from memory.
        ///
        /// - Throws: `YapDatabaseError`: `nestedTransaction` inside of a read of the connection, if the row has no
        ///   pending change; `decoding`, `closed`, or what the file gave.
        @available(*, noasync, message: "call `try await proxy.object(forKey:)`")
        public func object(forKey key: String) throws -> Object? {
            let change = proxy.queue.change(of: key)
            if let change, change.isOfWholeRow { return change.object }
            try proxy.connection.check(.blockingRead)
            return try proxy.connection.readNow { transaction in
                try transaction.object(key, proxy.collection, after: change)
            }.result
        }

        /// Waits until all changes that were made before are committed.
        ///
        /// - Throws: As `flush()`; `YapDatabaseError`: `nestedTransaction` inside of a write transaction, which the
        ///   changes would wait for; `deadlock` inside of a read for which a write waits.
        @available(*, noasync, message: "call `try await proxy.flush()`")
        public func flush() throws {
            let writer = proxy.connection.database.writer
            if writer.isMine {
                throw YapDatabaseError(.nestedTransaction, "a write is open on this thread already")
            }
            let (answers, thread) = (WorkQueue<Result<Void, any Error>>(), ThreadID.current)
            // The writing thread may run a closure that reads on a connection on which this thread reads now.
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
    /// Whether it determines the whole row, so that the stored row isn't needed.
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

/// Why changes of a proxy were not written.
public struct YapDatabaseProxyError: Error, Sendable, CustomStringConvertible {
    /// The proxy's collection.
    public let collection: String
    /// Key of the row whose change was discarded. If it is nil and `isRemovalOfAllDiscarded` is false, all changes stay
    /// pending.
    public let discardedKey: String?
    /// Whether `removeAllObjects()` was discarded: the rows that were in the collection stay.
    public let isRemovalOfAllDiscarded: Bool
    /// What the transaction threw.
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

import Dispatch
import System

extension YapDatabase {
    /// Blocking forms of a database's calls: they run on the caller's thread and wait. Don't use them in async code.
    public struct Blocking: Sendable {
        let database: YapDatabase

        /// Registers an extension. Other writers take their turns between the batches that fill it.
        ///
        /// ```swift
        /// try database.blocking.register(todoSearch, withName: "search")
        /// ```
        ///
        /// - Parameters:
        ///   - instance: The extension. An instance can be registered once.
        ///   - name: Its name in this database.
        /// - Throws: The errors of the asynchronous form.
        @available(*, noasync, message: "call `try await database.register(_:withName:)`")
        public func register(_ instance: some YapDatabaseExtension, withName name: String) throws {
            try database.register(instance, name)
        }

        /// Unregisters an extension and those that depend on it, and drops their tables. An extension that an earlier
        /// run registered, and that isn't registered in this one, is removed from the file too.
        ///
        /// - Parameter name: The name of the extension.
        /// - Throws: `YapDatabaseError` with `extensionNotRegistered`.
        @available(*, noasync, message: "call `try await database.unregister(_:)`")
        public func unregister(_ name: String) throws {
            try database.writer.withCore { try $0.unregister(name) }
        }

        /// Copies the newest snapshot to a file. Reads and writes continue meanwhile.
        ///
        /// ```swift
        /// try database.blocking.backup(to: "/backups/todos.yap") { part in print("\(Int(part * 100)) %") }
        /// ```
        ///
        /// - Parameters:
        ///   - path: The file to write. An existing database is replaced completely or not at all.
        ///   - progress: Called with the completed part, from 0 to 1. Throw to cancel the copy.
        /// - Throws: `YapDatabaseError`, or the error of `progress`.
        @available(*, noasync, message: "call `try await database.backup(to:)`")
        public func backup(to path: String, progress: (Double) throws -> Void = { _ in }) throws {
            try database.backup(to: path, progress)
        }

        /// Closes the file: waits for the running write, and rejects later reads and writes with `closed`. A second
        /// call does nothing.
        ///
        /// Connections close their own handles when they are released, or at their next use.
        /// - Throws: `YapDatabaseError`: `nestedTransaction` inside a write transaction; `deadlock` inside a read on
        ///   a connection that the running write waits for.
        @available(*, noasync, message: "call `try await database.close()`")
        public func close() throws {
            try database.closeNow()
        }

        /// Waits until all writes that were queued before have ended.
        ///
        /// - Throws: `YapDatabaseError`: `closed`; `deadlock` inside a write transaction, and inside a read that a
        ///   queued write waits for.
        @available(*, noasync, message: "call `try await database.flushTransactions()`")
        public func flushTransactions() throws {
            try database.exclusivelyWaiting { _ in }
        }

        /// Releases the memory of the caches.
        ///
        /// - Throws: `YapDatabaseError`: `closed`, or `nestedTransaction` inside a write transaction.
        @available(*, noasync, message: "call `try await database.flushMemory()`")
        public func flushMemory() throws {
            try database.writer.withCore { $0.store.flushMemory() }
            database.idleReaders.removeAll()
        }

        /// Registers a reader of changes.
        ///
        /// - Parameter name: The name of the reader.
        /// - Throws: The errors of the asynchronous form.
        @available(*, noasync, message: "call `try await database.registerChangeReader(_:)`")
        public func registerChangeReader(_ name: String) throws {
            try database.writer.withCore { try $0.registerChangeReader(name) }
        }

        /// Unregisters a reader of changes.
        ///
        /// - Parameter name: The name of the reader.
        /// - Throws: The errors of the asynchronous form.
        @available(*, noasync, message: "call `try await database.unregisterChangeReader(_:)`")
        public func unregisterChangeReader(_ name: String) throws {
            try database.writer.withCore { try $0.unregisterChangeReader(name) }
        }
    }

    func register(_ instance: some YapDatabaseExtension, _ name: String) throws {
        if let generation = try beginRegistration(instance, name) { try fillWaiting(generation) }
        instance.didRegister(registeredName: name, database: self)
    }

    private func beginRegistration(_ instance: some YapDatabaseExtension, _ name: String) throws -> UInt64? {
        do {
            return try writer.withCore { try $0.register(instance, withName: name) }
        } catch is DependenciesCatchUp {
            while true {
                do {
                    // In the queue of writes, so that other writers take their turns.
                    return try exclusivelyWaiting { try $0.register(instance, withName: name) }
                } catch is DependenciesCatchUp {}
            }
        }
    }

    private func fillWaiting(_ generation: UInt64) throws {
        let steps = FillingSteps(generation)
        do {
            // In the queue of writes, so that other writers take their turns.
            while try exclusivelyWaiting({ try steps.next($0) }) != nil {}
        } catch {
            let isComplete = try? writer.withCore { $0.stopFilling(generation) }
            if isComplete != true { throw error }
        }
    }

    /// Runs `body` on the writing thread, and waits. Throws `deadlock` inside a write transaction, because the call
    /// would wait for itself.
    func exclusivelyWaiting<Value: Sendable>(
        _ body: @escaping @Sendable (WriterCore) throws -> Value
    ) throws -> Value {
        let (outcome, isDone) = (Lock<Result<Value, any Error>?>(nil), DispatchSemaphore(value: 0))
        let thread = ThreadID.current
        // The writing thread may run a closure that reads on a connection on which this thread is reading.
        try writer.beginWaiting()
        let request = ExclusiveRequest(body) { result in
            outcome.withLock { $0 = result }
            LockWaits.end(thread)
            isDone.signal()
        }
        shell.write(request, writer)
        isDone.wait()
        guard let result = outcome.withLock({ $0 }) else {
            preconditionFailure("a request was answered without a result")
        }
        return try result.get()
    }

    func backup(to path: String, _ progress: (Double) throws -> Void) throws {
        try makeReader().backup(to: path, progress: progress)
    }
}

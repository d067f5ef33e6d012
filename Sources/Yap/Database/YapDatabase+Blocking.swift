import Dispatch
import System

extension YapDatabase {
    /// The forms of a database's calls that run on the caller's thread and wait. Not for use in async code.
    public struct Blocking: Sendable {
        let database: YapDatabase

        /// Registers an extension as the asynchronous form does, which also lets writers of other threads have their
        /// turn at once.
        ///
        /// - Throws: as the asynchronous form.
        @available(*, noasync, message: "call `try await database.register(_:withName:)`")
        public func register(_ instance: some YapDatabaseExtension, withName name: String) throws {
            try database.register(instance, name)
        }

        /// Unregisters an extension and those that depend on it, and drops their tables: also one that is in
        /// the file from an earlier run and not registered in this one.
        ///
        /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`.
        @available(*, noasync, message: "call `try await database.unregister(_:)`")
        public func unregister(_ name: String) throws {
            try database.writer.withCore { try $0.unregister(name) }
        }

        /// Copies the newest snapshot to a file, while others go on reading and writing.
        ///
        /// - Parameters:
        ///   - path: The file to write. A database that is there is replaced, as a whole or not at all.
        ///   - progress: Told the part that is done, from 0 to 1; throws to give up.
        /// - Throws: `YapDatabaseError`, or what `progress` threw.
        @available(*, noasync, message: "call `try await database.backup(to:)`")
        public func backup(to path: String, progress: (Double) throws -> Void = { _ in }) throws {
            try database.backup(to: path, progress)
        }

        /// Closes the file: waits for the write that runs, and refuses later reads and writes with `closed`. A second
        /// call does nothing.
        ///
        /// Connections close their own handles when they are released, or at their next use.
        /// - Throws: `YapDatabaseError`: `nestedTransaction` inside of a write transaction; `deadlock` inside of a read
        ///   on a connection for which the running write waits.
        @available(*, noasync, message: "call `try await database.close()`")
        public func close() throws {
            try database.closeNow()
        }

        /// Waits until all writes that were queued before have ended, as the asynchronous form does.
        ///
        /// - Throws: `YapDatabaseError`: `closed`; `deadlock` inside of a write transaction, and of a read for which a
        ///   queued write waits.
        @available(*, noasync, message: "call `try await database.flushTransactions()`")
        public func flushTransactions() throws {
            try database.exclusivelyWaiting { _ in }
        }

        /// Releases memory, as the asynchronous form does.
        ///
        /// - Throws: `YapDatabaseError`: `closed`, or `nestedTransaction` inside of a write transaction.
        @available(*, noasync, message: "call `try await database.flushMemory()`")
        public func flushMemory() throws {
            try database.writer.withCore { $0.store.flushMemory() }
            database.idleReaders.removeAll()
        }

        /// Registers a reader of changes. Throws as the asynchronous form.
        @available(*, noasync, message: "call `try await database.registerChangeReader(_:)`")
        public func registerChangeReader(_ name: String) throws {
            try database.writer.withCore { try $0.registerChangeReader(name) }
        }

        /// Unregisters a reader of changes. Throws as the asynchronous form.
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
                    // In the queue of writes, where those of others have their turn.
                    return try exclusivelyWaiting { try $0.register(instance, withName: name) }
                } catch is DependenciesCatchUp {}
            }
        }
    }

    private func fillWaiting(_ generation: UInt64) throws {
        let steps = FillingSteps(generation)
        do {
            // In the queue of writes, where those of others have their turn.
            while try exclusivelyWaiting({ try steps.next($0) }) != nil {}
        } catch {
            let isComplete = try? writer.withCore { $0.stopFilling(generation) }
            if isComplete != true { throw error }
        }
    }

    /// Runs `body` on the writing thread, and waits. Inside of a write transaction, which that thread would wait for,
    /// it throws `deadlock`.
    func exclusivelyWaiting<Value: Sendable>(
        _ body: @escaping @Sendable (WriterCore) throws -> Value
    ) throws -> Value {
        let (outcome, isDone) = (Lock<Result<Value, any Error>?>(nil), DispatchSemaphore(value: 0))
        let thread = ThreadID.current
        // The writing thread may run a closure that reads on a connection on which this thread reads now.
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

internal import CloudKit
internal import System
internal import Yap

/// The device's database: counting, reading and writing, and the log.
extension SyncRunner {
    /// The way into the database, the extension's name in it, how far the log was heard, and the number of the start;
    /// nil before the extension was registered, and after the database was closed.
    func connection() -> (YapDatabaseConnection, name: String, heardLogID: Int64, start: Int)? {
        state.withLock { state in
            guard !state.isEnded else { return nil }
            let connection = state.connection ?? state.database?.newConnection()
            state.connection = connection
            return connection.map { ($0, state.registeredName, state.heardLogID, state.starts) }
        }
    }

    /// Counts the queues and tells the engine. Before the first sync, marks that nothing is in flight.
    func recount() {
        let start = state.withLock { $0.starts }
        do {
            if let queues = try countQueues() { tell(queues) }
        } catch {
            if isClosed(error) { return end(start: start) }
            post(.countFailed(message: "the queue can't be read: \(error)"))
        }
    }

    /// The queues as they were at one moment.
    struct CountedQueues {
        var account: Int64
        /// Whether each zone of the account's database has a token.
        var isFetched: Bool
        var counts: [(key: DatabaseKey, count: QueueCount)]
        /// Of which a batch was in flight when the process before ended.
        var unanswered: [DatabaseKey]
    }

    func countQueues() throws -> CountedQueues? {
        guard let (connection, name, _, start) = connection() else { return nil }
        // A database whose queue was emptied has no change-set any more.
        let known = state.withLock { $0.engine.databases.keys }
        let unanswered = try clearInFlightOnce(connection, name)
        let queues = try connection.blocking.read { transaction in
            let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
            let tables = ext.tables
            let account = try tables.currentAccount()
            let own = DatabaseKey(nil, account: account)
            let keys = Set(known).union(try tables.databases()).union([own])
            let moment = CountMoment.reading(snapshot: transaction.snapshot, start: start)
            return CountedQueues(
                account: account, isFetched: try tables.hasToken(own),
                counts: try keys.sorted().map { ($0, try ext.count($0, at: moment)) },
                unanswered: unanswered)
        }
        environment.scheduler.yield()
        return queues
    }

    func tell(_ queues: CountedQueues) {
        // Before a fetch can begin.
        for key in queues.unanswered { post(.unanswered(key)) }
        post(.useAccount(queues.account, isFetched: queues.isFetched))
        for (key, count) in queues.counts { post(.counted(key, count)) }
    }

    /// Clears what an earlier process had in flight, when that is to be done.
    private func clearInFlightOnce(_ connection: YapDatabaseConnection, _ name: String) throws
        -> [DatabaseKey]
    {
        // Reset before the work: another turn may begin during it, and asks for it again.
        let mustClear = state.withLock { state in
            defer { state.mustClearInFlight = false }
            return state.mustClearInFlight
        }
        guard mustClear else { return [] }
        do {
            return try clearInFlight(connection, name)
        } catch {
            state.withLock { $0.mustClearInFlight = true }
            throw error
        }
    }

    /// - Returns: The databases of which something was in flight, without those to be fetched from the beginning: such
    ///   a fetch tells no deletions, so no record may become known before it.
    private func clearInFlight(_ connection: YapDatabaseConnection, _ name: String) throws -> [DatabaseKey] {
        let (keys, fetched) = try connection.blocking.read { transaction in
            let tables = try transaction.ext(name, as: YapDatabaseCloudKit.self).tables
            let keys = try tables.databasesInFlight()
            return (keys, try keys.filter { try tables.hasToken($0) })
        }
        environment.scheduler.yield()
        if !keys.isEmpty {
            try connection.blocking.readWrite { transaction in
                let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
                ext.isByEngine = true
                try ext.writing { _ in try ext.tables.clearAllInFlight() }
            }
        }
        return fetched
    }

    /// Reads, and says so to the engine when that fails.
    func read<Value>(_ task: SyncTask, _ body: (YapDatabaseCloudKitTransaction) throws -> Value) -> Value? {
        guard let (connection, name, _, start) = connection() else { return nil }
        do {
            let value = try connection.blocking.read { transaction in
                try body(try transaction.ext(name, as: YapDatabaseCloudKit.self))
            }
            environment.scheduler.yield()
            return value
        } catch {
            localFailure(task, error, start: start)
            return nil
        }
    }

    /// Writes, and counts the queue as it is then; says so to the engine when that fails.
    func write<Value>(
        _ task: SyncTask,
        _ body: (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction) throws -> Value
    ) -> (value: Value, count: QueueCount)? {
        guard let (connection, name, heard, start) = connection() else { return nil }
        do {
            let written = try connection.blocking.readWrite { transaction in
                let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
                ext.isByEngine = true
                if heard > 0 { try ext.tables.removeLogEntries(through: heard) }
                let value = try body(transaction, ext)
                // A merge block may change rows whose records are in another database.
                if ext.openChangeSets.keys.contains(where: { $0 != task.key }) { ext.isByEngine = false }
                let moment = CountMoment.writing(onTopOf: transaction.snapshot, start: start)
                return (value: value, count: try ext.count(task.key, at: moment))
            }
            environment.scheduler.yield()
            return written
        } catch {
            localFailure(task, error, start: start)
            return nil
        }
    }

    /// Writes, and tells the engine how the queue is then.
    func change(
        _ task: SyncTask,
        _ body: (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction) throws -> Void
    ) {
        guard let (_, count) = write(task, body) else { return }
        post(.applied(task.key, count), attempt: task.attempt)
    }

    /// Reports to the engine that the database of a start can't be read or written; ends the sync if it was closed.
    func localFailure(_ task: SyncTask, _ error: any Error, start: Int) {
        if isClosed(error) { end(start: start) }
        post(.localFailure(task.key, message: "\(error)"), attempt: task.attempt)
    }

    /// Keeps an error in the file, to be read later. When that fails too, nothing more can be done for it.
    func keep(_ error: CKError, _ key: DatabaseKey) {
        guard let (connection, name, _, _) = connection() else { return }
        let now = environment.clock.nowMilliseconds()
        try? connection.blocking.readWrite { transaction in
            let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
            ext.isByEngine = true
            try ext.tables.keep(error, key, atMilliseconds: now)
        }
    }

    private func isClosed(_ error: any Error) -> Bool {
        (error as? YapDatabaseError)?.code == .closed
    }

    // MARK: The log

    /// Once handed out, entries go from the table with the next transaction.
    func handOut(_ log: [CloudMergeLogEntry]) {
        // What was read from the table may also have come with its commit.
        let heard = state.withLock { $0.heardLogID }
        let log = log.filter { $0.id > heard }
        guard let last = log.last else { return }
        guard environment.logBlock(log) else { return }
        state.withLock { $0.heardLogID = max($0.heardLogID, last.id) }
    }

    /// What an earlier run decided and may not have told.
    func handOutLeftLog() {
        guard let (connection, name, _, start) = connection() else { return }
        do {
            let left = try connection.blocking.read {
                try $0.ext(name, as: YapDatabaseCloudKit.self).tables.logEntries()
            }
            environment.scheduler.yield()
            handOut(left)
        } catch {
            if isClosed(error) { return end(start: start) }
            environment.errorBlock(nil, .saying(.internalError, "the merge log can't be read: \(error)"))
        }
    }
}

internal import Yap

extension OpenDatabase {
    /// Counts the queues of these databases, of all databases with change-sets, and of the account's own one.
    /// - Returns: The events with the account and the counts.
    func counts(of known: some Sequence<DatabaseKey>) throws -> [SyncEvent] {
        try connection.blocking.read { transaction in
            let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
            let tables = ext.tables
            let account = try tables.accounts.currentAccount()
            let own = DatabaseKey(nil, account: account)
            let keys = Set(known).union(try tables.queue.databases()).union([own])
            let moment = CountMoment.reading(snapshot: transaction.snapshot, start: start)
            return try [.useAccount(account, isFetched: tables.tokens.hasToken(own))]
                + keys.sorted().map { .counted($0, try ext.count($0, at: moment)) }
        }
    }

    /// Removes the marks of batches that an earlier process had in flight.
    /// - Returns: The databases with such batches, without those that have no token: a fetch without a token reports no
    ///   deletions, so no record may become known before it.
    func clearInFlight(_ scheduler: any SyncScheduler) throws -> [DatabaseKey] {
        let (keys, fetched) = try read { ext in
            let keys = try ext.tables.queue.databasesInFlight()
            return (keys, try keys.filter { try ext.tables.tokens.hasToken($0) })
        }
        scheduler.yield()
        if !keys.isEmpty {
            try write { _, ext in try ext.writing { _ in try ext.tables.queue.clearAllInFlight() } }
        }
        return fetched
    }
}

extension Error {
    /// Whether the device's database was closed.
    var isClosedDatabase: Bool { (self as? YapDatabaseError)?.code == .closed }
}

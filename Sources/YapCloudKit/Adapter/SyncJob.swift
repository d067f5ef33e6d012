internal import CloudKit
internal import System
internal import Yap

/// One piece of the engine's work, carried out by CloudKit's operations and by transactions of the device's database.
/// It lasts until it has posted the event that completes it.
struct SyncJob: Sendable {
    let runner: SyncRunner
    let key: DatabaseKey
    /// Number by which the engine knows the events of the work.
    let attempt: Int
    /// Number of the start with whose database the work began. Nothing of it is written to the database of a later
    /// start.
    let sessionStart: Int

    var environment: SyncEnvironment { runner.environment }
    var session: SyncSession { runner.session }

    func run(_ work: SyncWork) {
        switch work {
        case .send(let limits): send(limits)
        case .complete(let completion): complete(completion)
        case .fetch(let zoneID): fetch(zoneID)
        case .createZone(let zoneID): createZone(zoneID)
        case .subscribe: subscribe()
        case .dropToken(let zoneID, let reason):
            change { _, ext in try ext.beginFullFetch(zoneID, key, reason) }
        case .liftQuarantine(let code):
            change { _, ext in
                try ext.writing { _ in try ext.tables.queue.liftQuarantine(key, onlyWith: code) }
            }
        }
    }

    /// Passes an event to the engine, as the result of this work.
    func post(_ event: SyncEvent) { runner.post(event, attempt: attempt, start: sessionStart) }

    // MARK: The device's database

    /// Reads. If that fails, the engine is notified.
    func read<Value>(_ body: (YapDatabaseCloudKitTransaction) throws -> Value) -> Value? {
        guard let open = session.open(start: sessionStart) else { return nil }
        do {
            let value = try open.read(body)
            environment.scheduler.yield()
            return value
        } catch {
            failed(error)
            return nil
        }
    }

    /// Writes, and counts the queue as it is then. If that fails, the engine is notified.
    func write<Value>(
        _ body: (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction) throws -> Value
    ) -> (value: Value, count: QueueCount)? {
        guard let open = session.open(start: sessionStart) else { return nil }
        let handedOutID = runner.log.handedOutID(start: sessionStart)
        do {
            let written = try open.write { transaction, ext in
                if handedOutID > 0 { try ext.tables.log.removeLogEntries(through: handedOutID) }
                let value = try body(transaction, ext)
                // A merge block may change rows with records in another database: these changes must be counted.
                if !ext.queue.changesOnly(key) { ext.isByEngine = false }
                let moment = CountMoment.writing(onTopOf: transaction.snapshot, start: open.start)
                return (value: value, count: try ext.count(key, at: moment))
            }
            environment.scheduler.yield()
            return written
        } catch {
            failed(error)
            return nil
        }
    }

    /// Writes, and completes the work with the count of the queue.
    private func change(
        _ body: (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction) throws -> Void
    ) {
        guard let (_, count) = write(body) else { return }
        post(.applied(key, count))
    }

    /// Notifies the engine that the device's database can't be read or written. Ends the sync if it was closed.
    func failed(_ error: any Error) {
        if error.isClosedDatabase { runner.end(start: sessionStart) }
        post(.localFailure(key, message: "\(error)"))
    }

    // MARK: The cloud

    /// Returns the cloud database, and the user to access it as. Nil if the database is unknown, or if another user
    /// is signed in than the owner of the queued changes; then the engine was notified. Also nil after another
    /// start.
    func cloudDatabase() -> CloudDatabase? {
        guard let database = environment.databaseBlock(key.identifier) else {
            post(.unknownDatabase(key))
            return nil
        }
        let signedIn = database.signedInUserRecordName
        guard session.start == sessionStart else { return nil }
        do {
            let owner =
                try session.userRecordName(key, start: sessionStart) ?? storedOwner(orElse: signedIn)
            if let signedIn, let owner, signedIn != owner {
                post(.anotherUser(key))
                return nil
            }
            return CloudDatabase(database: database, userRecordName: owner)
        } catch {
            failed(error)
            return nil
        }
    }

    /// Returns the owner of the queued changes, as read from the device's database. If it isn't known yet, the
    /// signed-in user becomes it.
    private func storedOwner(orElse signedIn: String?) throws -> String? {
        guard let open = session.open(start: sessionStart) else { return signedIn }
        var owner = try open.read { try $0.tables.accounts.userRecordName(key) }
        environment.scheduler.yield()
        if owner == nil, let signedIn {
            owner = try open.connection.blocking.readWrite { transaction in
                let ext = try transaction.ext(open.name, as: YapDatabaseCloudKit.self)
                // The app may have named the user meanwhile; then that name stays.
                try ext.writing { _ in try ext.tables.accounts.setUserRecordName(signedIn, key) }
                return try ext.tables.accounts.userRecordName(key)
            }
        }
        session.setUserRecordName(owner, key, start: open.start)
        return owner
    }

    /// Starts an operation on the scheduler, unless the sync was started with another database since.
    func start(_ operation: CKDatabaseOperation, in cloud: CloudDatabase) {
        operation.run(as: cloud.userRecordName)
        guard session.add(operation, attempt: attempt, start: sessionStart) else { return }
        environment.scheduler.perform { cloud.database.add(operation) }
    }

    private func createZone(_ zoneID: CKRecordZone.ID) {
        guard let cloud = cloudDatabase() else { return }
        let operation = CKModifyRecordZonesOperation.creating(zoneID) { error in
            post(.zoneCreated(key, zoneID, error))
        }
        start(operation, in: cloud)
    }

    /// Saves the subscription, and then notes in the device's database that it is saved.
    private func subscribe() {
        guard let cloud = cloudDatabase() else { return }
        let subscription = CKDatabaseSubscription(subscriptionID: SyncRunner.subscriptionID)
        subscription.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
        let operation = CKModifySubscriptionsOperation.saving(subscription) { error in
            if let error { return post(.subscribeFailed(key, error)) }
            let written = write { _, ext in
                try ext.writing { _ in
                    try ext.tables.accounts.setSubscriptionID(SyncRunner.subscriptionID, key)
                }
            }
            if let (_, count) = written { post(.subscribed(key, count)) }
        }
        start(operation, in: cloud)
    }
}

/// A cloud database, and the user to access it as; nil for the signed-in user.
struct CloudDatabase: Sendable {
    let database: CKDatabase
    let userRecordName: String?
}

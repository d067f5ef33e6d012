internal import CloudKit
internal import System

extension SyncRunner {
    /// The subscription's name: the same on each of a user's devices, so that they share one.
    static let subscriptionID = "YapCloudKit"

    /// Saves the subscription, and then keeps in the device's database that it is saved.
    func subscribe(_ task: SyncTask) {
        guard let (database, user) = ownCloudDatabase(task) else { return }
        let subscription = CKDatabaseSubscription(subscriptionID: Self.subscriptionID)
        subscription.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
        let operation = CKModifySubscriptionsOperation.saving(subscription) { error in
            if let error { return self.post(.subscribeFailed(task.key, error), attempt: task.attempt) }
            let written = self.write(task) { _, ext in
                try ext.writing { _ in try ext.tables.setSubscriptionID(Self.subscriptionID, task.key) }
            }
            if let (_, count) = written { self.post(.subscribed(task.key, count), attempt: task.attempt) }
        }
        run(operation, on: database, as: user, task)
    }

    /// Listens to the database's notifications until the database on the device is closed.
    func listen(_ key: DatabaseKey) {
        guard let database = environment.databaseBlock(key.identifier) else { return }
        environment.scheduler.perform { [weak self] in
            let end = database.observeChanges { [weak self] change in self?.heard(change, key) }
            if let self { self.keep(listening: end) } else { end() }
        }
    }

    private func heard(_ change: HeardChange, _ key: DatabaseKey) {
        switch change {
        case .listening(let wasForgotten): post(.listening(key, wasForgotten: wasForgotten))
        case .interrupted(let error):
            if error.isServerResponse { noteResponse(key) }
            environment.errorBlock(key.identifier, error)
        case .change: post(.pushed(key))
        case .nothing: noteResponse(key)
        }
    }

    /// The server responded, and said nothing else: the engine has nothing to decide, and no status is told.
    private func noteResponse(_ key: DatabaseKey) {
        let now = environment.clock.nowMilliseconds()
        state.withLock { $0.engine.serverResponded(key, now: now) }
    }

    /// Whether the notification is about a database that something is followed in; then it is fetched.
    func handle(_ notification: CKNotification) -> Bool {
        let keys = followedDatabases.filter { key in
            guard let database = environment.databaseBlock(key.identifier) else { return false }
            return database.isTold(by: notification)
        }
        for key in keys { post(.pushed(key)) }
        return !keys.isEmpty
    }
}

extension CKModifySubscriptionsOperation {
    /// An operation that saves one subscription, and calls `completion` once.
    fileprivate static func saving(
        _ subscription: CKSubscription, completion: @escaping @Sendable (CKError?) -> Void
    ) -> CKModifySubscriptionsOperation {
        let operation = CKModifySubscriptionsOperation(subscriptionsToSave: [subscription])
        let itemError = Lock<CKError?>(nil)
        operation.perSubscriptionSaveBlock = { _, result in
            guard case .failure(let error) = result else { return }
            let wrapped = CKError(wrapping: error)
            itemError.withLock { $0 = wrapped }
        }
        operation.modifySubscriptionsResultBlock = { result in
            var error = itemError.withLock { $0 }
            if case .failure(let whole) = result { error = error ?? CKError(wrapping: whole) }
            completion(error)
        }
        return operation
    }
}

internal import CloudKit

/// Notifications of other devices' changes.
extension SyncRunner {
    /// Name of the subscription. All devices of a user have the same one, so they share it.
    static let subscriptionID = "YapCloudKit"

    /// Listens to a cloud database's notifications until the database of a start ends, or until another start.
    func listen(_ key: DatabaseKey, start: Int) {
        guard let database = environment.databaseBlock(key.identifier) else { return }
        environment.scheduler.perform { [weak self] in
            let end = database.observeChanges { [weak self] event in self?.take(event, key, start: start) }
            if let self { self.listeners.add(start: start, end) } else { end() }
        }
    }

    private func take(_ event: ListeningEvent, _ key: DatabaseKey, start: Int) {
        switch event {
        case .listening(let wasForgotten): post(.listening(key, wasForgotten: wasForgotten), start: start)
        case .interrupted(let error):
            if error.isServerResponse { noteResponse(key) }
            environment.errorBlock(key.identifier, error)
        case .change: post(.pushed(key), start: start)
        case .waitEnded: noteResponse(key)
        }
    }

    /// Fetches the followed databases that a notification is about.
    /// - Returns: Whether there is one.
    func handle(_ notification: CKNotification) -> Bool {
        let keys = followedDatabases.filter { key in
            guard let database = environment.databaseBlock(key.identifier) else { return false }
            return database.isConcerned(by: notification)
        }
        for key in keys { post(.pushed(key)) }
        return !keys.isEmpty
    }
}

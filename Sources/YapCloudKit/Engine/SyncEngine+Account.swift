internal import CloudKit

/// The account that is synced.
extension SyncEngine {
    /// Returns the database of the account in use.
    func current(_ key: DatabaseKey) -> DatabaseKey {
        DatabaseKey(key.identifier, account: account ?? key.account)
    }

    /// Syncs another user's databases from now on. The same zones are followed and listened to in them. No new work
    /// begins in the databases of other accounts.
    mutating func use(_ account: Int64, isFetched: Bool) {
        guard account != self.account else { return }
        self.account = account
        // A fetch without a token reports no deletions, so no record may become known before it.
        if !isFetched { databases[DatabaseKey(nil, account: account)]?.uploads.unansweredCount = 0 }
        for key in databases.keys.sorted() where key.account != account {
            guard var old = databases[key], !old.zones.followed.isEmpty || old.notifications.isWanted else {
                continue
            }
            databases[current(key), default: DatabaseSyncState()].follow(asIn: old)
            old.zones.followed = []
            old.zones.toFetch = []
            old.zones.toCreate = []
            old.notifications = DatabaseSyncState.Notifications()
            databases[key] = old
        }
    }
}

extension DatabaseSyncState {
    /// Follows the zones of another state, and listens to notifications if that does.
    mutating func follow(asIn old: DatabaseSyncState) {
        for zone in old.zones.followed where !zones.followed.contains(zone) {
            zones.followed.append(zone)
            zones.needCreate(zone)
        }
        zones.needFetchOfFollowed()
        notifications = old.notifications
        notifications.needsSubscription = old.notifications.isWanted
    }
}

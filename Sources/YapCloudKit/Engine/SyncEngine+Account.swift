internal import CloudKit

/// Whose databases are synced.
extension SyncEngine {
    /// The database of the account in use.
    func current(_ key: DatabaseKey) -> DatabaseKey {
        DatabaseKey(key.identifier, account: account ?? key.account)
    }

    /// Another user's databases from now on. What was followed and listened to is so there too; what is under way in
    /// the others ends.
    mutating func use(_ account: Int64, isFetched: Bool) {
        guard account != self.account else { return }
        self.account = account
        // A fetch from the beginning tells no deletions: no record may become known before it.
        if !isFetched { lanes[DatabaseKey(nil, account: account)]?.unansweredSends = 0 }
        for key in lanes.keys.sorted() where key.account != account {
            guard var old = lanes[key], !old.followed.isEmpty || old.listens else { continue }
            let new = current(key)
            var lane = lanes[new] ?? SyncLane()
            for zone in old.followed where !lane.followed.contains(zone) {
                lane.followed.append(zone)
                lane.needCreate(zone)
            }
            lane.followed.forEach { lane.needFetch($0) }
            lane.listens = old.listens
            lane.isListening = old.isListening
            lane.needsSubscription = old.listens
            lanes[new] = lane
            old.followed = []
            old.zonesToFetch = []
            old.zonesToCreate = []
            (old.listens, old.isListening, old.needsSubscription) = (false, false, false)
            lanes[key] = old
        }
    }
}

import CloudStore
import System

extension StoreChanges {
    /// Removes notifications from their user's collection. Clients with an older token are notified that some
    /// were removed.
    mutating func discard(_ rows: [NotificationRow], from feed: NotificationFeedRow) {
        guard let last = rows.map(\.key.number).max() else { return }
        var feed = feed
        feed.floor = max(feed.floor, last)
        feed.count -= Int64(rows.count)
        feed.unreadCount -= Int64(rows.count { !$0.isRead })
        notifications.removedNotifications += rows.map(\.key)
        notifications.feeds.append(feed)
    }
}

/// Discards expired notifications.
struct NotificationPruning: Sendable {
    let limits: ServiceLimits
    let clock: any TimeSource
    let random: any RandomSource

    /// Discards up to `rowsMax` of them and returns their number.
    func prune(rowsMax: Int, _ writer: any CloudStoreWriter) throws -> Int {
        let rows = try writer.notificationReader.notifications(
            before: notificationsBefore, notificationsMax: rowsMax)
        guard !rows.isEmpty else { return 0 }
        let byUser = Dictionary(grouping: rows, by: \.key.user)
        var wanted = StoreLoad()
        wanted.notifications.feedsOf = byUser.keys.sorted()
        let feeds = try writer.load(wanted).notifications.feeds
        var changes = StoreChanges()
        for user in wanted.notifications.feedsOf {
            let feed = feeds[user] ?? NotificationFeedRow(user: user, epoch: random.nextEpoch())
            changes.discard(byUser[user] ?? [], from: feed)
        }
        try writer.apply(changes)
        return rows.count
    }

    /// Returns true if there are any.
    func areOutdated(_ reader: any CloudStoreReader) throws -> Bool {
        try !reader.notificationReader.notifications(before: notificationsBefore, notificationsMax: 1).isEmpty
    }

    private var notificationsBefore: Int64 { clock.nowMilliseconds() - limits.notificationMilliseconds }
}

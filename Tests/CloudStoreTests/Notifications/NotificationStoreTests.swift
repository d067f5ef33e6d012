import CloudStore
import SQLiteTestSupport
import Testing

/// What every store promises of query subscriptions, the collection of notifications, and webhooks.
@Suite struct NotificationStoreTests {
    let folder: TemporaryFolder
    private let database = Rows.database

    init() throws {
        folder = try TemporaryFolder()
    }

    private func watcher(_ id: String, number: Int64, type: String? = "todo", user: String = "_ada")
        -> SubscriptionRow
    {
        SubscriptionRow(
            key: SubscriptionKey(database: .publicDatabase, user: user, subscriptionID: id),
            recordType: type, number: number, content: Array(id.utf8))
    }

    private func notification(
        _ number: Int64, _ id: String, user: String = "_ada", kind: NotificationRow.Kind = .query,
        at milliseconds: Int64 = 0, isRead: Bool = false, maker: String? = nil
    ) -> NotificationRow {
        NotificationRow(
            key: NotificationKey(user: user, number: number), notificationID: id, kind: kind,
            subscription: SubscriptionKey(database: database, user: user, subscriptionID: "s"),
            atMilliseconds: milliseconds, isRead: isRead, maker: maker, content: Array(id.utf8))
    }

    @Test(arguments: TestStore.all) func queryWatchersAreFoundByTypeInTheOrderOfTheirNumbers(
        _ kind: TestStore
    )
        throws
    {
        let store = try kind.make(folder)
        let rows = [watcher("b", number: 1), watcher("a", number: 2), watcher("c", number: 3, user: "_bob")]
        let others = [watcher("x", number: 1, type: "other"), watcher("y", number: 0, type: nil)]
        try store.apply { $0.subscriptions = others + rows.reversed() }
        let key = WatchKey(database: .publicDatabase, recordType: "todo")
        let loaded = try store.load {
            $0.notifications.watchersOf = [key]
            $0.notifications.subscriptionsOf = [SubscriberKey(database: .publicDatabase, user: "_ada")]
        }.notifications
        #expect(loaded.watchers[key] == rows)
        #expect(
            loaded.subscriptions.values.first?.map(\.key.subscriptionID) == ["a", "b", "x", "y"])
        let watch = WatchRow(key: key, version: .max, count: 3, lastNumber: 7)
        try store.apply { $0.notifications.watches = [watch] }
        let missing = WatchKey(database: database, recordType: "todo")
        #expect(
            try store.load { $0.notifications.watches = [key, missing] }.notifications.watches == [key: watch]
        )
    }

    @Test(arguments: TestStore.all) func firedChangesComeInTheOrderInWhichTheyWereWritten(_ kind: TestStore)
        throws
    {
        let store = try kind.make(folder)
        func change(_ name: String, maker: DeviceKey? = nil) -> FiredChangeRow {
            FiredChangeRow(
                record: Rows.key(name), recordType: "todo", reason: 2, maker: maker, atMilliseconds: 5,
                fields: [1], watchers: [2, 3])
        }
        #expect(try store.read { try $0.notificationReader.firedChangesCount() } == 0)
        try store.apply {
            $0.notifications.firedChanges = [
                change("c"), change("a", maker: DeviceKey(user: "_ada", device: "phone")), change("b"),
            ]
        }
        let page = try store.read { try $0.notificationReader.firedChanges(changesMax: 2) }
        #expect(page.rows.map(\.record.recordName) == ["c", "a"] && page.moreComing)
        #expect(page.rows[1].maker?.device == "phone" && page.rows[0].maker == nil)
        #expect(page.rows[0].fields == [1] && page.rows[0].watchers == [2, 3] && page.rows[0].reason == 2)
        var first = page.rows[0]
        first.watchers = [9]
        try store.apply {
            $0.notifications.removedFiredChanges = [page.rows[1].number]
            $0.notifications.firedChanges = [first]
        }
        let rest = try store.read { try $0.notificationReader.firedChanges(changesMax: 9) }
        #expect(
            rest.rows.map(\.record.recordName) == ["c", "b"] && rest.rows[0] == first && !rest.moreComing)
        #expect(try store.read { try $0.notificationReader.firedChangesCount() } >= 2)
    }

    @Test(arguments: TestStore.all) func aCollectionIsReadInOrderAndANotificationFoundByItsName(
        _ kind: TestStore
    )
        throws
    {
        let store = try kind.make(folder)
        let rows = [
            notification(1, "a", at: 9), notification(2, "b", at: 3, isRead: true, maker: "phone"),
            notification(5, "c", at: 4),
        ]
        try store.apply {
            $0.notifications.notifications = rows + [notification(1, "a", user: "_bob", at: 1)]
        }
        func page(_ after: Int64, _ max: Int) throws -> ChangesPage<NotificationRow> {
            try store.read {
                try $0.notificationReader.notifications(of: "_ada", after: after, notificationsMax: max)
            }
        }
        #expect(try page(0, 2).rows == Array(rows[0...1]) && page(0, 2).moreComing)
        #expect(try page(2, 2).rows == [rows[2]] && !page(2, 2).moreComing)
        let old = try store.read { try $0.notificationReader.notifications(before: 9, notificationsMax: 2) }
        #expect(old.map(\.atMilliseconds) == [1, 3])
        var moved = rows[0]
        moved.key = NotificationKey(user: "_ada", number: 6)
        moved.isRead = true
        try store.apply {
            $0.notifications.removedNotifications = [rows[0].key]
            $0.notifications.notifications = [moved]
        }
        #expect(try page(0, 9).rows == [rows[1], rows[2], moved])
        #expect(
            try store.load { $0.notifications.notifications = [moved.name] }.notifications.notifications == [
                moved.name: moved
            ])
        let feed = NotificationFeedRow(
            user: "_ada", epoch: .max, counter: 6, floor: 1, count: 3, unreadCount: 1)
        try store.apply { $0.notifications.feeds = [feed] }
        #expect(
            try store.load { $0.notifications.feedsOf = ["_ada", "_bob"] }.notifications.feeds == [
                "_ada": feed
            ])
    }

    @Test(arguments: TestStore.all) func theUnreadNotificationOfAFeedIsFoundBySubscription(_ kind: TestStore)
        throws
    {
        let store = try kind.make(folder)
        let unread = notification(3, "c", kind: .feed)
        try store.apply {
            $0.notifications.notifications = [
                notification(1, "a"), notification(2, "b", kind: .feed, isRead: true), unread,
            ]
        }
        let loaded = try store.load { $0.notifications.unreadOf = [unread.subscription] }
        #expect(loaded.notifications.unread == [unread.subscription: unread])
    }

    @Test(arguments: TestStore.all) func deliveriesComeWhenTheyAreDueAndGoWithTheirWebhook(_ kind: TestStore)
        throws
    {
        let store = try kind.make(folder)
        var hook = WebhookRow(
            name: "b", url: "https://example.com", secret: [1, 2], scope: .publicDatabase, recordType: "todo",
            madeMilliseconds: 7)
        let plain = WebhookRow(name: "a", url: "http://localhost", secret: [], madeMilliseconds: 8)
        func delivery(_ id: String, _ webhook: String, due: Int64) -> WebhookDeliveryRow {
            WebhookDeliveryRow(
                webhook: webhook, notificationID: id, madeMilliseconds: 1, dueMilliseconds: due,
                body: Array(id.utf8))
        }
        try store.apply {
            $0.notifications.webhooks = [hook, plain]
            $0.notifications.deliveries = [
                delivery("x", "b", due: 5), delivery("y", "a", due: 3), delivery("z", "b", due: 9),
            ]
        }
        #expect(try store.read { try $0.notificationReader.webhooks() } == [plain, hook])
        func due(_ at: Int64, _ max: Int = 9, of webhook: String = "b") throws -> [WebhookDeliveryRow] {
            try store.read {
                try $0.notificationReader.dueDeliveries(of: webhook, atMilliseconds: at, deliveriesMax: max)
            }
        }
        #expect(try due(9).map(\.notificationID) == ["x", "z"] && due(9, 1).count == 1 && due(4).isEmpty)
        #expect(try due(9, of: "a").map(\.notificationID) == ["y"])
        let (next, none, old) = try store.read { reader in
            let reader = reader.notificationReader
            return (
                try reader.nextDeliveryMilliseconds(of: "b"), try reader.nextDeliveryMilliseconds(of: "c"),
                try reader.deliveries(madeBefore: 2, deliveriesMax: 2).map(\.notificationID)
            )
        }
        #expect(next == 5 && none == nil && old == ["x", "y"])
        #expect(
            try store.read { try $0.notificationReader.deliveries(madeBefore: 1, deliveriesMax: 2) }.isEmpty)
        var later = try due(9)[1]
        later.attempts = 1
        later.dueMilliseconds = 20
        hook.waitingCount = 1
        hook.deliveredCount = 2
        hook.failedCount = 3
        hook.abandonedCount = 4
        hook.droppedCount = 5
        hook.failuresInRow = 7
        hook.pausedUntilMilliseconds = 8
        hook.lastMilliseconds = 6
        hook.lastResult = "200"
        let gone = try due(9)[0].number
        try store.apply {
            $0.notifications.removedDeliveries = [gone]
            $0.notifications.deliveries = [later]
            $0.notifications.webhooks = [hook]
        }
        #expect(try due(19).isEmpty && due(20).map(\.notificationID) == ["z"])
        #expect(
            try store.read { try $0.notificationReader.deliveries(numbers: [later.number, gone]) } == [later])
        #expect(try store.read { try $0.notificationReader.webhooks() }.last == hook)
        try store.apply { $0.notifications.removedWebhooks = ["b"] }
        #expect(try due(99).isEmpty && due(99, of: "a").map(\.notificationID) == ["y"])
        try store.apply { $0.notifications.deliveries = [delivery("new", "a", due: 1)] }
        #expect(try due(1, of: "a")[0].number > later.number, "a number is not given twice")
    }
}

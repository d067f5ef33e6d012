import CloudStore
import SQLiteTestSupport
import Testing

/// What every store promises of subscriptions, devices, pushes and kept answers.
@Suite struct PushStoreTests {
    let folder: TemporaryFolder
    private let database = Rows.database
    private let bobs = StoredDatabaseKey.privateDatabase(of: "_bob")

    init() throws {
        folder = try TemporaryFolder()
    }

    private func subscription(_ id: String, in database: StoredDatabaseKey, zone: String? = nil)
        -> SubscriptionRow
    {
        SubscriptionRow(
            key: SubscriptionKey(database: database, user: database.owner, subscriptionID: id),
            zoneName: zone,
            content: Array(id.utf8))
    }

    private func device(_ name: String, of user: String = "_ada", seen: Int64 = 0) -> DeviceRow {
        DeviceRow(
            key: DeviceKey(user: user, device: name), token: "token-\(user)-\(name)",
            environment: "development",
            seenMilliseconds: seen)
    }

    private func push(_ device: DeviceRow, _ id: String, at milliseconds: Int64, name: String? = nil)
        -> PushRow
    {
        PushRow(
            key: PushKey(device: device.key, database: database, subscriptionID: id),
            notificationID: name ?? "push-\(id)", atMilliseconds: milliseconds)
    }

    @Test(arguments: TestStore.all) func subscriptionsOfADatabaseAreFoundSorted(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let rows = [subscription("a", in: database), subscription("b", in: database, zone: "üñï")]
        let other = subscription("a", in: bobs)
        try store.apply { $0.subscriptions = [other] + rows.reversed() }
        func found() throws -> [SubscriptionRow]? {
            try store.load { $0.subscriptionsIn = [database] }.subscriptions[database]
        }
        #expect(try found() == rows)
        var changed = rows[0]
        changed.zoneName = "todos"
        changed.content = []
        try store.apply {
            $0.removedSubscriptions = [rows[1].key]
            $0.subscriptions = [changed]
        }
        #expect(try found() == [changed])
        #expect(try store.load { $0.subscriptionsIn = [bobs] }.subscriptions[bobs] == [other])
        #expect(
            try store.load { $0.subscriptionsIn = [.publicDatabase] }.subscriptions[.publicDatabase] == [])
    }

    @Test(arguments: TestStore.all) func howManySubscriptionsWatchStandsInTheDatabasesRow(_ kind: TestStore)
        throws
    {
        let store = try kind.make(folder)
        let row = DatabaseRow(key: database, epoch: 1, counter: 2, subscriptionCount: 3)
        try store.apply { $0.databases = [row] }
        #expect(try store.load { $0.databases = [database] }.databases[database] == row)
    }

    @Test(arguments: TestStore.all) func aDeviceIsFoundByItsUserAndByItsToken(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let phone = device("phone", seen: 5)
        let laptop = device("laptop")
        try store.apply { $0.devices = [phone, laptop, device("phone", of: "_bob")] }
        var loaded = try store.load {
            $0.devicesOf = ["_ada", "_carl"]
            $0.deviceTokens = [phone.token, "none"]
        }
        #expect(loaded.devices == ["_ada": [laptop, phone], "_carl": []])
        #expect(loaded.tokenDevices == [phone.token: phone])
        var renamed = phone
        renamed.token = "another"
        try store.apply { $0.devices = [renamed] }
        loaded = try store.load { $0.deviceTokens = [phone.token, "another"] }
        #expect(loaded.tokenDevices == ["another": renamed])
    }

    @Test(arguments: TestStore.all) func aRemovedDevicesPushesAreRemoved(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let phone = device("phone")
        let laptop = device("laptop")
        try store.apply {
            $0.devices = [phone, laptop]
            $0.pushes = [push(phone, "a", at: 1), push(phone, "b", at: 2), push(laptop, "a", at: 1)]
        }
        try store.apply { $0.removedDevices = [phone.key] }
        let loaded = try store.load {
            $0.devicesOf = ["_ada"]
            $0.pushesOf = [phone.key, laptop.key]
        }
        #expect(loaded.devices["_ada"] == [laptop])
        #expect(loaded.pushes[phone.key] == [])
        #expect(loaded.pushes[laptop.key] == [push(laptop, "a", at: 1)])
    }

    @Test(arguments: TestStore.all) func waitingPushesComeOldestFirstAndALaterOneTakesThePlace(
        _ kind: TestStore
    )
        throws
    {
        let store = try kind.make(folder)
        let phone = device("phone")
        try store.apply {
            $0.pushes = [push(phone, "a", at: 3), push(phone, "b", at: 1), push(phone, "c", at: 3)]
        }
        func names() throws -> [String] {
            try store.load { $0.pushesOf = [phone.key] }.pushes[phone.key]?.map(\.notificationID) ?? []
        }
        #expect(try names() == ["push-b", "push-a", "push-c"])
        try store.apply { $0.pushes = [push(phone, "b", at: 9, name: "later")] }
        #expect(try names() == ["push-a", "push-c", "later"])
        try store.apply { $0.removedPushes = [push(phone, "c", at: 0).key] }
        #expect(try names() == ["push-a", "later"])
    }

    @Test(arguments: TestStore.all) func pushTasksStandOnceAZoneAndComePageByPage(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let zones = [
            ZoneKey(database: database, zoneName: "a"), ZoneKey(database: database, zoneName: "b"),
            ZoneKey(database: bobs, zoneName: "a"),
        ]
        let maker = DeviceKey(user: "_ada", device: "phone")
        try store.apply { $0.pushTasks = zones.reversed().map { PushTaskRow(zone: $0, maker: maker) } }
        try store.apply { $0.pushTasks = [PushTaskRow(zone: zones[1], maker: nil)] }
        let first = try store.read { try $0.pushTasks(after: nil, tasksMax: 2) }
        #expect(
            first.rows == [
                PushTaskRow(zone: zones[0], maker: maker), PushTaskRow(zone: zones[1], maker: nil),
            ])
        #expect(first.moreComing)
        let second = try store.read { try $0.pushTasks(after: zones[1], tasksMax: 2) }
        #expect(second.rows.map(\.zone) == [zones[2]] && !second.moreComing)
        let loaded = try store.load { $0.pushTasks = zones }
        #expect(loaded.pushTasks[zones[1]] == PushTaskRow(zone: zones[1], maker: nil))
        try store.apply { $0.removedPushTasks = [zones[0]] }
        #expect(
            try store.read { try $0.pushTasks(after: nil, tasksMax: 9) }.rows.map(\.zone) == [
                zones[1], zones[2],
            ])
    }

    @Test(arguments: TestStore.all) func aKeptAnswerIsFoundByDatabaseUserAndName(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        func row(_ id: String, user: String = "_ada", in database: StoredDatabaseKey? = nil) -> KeptAnswerRow
        {
            KeptAnswerRow(
                key: OperationKey(database: database ?? self.database, user: user, operationID: id),
                requestHash: Array(user.utf8), atMilliseconds: 7, answer: Array(id.utf8))
        }
        let rows = [row("1"), row("2"), row("1", user: "_bob"), row("1", in: .publicDatabase)]
        try store.apply { $0.answers = rows }
        let found = try store.load { $0.answers = rows.map(\.key) + [row("3").key] }.answers
        #expect(found.count == 4 && rows.allSatisfy { found[$0.key] == $0 })
        try store.apply { $0.removedAnswers = [rows[0].key] }
        #expect(try store.load { $0.answers = rows.map(\.key) }.answers.count == 3)
    }

    @Test(arguments: TestStore.all) func whatHasOutlivedItsUseIsFoundOldestFirst(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        let phone = device("phone", seen: 30)
        let keys = (1...4).map { OperationKey(database: database, user: "_ada", operationID: "op\($0)") }
        for (index, key) in keys.enumerated() {
            try store.apply {
                $0.answers = [
                    KeptAnswerRow(key: key, requestHash: [], atMilliseconds: Int64(index) * 10, answer: [])
                ]
            }
        }
        try store.apply {
            $0.devices = [phone, device("laptop", seen: 10), device("watch", seen: 20)]
            $0.pushes = [push(phone, "a", at: 20), push(phone, "b", at: 10), push(phone, "c", at: 30)]
        }
        func outdated(before: Int64, rowsMax: Int) throws -> OutdatedRows {
            var query = OutdatedQuery(rowsMax: rowsMax)
            query.answersBefore = before
            query.pushesBefore = before
            query.devicesSeenBefore = before
            return try store.read { [query] in try $0.outdated(query) }
        }
        let all = try outdated(before: 30, rowsMax: 10)
        #expect(all.answers == Array(keys.prefix(3)))
        #expect(all.pushes.map(\.subscriptionID) == ["b", "a"])
        #expect(all.devices.map(\.device) == ["laptop", "watch"])
        let one = try outdated(before: 30, rowsMax: 1)
        #expect(one.answers == [keys[0]] && one.pushes.count == 1 && one.devices.count == 1)
        #expect(try outdated(before: 0, rowsMax: 10) == OutdatedRows())
    }
}

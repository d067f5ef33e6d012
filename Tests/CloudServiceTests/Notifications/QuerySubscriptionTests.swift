import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

@Suite struct QuerySubscriptionTests {
    let cloud: TestService
    let phone: TokensResponse
    let laptop: TokensResponse

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
        try cloud.learn()
        phone = try cloud.device("phone")
        laptop = try cloud.device("laptop")
    }

    private func told(_ user: String = "ada") throws -> [String] { try cloud.collection(user).map(\.summary) }

    @Test func aMatchingRecordIsNotifiedWithItsKindOfChange() throws {
        try cloud.watch(filters: [equals("list", "home")])
        try cloud.change([
            operation(.create, "a", ["list": text("home")]), operation(.create, "b", ["list": text("work")]),
            operation(.create, "c", type: "other", ["list": text("home")]), operation(.create, "d"),
        ])
        try cloud.change([operation(.forceUpdate, "a", ["title": text("x")]), operation(.forceUpdate, "b")])
        try cloud.change([operation(.forceDelete, "a"), operation(.forceDelete, "b")])
        #expect(try told() == ["watch:a+", "watch:a*", "watch:a-"])
    }

    /// A system field has two names, and stands among a record's fields by neither.
    @Test func aSubscriptionMayNameASystemFieldByEitherName() throws {
        try cloud.watch("wire", filters: [equals("recordName", "a")])
        try cloud.watch("schema", filters: [equals("___recordID", "a")])
        var both = equals("list", "a")
        both.systemFieldName = "recordName"
        try cloud.watch("both", filters: [both])
        try cloud.change([operation(.create, "a"), operation(.create, "b")])
        #expect(try told().sorted() == ["both:a+", "schema:a+", "wire:a+"])
    }

    /// An update fires when the record is found as it is now, whether it was before or not; one that isn't found any
    /// more is not told.
    @Test func anUpdateFiresWhenTheRecordIsFoundAsItIsNow() throws {
        try cloud.watch(filters: [equals("list", "home")])
        try cloud.change([operation(.create, "a", ["list": text("work")])])
        try cloud.change([operation(.forceUpdate, "a", ["list": text("home")])])
        try cloud.change([operation(.forceUpdate, "a", ["list": text("work")])])
        try cloud.change([operation(.forceDelete, "a")])
        #expect(try told() == ["watch:a*"])
    }

    @Test func onlyChangesThatFireASubscriptionAreNotified() throws {
        try cloud.watch("made", on: [.create])
        try cloud.watch("changed", on: [.update])
        try cloud.watch("gone", on: [.delete])
        try cloud.change([operation(.create, "a")])
        try cloud.change([operation(.forceUpdate, "a")])
        try cloud.change([operation(.forceDelete, "a")])
        try cloud.change([operation(.create, "a")])
        #expect(try told() == ["made:a+", "changed:a*", "gone:a-", "made:a+"])
    }

    @Test func cascadeDeletedRecordsAreNotifiedByTheirOldFields() throws {
        try cloud.watch(filters: [equals("list", "home")], on: [.delete])
        try cloud.change([
            operation(.create, "parent"),
            operation(.create, "a", ["list": text("home"), "up": reference("parent", .deleteSelf)]),
            operation(.create, "b", ["list": text("work"), "up": reference("parent", .deleteSelf)]),
            operation(.create, "c", ["list": text("home"), "up": reference("a", .deleteSelf)]),
        ])
        try cloud.change([operation(.forceDelete, "parent")])
        #expect(try told().sorted() == ["watch:a-", "watch:c-"])
    }

    @Test func theFieldsOfACascadesNotificationsAreLimited() throws {
        var limits = ServiceLimits()
        limits.firedFieldsBytesMax = 5_000
        let cloud = TestService(limits: limits)
        try cloud.zones(.create)
        try cloud.learn()
        var info = WireNotificationInfo()
        info.additionalFields = ["list"]
        try cloud.watch(on: [.delete], info: info)
        try cloud.change([operation(.create, "parent")])
        let fields = [
            "list": text(String(repeating: "x", count: 1_000)), "up": reference("parent", .deleteSelf),
        ]
        try cloud.change((0..<20).map { operation(.create, "r\($0)", fields) })
        try cloud.modify([operation(.forceDelete, "parent")])
        let fired = try cloud.service.store.read { reader in
            try reader.notificationReader.firedChanges(changesMax: 100).rows
        }
        #expect(fired.count == 21)
        let bytes = fired.reduce(0) { $0 + $1.fields.count }
        #expect(bytes > 4_000 && bytes <= 5_000 + 21 * FieldsBinary.encode([:]).count)
        while try cloud.service.preparePushes() {}
        #expect(try cloud.collection().count == 21)
    }

    @Test func aZoneThatIsNamedWinsAndWithoutOneAllZonesAreWatched() throws {
        let other = ZoneID(zoneName: "other")
        try cloud.zones(.create, [other])
        #expect(try cloud.watch("one", zone: TestService.zone).zoneWide == false)
        #expect(try cloud.watch("all").zoneWide == true)
        var narrow = WireSubscription(
            subscriptionID: "default", subscriptionType: .query, query: RecordQuery(recordType: "todo"),
            zoneWide: false, firesOn: [.create])
        #expect(
            try cloud.subscriptions(.create, [narrow]).first?.subscription?.zoneID?.zoneName == "_defaultZone"
        )
        try cloud.change([operation(.create, "a")])
        try cloud.change([operation(.create, "b")], zone: other)
        try cloud.change([operation(.create, "c")], zone: nil)
        #expect(try told().sorted() == ["all:a+", "all:b+", "all:c+", "default:c+", "one:a+"])
        narrow.zoneID = ZoneID(zoneName: "none")
        #expect(try cloud.subscriptions(.create, [narrow]).first?.error?.serverErrorCode == .zoneNotFound)
    }

    @Test func theDeviceThatMadeTheChangeIsNotNotified() throws {
        try cloud.watch()
        try cloud.change([operation(.create, "a")], from: "phone")
        #expect(try cloud.push(phone) == nil)
        #expect(try cloud.push(laptop)?.summary == "watch:a+")
        #expect(try cloud.list(device: "phone").notifications.isEmpty)
        #expect(try cloud.list(device: "laptop").notifications.count == 1)
        let before = try cloud.list().syncToken
        try cloud.change([operation(.create, "b")])
        #expect(try cloud.push(phone)?.summary == "watch:b+")
        #expect(
            try cloud.list(before, device: "phone").notifications.map(\.notification?.summary) == ["watch:b+"]
        )
    }

    @Test func aRejectedWriteNotifiesNoSubscriber() throws {
        try cloud.watch()
        try cloud.change([operation(.create, "a")])
        #expect(try cloud.modify([operation(.create, "a")]).summaries == ["CONFLICT"])
        #expect(
            try cloud.modify([operation(.create, "b"), operation(.create, "a")]).summaries == [
                "ATOMIC_ERROR", "CONFLICT",
            ])
        while try cloud.service.preparePushes() {}
        #expect(try told() == ["watch:a+"])
    }

    @Test func aSubscriptionThatFiresOnceIsDeletedWhenItHasFired() throws {
        try cloud.watch(once: true)
        try cloud.change([operation(.create, "a"), operation(.create, "b")])
        try cloud.change([operation(.create, "c")])
        #expect(try told() == ["watch:a+"])
        #expect(try cloud.push(laptop)?.summary == "watch:a+")
        let list = try cloud.ask(
            "subscriptions/list", SubscriptionsListRequest(), as: SubscriptionsResponse.self)
        #expect(list.subscriptions.isEmpty)
        try cloud.watch(once: true)
        try cloud.change([operation(.create, "d")])
        #expect(try told() == ["watch:a+", "watch:d+"])
    }

    @Test func oneThatFiresOnceStaysWhenTheWriteIsRefused() throws {
        try cloud.watch(once: true)
        let failed = try cloud.modify([operation(.create, "a"), operation(.update, "none", tag: "x")])
        #expect(failed.summaries.first == "ATOMIC_ERROR")
        try cloud.change([operation(.create, "b")])
        #expect(try told() == ["watch:b+"])
    }

    @Test func aDeletedSubscriptionIsNotNotifiedAndAReplacedOneUsesItsNewQuery() throws {
        try cloud.watch("a")
        try cloud.watch("b", filters: [equals("list", "home")])
        try cloud.change([operation(.create, "one", ["list": text("home")])])
        _ = try cloud.subscriptions(.delete, [WireSubscription(subscriptionID: "a")])
        try cloud.watch("b", filters: [equals("list", "work")])
        try cloud.change([
            operation(.create, "two", ["list": text("home")]),
            operation(.create, "three", ["list": text("work")]),
        ])
        #expect(try told() == ["a:one+", "b:one+", "b:three+"])
        try cloud.subscribe("b")
        try cloud.change([operation(.create, "four", ["list": text("work")])])
        #expect(try told().suffix(1) == ["b:"])
    }

    // MARK: The public database

    private func changePublic(_ operations: [RecordOperation], user: String = "bob") throws {
        try cloud.change(operations, zone: nil, database: "public", user: user)
    }

    @Test func allSubscribersOfThePublicDatabaseAreNotified() throws {
        try cloud.watch("adas", database: "public")
        try cloud.watch("bobs", database: "public", user: "bob")
        try changePublic([operation(.create, "a")])
        #expect(try told() == ["adas:a+"])
        #expect(try told("bob") == ["bobs:a+"])
        let cause = try #require(try cloud.push(laptop)?.ck.cause)
        #expect(cause.databaseNumber == 0 && cause.zoneName == "_defaultZone" && cause.kind == .query)
        let mine = try cloud.ask(
            "subscriptions/list", SubscriptionsListRequest(), as: SubscriptionsResponse.self,
            database: "public")
        #expect(mine.subscriptions.compactMap(\.subscription?.subscriptionID) == ["adas"])
        #expect(
            try cloud.subscriptions(
                .delete, [WireSubscription(subscriptionID: "bobs")], database: "public"
            ).first?.error?.serverErrorCode == .notFound)
    }

    @Test func onlySoManySubscribeToATypeOfThePublicDatabase() throws {
        var limits = ServiceLimits()
        limits.watchersMax = 2
        let cloud = TestService(limits: limits)
        try cloud.learn()
        try cloud.watch("a", database: "public")
        try cloud.watch("a", database: "public", user: "bob")
        let error = #expect(throws: WireError.self) { try cloud.watch("b", database: "public") }
        #expect(error?.serverErrorCode == .quotaExceeded && error?.reason?.contains("'todo'") == true)
        try cloud.watch("b", type: "other", database: "public")
        _ = try cloud.subscriptions(.delete, [WireSubscription(subscriptionID: "a")], database: "public")
        try cloud.watch("b", database: "public")
        for id in ["a", "b", "c", "d"] { try cloud.watch(id) }
    }

    private static var schema: Schema {
        var schema = Schema()
        schema.recordTypes["todo"] = RecordType()
        schema.recordTypes["todo"]?.fields["to"] = FieldDefinition(.string, indexes: .queryable)
        return schema
    }

    @Test func subscriptionsThatNameAValueAreFoundByItAndNotAllCompared() throws {
        let rows = (1...10_000).map { number in
            let subscription = WireSubscription(
                subscriptionID: "s\(number)", subscriptionType: .query,
                query: RecordQuery(recordType: "todo", filterBy: [equals("to", "user\(number)")]),
                firesOn: [.create])
            return SubscriptionRow(
                key: SubscriptionKey(
                    database: .publicDatabase, user: "_\(number)", subscriptionID: "s\(number)"),
                recordType: "todo", number: Int64(number), content: (try? subscription.json()) ?? [])
        }
        let index = WatchIndex(rows, schema: Self.schema, limits: ServiceLimits())
        let stamp = StoreStamp(timestampMilliseconds: 0, userRecordName: "_ada", deviceID: "1")
        let record = StoredRecord(
            key: RecordKey(
                zone: ZoneKey(database: .publicDatabase, zoneName: "_defaultZone"), recordName: "a"),
            recordType: "todo", tagEpoch: 1, counter: 0, created: stamp, modified: stamp, fields: [])
        #expect(index.candidatesCount(fields: ["to": text("user77")]) == 1)
        #expect(
            index.fired(by: .create, record, fields: ["to": text("user77")]).map(\.row.key.user) == ["_77"])
        #expect(index.candidatesCount(fields: ["to": text("nobody")]) == 0)
    }

    // MARK: Limits

    @Test func whatCannotBeAskedOfAQuerySubscriptionIsRefusedByName() throws {
        func reason(_ subscription: WireSubscription) throws -> String {
            let error = try cloud.subscriptions(.create, [subscription]).first?.error
            #expect(error?.serverErrorCode == .badRequest)
            return error?.reason ?? ""
        }
        var query = WireSubscription(subscriptionID: "x", subscriptionType: .query)
        #expect(try reason(query).contains("query.recordType"))
        query.query = RecordQuery(recordType: "todo")
        #expect(try reason(query).contains("firesOn"))
        query.firesOn = [.create, WireSubscription.Trigger(rawValue: "rename")]
        #expect(try reason(query).contains("firesOn"))
        query.firesOn = [.create]
        query.query?.recordType = ""
        #expect(try reason(query).contains("recordType"))
    }

    @Test func aWriteGetsTryAgainWhileTooManyNotificationsArePending() throws {
        var limits = ServiceLimits()
        limits.firedChangesMax = 2
        let cloud = TestService(limits: limits)
        try cloud.zones(.create)
        try cloud.learn()
        try cloud.watch()
        for name in ["a", "b"] { try cloud.modify([operation(.create, name)]) }
        let error = #expect(throws: WireError.self) { try cloud.modify([operation(.create, "c")]) }
        #expect(error?.serverErrorCode == .tryAgainLater && error?.retryAfterSeconds != nil)
        try cloud.modify([operation(.create, "d", type: "other")])
        while try cloud.service.preparePushes() {}
        try cloud.change([operation(.create, "c")])
        #expect(try cloud.collection().map(\.summary) == ["watch:a+", "watch:b+", "watch:c+"])
    }

    /// More than one step tells are told in several, in order, and nobody twice.
    @Test func manySubscribersOfOneRecordAreNotifiedInSeveralSteps() throws {
        let users = 1_200
        let store = MemoryCloudStore()
        let service = CloudService(
            store: store, clock: cloud.clock, random: SeededRandomSource(seed: 3),
            container: TestService.container,
            users: Dictionary(
                uniqueKeysWithValues: (0..<users).map { ("t\($0)", ServiceUser(userRecordName: "_u\($0)")) }))
        let many = TestService(service: service, clock: cloud.clock)
        try many.modify([operation(.create, "learned")], zone: nil, token: "t0")
        for user in 0..<users { try many.watch("s", database: "public", user: "t\(user)") }
        try many.modify([operation(.create, "a")], zone: nil, database: "public", token: "t0")
        var steps = 1
        while try service.preparePushes() { steps += 1 }
        #expect(steps == 3)
        for user in 0..<users { #expect(try many.collection("t\(user)").map(\.summary) == ["s:a+"]) }
    }
}

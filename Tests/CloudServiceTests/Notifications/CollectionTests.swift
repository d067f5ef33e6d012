import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

@Suite struct CollectionTests {
    let cloud: TestService
    let phone: TokensResponse
    let laptop: TokensResponse

    init() throws {
        var limits = ServiceLimits()
        limits.notificationsMax = 10
        cloud = TestService(limits: limits)
        try cloud.zones(.create)
        try cloud.learn()
        phone = try cloud.device("phone")
        laptop = try cloud.device("laptop")
        try cloud.watch()
    }

    private func make(_ names: [String]) throws { try cloud.change(names.map { operation(.create, $0) }) }

    @Test func theCollectionHasAllOfWhichADeviceGetsOnlyTheNewest() throws {
        try make(["a", "b", "c"])
        let page = try cloud.list()
        #expect(
            page.notifications.compactMap(\.notification?.summary) == ["watch:a+", "watch:b+", "watch:c+"])
        #expect(page.notifications.allSatisfy { $0.isRead == false } && !page.moreComing)
        #expect(
            page.notifications.map(\.timestampMilliseconds)
                == Array(repeating: cloud.clock.nowMilliseconds(), count: 3))
        let push = try #require(try cloud.push(phone, taking: .newest))
        #expect(push.summary == "watch:c+" && push.ck.moreCount == 2)
        #expect(push.ck.notificationID == page.notifications.last?.notificationID)
    }

    @Test func aDeviceOfAnotherVendorHasOnePushHoweverManyWait() throws {
        try cloud.subscribe("zone", zone: TestService.zone)
        try make(["a"])
        try cloud.watch("second")
        try make(["b"])
        let push = try #require(try cloud.service.takePush(apnsToken: phone.apnsToken, taking: .newest))
        #expect(try PushPayload(json: push.payload).ck.moreCount == 4)
        try cloud.service.acknowledgePushes(apnsToken: phone.apnsToken, through: push)
        #expect(try cloud.push(phone, taking: .newest) == nil)
        #expect(try cloud.push(phone, taking: .each) == nil)
        #expect(try cloud.collection().count == 4, "the zone's changes are one")
        #expect(try cloud.pushes(laptop).sorted() == ["second", "watch", "zone"], "each device for itself")
    }

    @Test func whatComesBetweenTakingTheNewestAndItsAcknowledgementIsNotLost() throws {
        try make(["a"])
        let push = try #require(try cloud.service.takePush(apnsToken: phone.apnsToken, taking: .newest))
        try make(["b"])
        try cloud.service.acknowledgePushes(apnsToken: phone.apnsToken, through: push)
        #expect(try cloud.push(phone, taking: .newest)?.summary == "watch:b+")
    }

    @Test func theCollectionIsReadSinceATokenAndPageByPage() throws {
        let empty = try cloud.list()
        #expect(empty.notifications.isEmpty && !empty.moreComing)
        try make(["a", "b", "c"])
        let first = try cloud.list(empty.syncToken, limit: 2)
        #expect(first.notifications.compactMap(\.notification?.summary) == ["watch:a+", "watch:b+"])
        #expect(first.moreComing)
        let second = try cloud.list(first.syncToken, limit: 2)
        #expect(
            second.notifications.compactMap(\.notification?.summary) == ["watch:c+"] && !second.moreComing)
        #expect(try cloud.list(second.syncToken).notifications.isEmpty)
        #expect(try cloud.list(nil).notifications.count == 3)
    }

    @Test func tokensThatAreDamagedOrOfAnotherCollectionAreRefused() throws {
        try make(["a"])
        let token = try cloud.list().syncToken
        let bobs = try cloud.list(user: "bob").syncToken
        let zone = try cloud.changes().syncToken
        for bad in ["", "x", String(token.dropLast(4)), bobs, try #require(zone)] {
            let error = #expect(throws: WireError.self) { try cloud.list(bad) }
            #expect(error?.serverErrorCode == .badRequest, "\(bad)")
        }
        for limit in [0, -1] as [Int64] {
            #expect(throws: WireError.self) { try cloud.list(limit: limit) }
        }
        let error = #expect(throws: WireError.self) { try cloud.list(user: nil) }
        #expect(error?.serverErrorCode == .authenticationRequired)
    }

    @Test func notificationsReadOnOneDeviceAreRemovedOnTheOthers() throws {
        try make(["a", "b"])
        let page = try cloud.list()
        let names = page.notifications.map(\.notificationID)
        let marked = try cloud.markAsRead([names[1], "none"], from: "phone")
        #expect(marked.map(\.isRead) == [true, nil])
        #expect(marked[1].serverErrorCode == .notFound && marked[1].notificationID == "none")
        #expect(try cloud.push(phone) == nil, "neither the notification nor that it was read")
        let told = try #require(try cloud.push(laptop))
        #expect(told.ck.readNotificationIDs == [names[1]] && told.ck.cause == nil)
        let since = try cloud.list(page.syncToken)
        #expect(since.notifications.map(\.notificationID) == [names[1]])
        #expect(since.notifications.first?.isRead == true)
        #expect(try cloud.list(unreadOnly: true).notifications.map(\.notificationID) == [names[0]])
        try cloud.markAsRead([names[1]], from: "laptop")
        #expect(try cloud.list(since.syncToken).notifications.isEmpty, "it was read before")
        try cloud.markAsRead([names[0]], from: "phone")
        #expect(try cloud.push(laptop)?.ck.readNotificationIDs == [names[1], names[0]])
    }

    @Test func moreReadNotificationsThanAPushCanNameAreReportedAsSome() throws {
        for number in 0..<10 { try make(["r\(number)"]) }
        let names = try cloud.list().notifications.map(\.notificationID)
        try cloud.markAsRead(names, from: "phone")
        #expect(try cloud.push(laptop)?.ck.readNotificationIDs?.count == 10)
        let many = TestService()
        try many.zones(.create)
        try many.learn()
        try many.watch()
        let other = try many.device("other")
        try many.change((0..<40).map { operation(.create, "r\($0)") })
        try many.markAsRead(try many.list().notifications.map(\.notificationID), from: "phone")
        #expect(try many.push(other)?.ck.readNotificationIDs == [])
    }

    @Test func aZonesChangeStaysToBeFetchedOnADeviceWhenAnotherHasReadIt() throws {
        _ = try cloud.subscriptions(.delete, [WireSubscription(subscriptionID: "watch")])
        try cloud.subscribe("zone", zone: TestService.zone)
        try make(["a"])
        let name = try #require(try cloud.list().notifications.first?.notificationID)
        try cloud.markAsRead([name], from: "phone")
        #expect(try cloud.pushes(laptop).sorted() == ["?", "zone"])
    }

    @Test func notificationsOfOthersCannotBeReadOrMarked() throws {
        try make(["a"])
        let name = try #require(try cloud.list().notifications.first?.notificationID)
        #expect(try cloud.list(user: "bob").notifications.isEmpty)
        #expect(try cloud.markAsRead([name], user: "bob").first?.serverErrorCode == .notFound)
        #expect(try cloud.list().notifications.first?.isRead == false)
    }

    @Test func changesOfAZoneAreOneUnreadNotificationUntilItIsRead() throws {
        _ = try cloud.subscriptions(.delete, [WireSubscription(subscriptionID: "watch")])
        try cloud.subscribe("all")
        for name in ["a", "b", "c"] { try make([name]) }
        let first = try cloud.list()
        #expect(first.notifications.count == 1)
        try cloud.markAsRead(first.notifications.map(\.notificationID))
        for name in ["d", "e"] { try make([name]) }
        let second = try cloud.list()
        #expect(second.notifications.map(\.isRead) == [true, false])
    }

    @Test func onlySoManyAreKeptAndATokenFromBeforeLearnsIt() throws {
        let token = try cloud.list().syncToken
        for number in 0..<25 { try make(["r\(number)"]) }
        let page = try cloud.list(token)
        #expect(
            page.notifications.compactMap(\.notification?.ck.cause?.recordName) == (15..<25).map { "r\($0)" })
        #expect(page.someWereDiscarded == true)
        #expect(try cloud.list(page.syncToken).someWereDiscarded == nil)
        #expect(try cloud.list().someWereDiscarded == nil, "who had no token misses nothing")
        #expect(try cloud.list().notifications.count == 10)
    }

    @Test func tenThousandPendingPushesStayBounded() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteCloudStore(path: folder.file("store.db"))
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        try cloud.learn()
        let laptop = try cloud.device("laptop")
        try cloud.watch()
        for batch in 0..<25 {
            let operations = (0..<400).map { operation(.create, "r\(batch)-\($0)") }
            let message = RecordsModifyRequest(operations: operations, zoneID: TestService.zone)
            let answer = try cloud.read(
                cloud.service.respond(to: cloud.request("records/modify", try message.json())),
                as: RecordsModifyResponse.self)
            #expect(answer.records.count == 400)
        }
        while try cloud.service.preparePushes() {}
        let counts = try store.read { reader in
            var wanted = StoreLoad()
            wanted.notifications.feedsOf = ["_ada"]
            wanted.pushesOf = [DeviceKey(user: "_ada", device: "laptop")]
            let loaded = try reader.load(wanted)
            return (
                loaded.notifications.feeds["_ada"]?.count, loaded.pushes.values.first?.count,
                try reader.notificationReader.notifications(of: "_ada", after: 0, notificationsMax: 20_000)
                    .rows.count,
                try reader.notificationReader.firedChangesCount()
            )
        }
        #expect(counts.0 == 1_000 && counts.1 == 1 && counts.2 == 1_000 && counts.3 == 0)
        let push = try #require(try cloud.push(laptop))
        #expect(push.summary == "watch:r24-399+" && push.ck.moreCount == 9_999)
    }

    @Test func notificationsThatOutlivedTheirTimeAreDiscarded() throws {
        try make(["a"])
        let token = try cloud.list().syncToken
        cloud.clock.advance(bySeconds: 20 * 86_400)
        try make(["b"])
        cloud.clock.advance(bySeconds: 11 * 86_400)
        while try cloud.service.pruneOutdated() {}
        #expect(try cloud.collection().map(\.summary) == ["watch:b+"])
        #expect(try cloud.list(token).someWereDiscarded == nil, "it had seen what is gone")
        try make(["c"])
        #expect(try cloud.collection().map(\.summary) == ["watch:b+", "watch:c+"])
    }

    @Test func aTokenFromAnotherLifeOfTheCollectionIsRefused() throws {
        try make(["a"])
        let token = try cloud.list().syncToken
        let restored = TestService(seed: 9)
        try restored.zones(.create)
        try restored.learn()
        try restored.watch()
        try restored.change([operation(.create, "a")])
        let error = #expect(throws: WireError.self) { try restored.list(token) }
        #expect(error?.serverErrorCode == .badRequest && error?.tokenRefusal == .reset)
    }

    /// What was written before the process ended is told by the next one: each record once.
    @Test func aRecordFiredBeforeACrashIsNotifiedAtTheNextStart() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let before = TestService(store: try SQLiteCloudStore(path: path))
        try before.zones(.create)
        try before.learn()
        try before.watch()
        try before.watch("once", once: true)
        let laptop = try before.device("laptop")
        try before.modify([operation(.create, "a")])
        try before.modify([operation(.create, "b")])
        let after = TestService(store: try SQLiteCloudStore(path: path), seed: 2)
        while try after.service.preparePushes() {}
        #expect(try after.collection().map(\.summary).sorted() == ["once:a+", "watch:a+", "watch:b+"])
        #expect(try after.push(laptop) != nil)
    }
}

import CloudStore
import CloudWire
import Crypto
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

@Suite struct WebhookTests {
    let store = MemoryCloudStore()
    let cloud: TestService
    static let second: Int64 = 1_000

    init() throws {
        var limits = ServiceLimits()
        limits.webhookDeliveriesMax = 5
        cloud = TestService(store: store, limits: limits)
        try cloud.zones(.create)
        try cloud.learn()
        try cloud.watch()
    }

    private func add(_ name: String, scope: StoredDatabaseKey.Scope? = nil, type: String? = nil) throws {
        var changes = StoreChanges()
        changes.notifications.webhooks = [
            WebhookRow(
                name: name, url: "http://127.0.0.1:1/\(name)", secret: Array("secret".utf8), scope: scope,
                recordType: type, madeMilliseconds: 0)
        ]
        let made = changes
        try store.write { try $0.apply(made) }
    }

    private func webhook(_ name: String) throws -> WebhookRow {
        try #require(try store.read { try $0.notificationReader.webhooks() }.first { $0.name == name })
    }

    private func due() throws -> WebhookBatch { try cloud.service.webhooks.due(requestsMax: 8) }

    /// Answers all that is due.
    @discardableResult
    private func answer(_ isDelivered: Bool) throws -> Int {
        let requests = try due().requests
        try cloud.service.webhooks.settle(
            requests.map {
                WebhookResult(
                    number: $0.number, isDelivered: isDelivered,
                    summary: isDelivered ? "HTTP 200" : "timedOut")
            })
        return requests.count
    }

    @Test func aNotificationIsSentAsItsDevicesGetItAndSigned() throws {
        try add("shop")
        try cloud.change([operation(.create, "a")])
        let request = try #require(try due().requests.first)
        let collected = try #require(try cloud.list().notifications.first)
        #expect(try PushPayload(json: request.body) == collected.notification)
        #expect(request.url == "http://127.0.0.1:1/shop")
        func header(_ name: String) -> String? { request.headers.first { $0.name == name }?.value }
        #expect(header("X-Yap-Notification") == collected.notificationID)
        #expect(header("X-Yap-Container") == TestService.container.identifier)
        #expect(header("X-Yap-Environment") == "development" && header("X-Yap-Webhook") == "shop")
        let seconds = try #require(header("X-Yap-Timestamp"))
        #expect(seconds == String(cloud.clock.nowMilliseconds() / 1_000))
        let code = try HMACSHA256.code(
            of: Array("\(seconds).".utf8) + request.body, key: Array("secret".utf8))
        let hex = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(header("X-Yap-Signature") == "v1=\(hex)")
    }

    @Test func aWebhookGetsWhatItWantsOnly() throws {
        try add("all")
        try add("public", scope: .publicDatabase)
        try add("todos", type: "todo")
        try add("others", type: "other")
        try cloud.subscribe("zone", zone: TestService.zone)
        try cloud.watch("everywhere", database: "public")
        try cloud.change([operation(.create, "a")])
        try cloud.change([operation(.create, "b")], zone: nil, database: "public")
        let waiting = try ["all", "public", "todos", "others"].map { try webhook($0).waitingCount }
        #expect(waiting == [3, 1, 2, 0])
    }

    @Test func deliveredNotificationsAreRemovedAndCounted() throws {
        try add("shop")
        for name in ["a", "b"] { try cloud.change([operation(.create, name)]) }
        #expect(try answer(true) == 2)
        #expect(try due().requests.isEmpty && due().nextMilliseconds == nil)
        let row = try webhook("shop")
        #expect(row.deliveredCount == 2 && row.waitingCount == 0 && row.lastResult == "HTTP 200")
    }

    @Test func whatFailsIsSentAgainAfterPausesThatDouble() throws {
        try add("shop")
        try cloud.change([operation(.create, "a")])
        var pauses: [Double] = []
        for _ in 1...16 {
            #expect(try answer(false) == 1)
            #expect(try due().requests.isEmpty, "it pauses")
            let next = try #require(try due().nextMilliseconds)
            pauses.append(Double(next - cloud.clock.nowMilliseconds()) / 1_000)
            cloud.clock.advance(bySeconds: pauses[pauses.count - 1])
        }
        for (index, pause) in pauses.enumerated() {
            let longest = Double(min(1 << index, 3_600))
            #expect(longest / 2 - 0.002 <= pause && pause <= longest, "\(index): \(pause)")
        }
        #expect(try answer(true) == 1)
        let row = try webhook("shop")
        #expect(row.failedCount == 16 && row.deliveredCount == 1 && row.failuresInRow == 0)
    }

    @Test func deliveriesFailedForADayAreAbandonedAndCounted() throws {
        let told = Lock(0)
        cloud.service.webhooks.setListener { count in told.withLock { $0 += count } }
        try add("shop")
        for name in ["a", "b", "c"] { try cloud.change([operation(.create, name)]) }
        try answer(false)
        cloud.clock.advance(bySeconds: 86_401)
        #expect(try due().requests.count == 3)
        try answer(false)
        #expect(try webhook("shop").abandonedCount == 3 && webhook("shop").waitingCount == 0)
        try cloud.change([operation(.create, "d")])
        #expect(told.withLock { $0 } == 3)
        cloud.clock.advance(bySeconds: 86_401)
        try cloud.service.pruneOutdated()
        #expect(try webhook("shop").abandonedCount == 4, "also when nobody sends")
        #expect(told.withLock { $0 } == 4)
        #expect(try due().requests.isEmpty)
    }

    @Test func onlySoManyWaitForAWebhookAndTheRestIsCounted() throws {
        try add("shop")
        try cloud.change((0..<8).map { operation(.create, "r\($0)") })
        let row = try webhook("shop")
        #expect(row.waitingCount == 5 && row.droppedCount == 3)
        #expect(try cloud.collection().count == 8, "the collection has all")
        #expect(try due().requests.count == 4, "a few at a time")
    }

    @Test func anUnreachableWebhookDoesNotDelayTheOthers() throws {
        try add("bad")
        try add("good")
        try cloud.change((0..<3).map { operation(.create, "r\($0)") })
        let requests = try due().requests
        #expect(requests.map(\.webhook) == ["bad", "bad", "bad", "good", "good", "good"])
        try cloud.service.webhooks.settle(
            requests.map {
                WebhookResult(number: $0.number, isDelivered: $0.webhook == "good", summary: "")
            })
        try cloud.change([operation(.create, "later")])
        #expect(try due().requests.map(\.webhook) == ["good"])
    }

    @Test func aResultOfAWebhookThatWasRemovedMeanwhileChangesNothing() throws {
        try add("shop")
        try cloud.change([operation(.create, "a")])
        let number = try #require(try due().requests.first?.number)
        var changes = StoreChanges()
        changes.notifications.removedWebhooks = ["shop"]
        let removal = changes
        try store.write { try $0.apply(removal) }
        try add("shop")
        try cloud.change([operation(.create, "b")])
        try cloud.service.webhooks.settle([WebhookResult(number: number, isDelivered: true, summary: "")])
        #expect(try webhook("shop").waitingCount == 1 && webhook("shop").deliveredCount == 0)
        #expect(try due().requests.count == 1)
    }

    @Test func theListenerIsNotifiedOfDeliveriesOnceTheyAreWritten() throws {
        let rings = Lock(0)
        cloud.service.webhooks.setListener { _ in rings.withLock { $0 += 1 } }
        try cloud.change([operation(.create, "a")])
        #expect(rings.withLock { $0 } == 0, "there is no webhook")
        try add("shop")
        try cloud.change([operation(.create, "b")])
        #expect(rings.withLock { $0 } == 1)
    }
}

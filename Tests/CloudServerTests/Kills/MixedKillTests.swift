import CloudStore
import CloudWire
import Foundation
import HTTPServer
import StoreAudit
import System
import TestSeed
import Testing
import Waiting

/// The real server is killed while clients do everything that the service can do, and not only save.
@Suite(.serialized) struct MixedKillTests {
    static let killsCount = 20

    @Test func aServerKilledUnderAMixedLoadLosesNoRecordFileIndexSubscriptionOrNotification() async throws {
        let seed = TestSeed.value
        print("mixed kills: seed \(seed)")
        let summary = try await onThread {
            let run = try MixedKillRun(seed: seed)
            defer { run.receiver.stop() }
            try run.prepare()
            for _ in 0..<Self.killsCount { try run.liveAndDie() }
            return try run.check()
        }
        print("mixed kills: \(Self.killsCount), \(summary)")
        #expect(summary.findings == [], "seed \(seed)")
        #expect(
            summary.acknowledged > 2 * Self.killsCount && summary.files > 2 && summary.told > 0,
            "seed \(seed)")
    }
}

/// A server's folder with two users, each with two clients, whose watched records are told to them and to a webhook.
private final class MixedKillRun: Sendable {
    let receiver: WebhookReceiver
    private let folder: ServerFolder
    private let clients: [MixedClient]
    private let random: SeededRandomSource
    private let seed: UInt64
    private static let subscriptionID = "watch"

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededRandomSource(seed: seed)
        let folder = try ServerFolder(accounts: ["ada", "bob"])
        self.folder = folder
        receiver = try WebhookReceiver()
        clients = (0..<4).map {
            MixedClient(name: "w\($0)", token: folder.tokens[$0 / 2], seed: seed &+ UInt64($0))
        }
    }

    private var storePath: String {
        get throws {
            try folder.dataFolder.storePath(
                container: RawDevice.container, environment: "development", makesFolders: true)
        }
    }

    func prepare() throws {
        let store = try SQLiteCloudStore(path: storePath)
        var changes = StoreChanges()
        changes.notifications.webhooks = [
            WebhookRow(
                name: "shop", url: "http://127.0.0.1:\(receiver.port)/", secret: Array("key".utf8),
                madeMilliseconds: 0)
        ]
        let made = changes
        try store.write { try $0.apply(made) }
        store.close()
        try live { port in
            for token in folder.tokens {
                let device = try RawDevice(port: port, token: token)
                try device.makeZone(MixedClient.zone)
                // Whoever subscribes to a type needs that there is one.
                let first = WireRecord(
                    recordName: "first", recordType: MixedClient.watchedType,
                    fields: ["number": Field(.int64(0))])
                let saved = try device.modify(
                    [RecordOperation(operationType: .create, record: first)], zone: MixedClient.zone)
                guard saved.status == 200 else { throw Failure(saved.text) }
                try subscribe(device)
            }
        }
    }

    private func subscribe(_ device: RawDevice) throws {
        var subscription = WireSubscription(subscriptionID: Self.subscriptionID, subscriptionType: .query)
        subscription.query = RecordQuery(recordType: MixedClient.watchedType)
        subscription.zoneID = ZoneID(zoneName: MixedClient.zone)
        subscription.firesOn = [.create]
        let request = SubscriptionsModifyRequest(operations: [
            SubscriptionOperation(operationType: .create, subscription: subscription)
        ])
        let response = try device.post("private/subscriptions/modify", request)
        guard case .subscription? = try SubscriptionsResponse(json: response.body).subscriptions.first else {
            throw Failure("\(response.status) \(response.text)")
        }
    }

    /// A life of the server that ends by a kill, at the latest.
    private func live(_ body: (_ port: Int) throws -> Void) throws {
        let server = try ServerProcess(folder: folder.path)
        defer { server.end() }
        try body(server.port())
    }

    /// One life: the clients settle what the last one left open, and work until it is killed, after a number of sent
    /// requests and steps.
    func liveAndDie() throws {
        let steps = random.next(in: 8..<100)
        let stepsCount = WatchedValue(0)
        let server = try ServerProcess(folder: folder.path)
        defer { server.end() }
        let port = try server.port()
        for client in clients { try client.settle(port: port) }
        try onThreads(clients.count + 1) { [self] index in
            if index < clients.count {
                return try clients[index].workUntilItDies(port: port) { stepsCount.change { $0 += 1 } }
            }
            defer { server.end() }
            try stepsCount.wait { $0 >= steps }
        }
    }

    struct Summary: CustomStringConvertible {
        var findings: [String]
        var acknowledged = 0
        var refused = 0
        var unanswered = 0
        var there = 0
        var files = 0
        var told = 0

        var description: String {
            "\(acknowledged) acknowledged, \(refused) refused, \(unanswered) unanswered (\(there) of them were there), "
                + "\(files) files, \(told) notifications"
        }
    }

    /// Everything is compared; throws what doesn't fit.
    func check() throws -> Summary {
        var told: Set<String> = []
        try live { port in
            for client in clients { try client.settle(port: port) }
            for client in clients { try client.check(port: port) }
            for (index, token) in folder.tokens.enumerated() {
                told.formUnion(try checkNotifications(port, token, clients[(2 * index)..<(2 * index + 2)]))
            }
            // Each at least once, whenever the server died.
            let expected = told
            try receiver.received { requests in
                expected.isSubset(of: requests.compactMap { $0.head.header("X-Yap-Notification") })
            }
        }
        var summary = Summary(findings: try StoreAudit.findings(path: storePath))
        for ledger in clients.map(\.ledger) {
            summary.acknowledged += ledger.counts.acknowledged
            summary.refused += ledger.counts.refused
            summary.unanswered += ledger.counts.unansweredThere + ledger.counts.unansweredAbsent
            summary.there += ledger.counts.unansweredThere
            summary.files += ledger.written.values.count { $0.file != nil }
        }
        summary.told = told.count
        return summary
    }

    /// A user was told of each watched record once, and of no other; returns the notifications' names.
    private func checkNotifications(
        _ port: Int, _ token: Credential, _ clients: ArraySlice<MixedClient>
    ) throws -> Set<String> {
        let device = try RawDevice(port: port, token: token, clientID: "observer")
        let expected = clients.flatMap { client in
            client.ledger.watched.filter { $0.value == [true] }.map(\.key)
        }
        var names: Set<String> = []
        // What a kill left is told by the next server, behind its first requests.
        for _ in 0..<2_000 {
            let found = try notifications(device)
            names = Set(found.map(\.notificationID))
            let records = found.compactMap { $0.notification?.ck.cause?.recordName }
            guard Set(records).count == records.count, Set(records).isSubset(of: expected) else {
                throw Failure("told twice, or of what isn't there: \(records.sorted())")
            }
            if records.count == expected.count { return names }
        }
        throw Failure("\(names.count) of \(expected.count) notifications")
    }

    private func notifications(_ device: RawDevice) throws -> [CollectedNotification] {
        var found: [CollectedNotification] = []
        var token: String?
        while true {
            let response = try device.post(
                "notifications/list", module: "device", NotificationsListRequest(syncToken: token))
            guard response.status == 200 else { throw Failure("\(response.status) \(response.text)") }
            let page = try NotificationsListResponse(json: response.body)
            found += page.notifications
            token = page.syncToken
            if !page.moreComing { return found }
        }
    }
}

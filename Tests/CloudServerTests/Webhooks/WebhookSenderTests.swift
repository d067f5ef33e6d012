import CloudServer
import CloudService
import CloudStore
import CloudWire
import Crypto
import HTTPServer
import SQLiteTestSupport
import Testing
import Waiting

/// Webhooks over HTTP: from a commit to the operator's address.
@Suite struct WebhookSenderTests {
    private func add(_ receiver: WebhookReceiver, to store: any CloudStore, name: String = "shop") throws {
        var changes = StoreChanges()
        changes.notifications.webhooks = [
            WebhookRow(
                name: name, url: "http://127.0.0.1:\(receiver.port)/hook", secret: Array("key".utf8),
                madeMilliseconds: 0)
        ]
        let made = changes
        try store.write { try $0.apply(made) }
    }

    private func subscribe(_ device: RawDevice) throws {
        let subscription = WireSubscription(subscriptionID: "all", subscriptionType: .database)
        let response = try device.post(
            "private/subscriptions/modify",
            SubscriptionsModifyRequest(operations: [
                SubscriptionOperation(operationType: .create, subscription: subscription)
            ]))
        guard response.status == 200 else { throw Failure(response.text) }
    }

    private func save(_ name: String, _ device: RawDevice) throws {
        let operation = RecordOperation(operationType: .forceUpdate, record: RawDevice.record(name, 1))
        let response = try device.modify([operation], zone: "todos")
        guard response.status == 200 else { throw Failure(response.text) }
    }

    private func isSigned(_ request: HTTPRequest) throws -> Bool {
        let seconds = request.head.header("X-Yap-Timestamp") ?? ""
        let code = try HMACSHA256.code(of: Array("\(seconds).".utf8) + request.body, key: Array("key".utf8))
        let hex = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return request.head.header("X-Yap-Signature") == "v1=\(hex)"
    }

    @Test func aNotificationReachesTheOperatorsAddressSignedAndAgainUntilItIsTaken()
        async throws
    {
        let store = MemoryCloudStore()
        try await withServer(store: store, configure: { $0.servesMetrics = true }) { server in
            let receiver = try WebhookReceiver(statuses: [500])
            defer { receiver.stop() }
            try self.add(receiver, to: store)
            let device = try RawDevice(port: server.port, token: "ada")
            try self.subscribe(device)
            try device.makeZone("todos")
            let requests = try receiver.received(2)
            #expect(requests[0].body == requests[1].body && requests[0].head.path == "/hook")
            #expect(try requests.allSatisfy { try self.isSigned($0) })
            let payload = try PushPayload(json: requests[1].body)
            #expect(payload.ck.cause?.subscriptionID == "all" && payload.ck.userRecordName == "_ada")
            #expect(payload.ck.notificationID == requests[1].head.header("X-Yap-Notification"))
            // The server notes the delivery after the receiver has answered.
            try Polling.waitUntil {
                try store.read { try $0.notificationReader.webhooks().first?.deliveredCount } == 1
            }
            let metrics = try RawConnection(port: server.port).exchange("GET", "/yap/1/metrics").text
            #expect(metrics.contains("yap_webhook_requests_total{result=\"delivered\"} 1"))
            #expect(metrics.contains("yap_webhook_requests_total{result=\"failed\"} 1"))
        }
    }

    @Test func aServerStopsWhileAWebhookDoesNotAnswer() async throws {
        let store = MemoryCloudStore()
        let silent = try SilentListener()
        try await withServer(store: store) { server in
            var changes = StoreChanges()
            changes.notifications.webhooks = [
                WebhookRow(
                    name: "silent", url: "http://127.0.0.1:\(silent.port)/", secret: [1], madeMilliseconds: 0)
            ]
            let made = changes
            try store.write { try $0.apply(made) }
            let device = try RawDevice(port: server.port, token: "ada")
            try self.subscribe(device)
            try device.makeZone("todos")
            try silent.waitForConnection()
        }
        let row = try #require(try store.read { try $0.notificationReader.webhooks() }.first)
        #expect(row.waitingCount == 1 && row.failedCount == 0, "it is sent again by the next server")
    }

    @Test func aServerKilledBetweenCommitAndWebhookSendsAfterItsRestartUnasked()
        async throws
    {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let token = folder.tokens[0]
            let receiver = try WebhookReceiver(statuses: Array(repeating: 503, count: 1_000))
            defer { receiver.stop() }
            let path = try folder.dataFolder.storePath(
                container: RawDevice.container, environment: "development", makesFolders: true)
            do {
                let store = try SQLiteCloudStore(path: path)
                try self.add(receiver, to: store)
                store.close()
            }
            let first = try ServerProcess(folder: folder.path)
            defer { first.end() }
            let device = try RawDevice(port: try first.port(), token: token)
            try self.subscribe(device)
            try device.makeZone("todos")
            try self.save("a", device)
            let refused = try receiver.received(1)
            first.end()
            receiver.take()
            let before = refused.count
            let second = try ServerProcess(folder: folder.path)
            defer { second.end() }
            _ = try second.port()
            // Nobody asks the new server for anything.
            let requests = try receiver.received(before + 1)
            #expect(try self.isSigned(requests[requests.count - 1]))
        }
    }
}

import CloudServer
import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import Testing
import Waiting

/// Pushes over HTTP: from one device's commit to the other's long poll.
@Suite struct CourierTests {
    @Test func aCommitReachesTheOtherDeviceAndNotItsMaker() async throws {
        try await withServer(configure: { $0.courierHoldMilliseconds = 1_000 }) { server in
            let phone = try PushDevice(port: server.port, token: "ada", clientID: "phone")
            let laptop = try PushDevice(port: server.port, token: "ada", clientID: "laptop")
            #expect(phone.courierURL.hasPrefix("http://127.0.0.1:\(server.port)/device/1/"))
            let waiting = try phone.beginPoll()
            let own = try laptop.beginPoll()
            try laptop.save("a")
            let push = try phone.push(waiting)
            #expect(push.ck.cause?.kind == .database)
            #expect(push.ck.cause?.subscriptionID == PushDevice.subscriptionID)
            #expect(push.ck.containerIdentifier == RawDevice.container)
            // The maker's poll comes to its end with nothing.
            #expect(try own.receive().body.isEmpty)
        }
    }

    @Test func whatOneOfOurClientsHasNotAcknowledgedComesAgain() async throws {
        try await withServer(configure: { $0.courierHoldMilliseconds = 300 }) { server in
            let phone = try PushDevice(port: server.port, token: "ada", clientID: "phone")
            let laptop = try PushDevice(port: server.port, token: "ada", clientID: "laptop")
            try laptop.save("a")
            let first = try phone.push(try phone.beginPoll(isOurs: true))
            let again = try phone.push(try phone.beginPoll(isOurs: true))
            #expect(first.ck.notificationID == again.ck.notificationID)
            let after = try phone.beginPoll(after: first.ck.notificationID, isOurs: true).receive()
            #expect(after.status == 200 && after.body.isEmpty)
        }
    }

    @Test func forOtherClientsAPushIsRemovedOnceItWasWritten() async throws {
        try await withServer(configure: { $0.courierHoldMilliseconds = 300 }) { server in
            let phone = try PushDevice(port: server.port, token: "ada", clientID: "phone")
            let laptop = try PushDevice(port: server.port, token: "ada", clientID: "laptop")
            try laptop.save("a")
            let connection = try phone.beginPoll()
            _ = try phone.push(connection)
            // The connection stays usable. It is noted behind the answer that it was written out, and who asks at once
            // may be faster than that: then the push comes again. Once it is gone it stays so.
            while !(try phone.poll(on: connection).body.isEmpty) {}
            #expect(try phone.poll(on: connection).body.isEmpty)
        }
    }

    @Test func aSecondPollOfADeviceEndsTheFirstOverHTTP() async throws {
        try await withServer { server in
            let phone = try PushDevice(port: server.port, token: "ada", clientID: "phone")
            let laptop = try PushDevice(port: server.port, token: "ada", clientID: "laptop")
            let first = try phone.beginPoll()
            try waitUntilPolls(1, server)
            let second = try phone.beginPoll()
            let ended = try first.receive()
            #expect(ended.status == 200 && ended.body.isEmpty)
            try laptop.save("a")
            _ = try phone.push(second)
        }
    }

    @Test func aPushForAClientThatLeftWaitsForItsNextPoll() async throws {
        try await withServer { server in
            let phone = try PushDevice(port: server.port, token: "ada", clientID: "phone")
            let laptop = try PushDevice(port: server.port, token: "ada", clientID: "laptop")
            do {
                let left = try phone.beginPoll()
                try waitUntilPolls(1, server)
                withExtendedLifetime(left) {}
            }
            try waitUntilPolls(0, server)
            try laptop.save("a")
            let push = try phone.push(try phone.beginPoll())
            #expect(push.ck.cause?.subscriptionID == PushDevice.subscriptionID)
        }
    }

    @Test func whatTheCourierRefuses() async throws {
        try await withServer(configure: { $0.courierPollsMax = 2 }) { server in
            let connection = try RawConnection(port: server.port)
            let path = "/device/1/\(RawDevice.container)/development/courier"
            #expect(try connection.exchange("GET", path).status == 400)
            #expect(try connection.exchange("GET", path + "?token=unknown").status == 404)
            #expect(try connection.exchange("POST", path + "?token=unknown", body: []).status == 400)
            let devices = try (0..<3).map {
                try PushDevice(port: server.port, token: "ada", clientID: "device\($0)")
            }
            let held = try devices.prefix(2).map { try $0.beginPoll() }
            try waitUntilPolls(2, server)
            let refused = try devices[2].beginPoll().receive()
            #expect(refused.status == 429)
            #expect(refused.header("Retry-After") != nil)
            server.stop()
            for poll in held {
                let answer = try poll.receive()
                #expect(answer.status == 200 && answer.body.isEmpty)
            }
        }
    }

    @Test func aServerKilledBetweenCommitAndDeliveryDeliversAfterItsRestart() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let token = folder.tokens[0]
            let first = try ServerProcess(folder: folder.path)
            defer { first.end() }
            let phone = try PushDevice(port: try first.port(), token: token, clientID: "phone")
            let laptop = try PushDevice(port: try first.port(), token: token, clientID: "laptop")
            try laptop.save("a")
            first.end()
            let second = try ServerProcess(folder: folder.path)
            defer { second.end() }
            let push = try phone.push(try phone.beginPoll(port: try second.port()))
            #expect(push.ck.cause?.subscriptionID == PushDevice.subscriptionID)
        }
    }

    /// Waits until the server has so many long polls: only its count shows them.
    private func waitUntilPolls(_ count: Int, _ server: TestServer) throws {
        try Polling.waitUntil { server.server.courierPollCount == count }
    }
}

/// A device that has a token for pushes, and a subscription to the private database. Its calls block.
private final class PushDevice {
    static let subscriptionID = "private-changes"

    private let device: RawDevice
    let courierURL: String

    init(port: Int, token: Credential, clientID: String) throws {
        device = try RawDevice(port: port, token: token, clientID: clientID)
        try device.makeZone("todos")
        let created = try device.post(
            "tokens/create", module: "device",
            TokensCreateRequest(apnsEnvironment: .development, clientID: clientID))
        guard created.status == 200 else { throw Failure("token: \(created.status) \(created.text)") }
        courierURL = try TokensResponse(json: created.body).webcourierURL
        let subscription = WireSubscription(subscriptionID: Self.subscriptionID, subscriptionType: .database)
        let subscribed = try device.post(
            "private/subscriptions/modify",
            SubscriptionsModifyRequest(operations: [
                SubscriptionOperation(operationType: .create, subscription: subscription)
            ]))
        guard subscribed.status == 200 else { throw Failure("\(subscribed.status) \(subscribed.text)") }
    }

    func save(_ name: String) throws {
        let operation = RecordOperation(operationType: .forceUpdate, record: RawDevice.record(name, 1))
        let response = try device.modify([operation], zone: "todos")
        guard response.status == 200 else { throw Failure("save: \(response.text)") }
    }

    /// Asks for a push on a connection of its own, and doesn't wait for the answer.
    func beginPoll(port: Int? = nil, after: String? = nil, isOurs: Bool = false) throws -> RawConnection {
        let connection = try RawConnection(port: port ?? device.port)
        try sendPoll(on: connection, after: after, isOurs: isOurs)
        return connection
    }

    func poll(on connection: RawConnection) throws -> RawResponse {
        try sendPoll(on: connection, after: nil, isOurs: false)
        return try connection.receive()
    }

    /// The push that a poll was answered with.
    func push(_ connection: RawConnection) throws -> PushPayload {
        let response = try connection.receive()
        guard response.status == 200, !response.body.isEmpty else {
            throw Failure("no push: \(response.status) \(response.text)")
        }
        return try PushPayload(json: response.body)
    }

    private func sendPoll(on connection: RawConnection, after: String?, isOurs: Bool) throws {
        guard let start = courierURL.range(of: "/device/1/")?.lowerBound else { throw Failure(courierURL) }
        try connection.sendRequest(
            "GET", courierURL[start...] + (after.map { "&after=\($0)" } ?? ""),
            headers: isOurs ? [(WireHeader.client, "1")] : [])
    }
}

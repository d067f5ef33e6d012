import CloudKit
import CloudKitAdditions
import CloudWire
import Crypto
import Foundation
import HTTPServer
import System
import Testing

@testable import CloudKit

/// Who asks Apple's servers: a user whose token is another one after each answer, or a server with a key.
@Suite struct AppleTokenTests {
    /// A server that takes each user's token once, and gives the next with the answer.
    private final class TakesEachOnce: HTTPHandler {
        let targets = Collected<String>()
        private let good = Lock((token: "t/0+=", number: 0))
        private let open = Lock((now: 0, most: 0))
        var mostAtOnce: Int { open.withLock { $0.most } }

        func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            targets.append(request.head.target)
            open.withLock { open in
                open.now += 1
                open.most = max(open.most, open.now)
            }
            let token = request.head.query.first { $0.name == "ckWebAuthToken" }?.value
            let next: String? = good.withLock { good in
                guard good.token == token else { return nil }
                good.number += 1
                good.token = "t/\(good.number)+="
                return good.token
            }
            open.withLock { $0.now -= 1 }
            guard let next else {
                return exchange.respond(
                    HTTPResponse(
                        status: 401, body: .bytes(Array(#"{"serverErrorCode":"AUTHENTICATION_FAILED"}"#.utf8))
                    ))
            }
            exchange.respond(
                HTTPResponse(
                    status: 200, headers: [("X-Apple-CloudKit-Web-Auth-Token", next)],
                    body: .bytes(Array(#"{"zones":[]}"#.utf8))))
        }
    }

    private struct Site {
        let handler = TakesEachOnce()
        let server: HTTPServer
        let folder: Folder

        init() throws {
            server = HTTPServer(options: HTTPServerOptions(), handler: handler)
            try server.start()
            folder = try Folder()
        }

        /// The container of a process that has just been started.
        func container(token: String? = "t/0+=") -> CKContainer {
            var variables = [
                "CLOUDKIT_CONTAINER": "iCloud.com.example.todo", "CLOUDKIT_PROTOCOL": "apple",
                "CLOUDKIT_SERVER": "http://127.0.0.1:\(server.port)", "CLOUDKIT_API_TOKEN": "app",
                "XDG_CONFIG_HOME": folder.path + "/config",
            ]
            variables["CLOUDKIT_WEB_AUTH_TOKEN"] = token
            return CKContainer(
                identifier: nil,
                configuration: CloudConfiguration(environment: variables, currentFolder: folder.path))
        }
    }

    @Test func eachAnswersTokenIsTheNextRequestsAndIsEncodedOnce() async throws {
        let site = try Site()
        let database = site.container().privateCloudDatabase
        for _ in 0..<3 { _ = try await database.allRecordZones() }
        for (number, target) in site.handler.targets.all.enumerated() {
            #expect(
                target.hasPrefix(
                    "/database/1/iCloud.com.example.todo/development/private/zones/list"
                        + "?ckAPIToken=app&ckWebAuthToken=t%2F\(number)%2B%3D&clientId="), "\(target)")
        }
        #expect(site.handler.targets.all.count == 3)
    }

    @Test func manyOperationsAtOnceUseEachTokenOnce() async throws {
        let site = try Site()
        let container = site.container()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { _ = try await container.privateCloudDatabase.allRecordZones() }
            }
            try await group.waitForAll()
        }
        #expect(site.handler.targets.all.count == 50 && site.handler.mostAtOnce == 1)
    }

    @Test func manyContainersOfOneIdentifierUseEachTokenOnce() async throws {
        let site = try Site()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { _ = try await site.container().privateCloudDatabase.allRecordZones() }
            }
            try await group.waitForAll()
        }
        #expect(site.handler.targets.all.count == 50)
    }

    @Test func theNextProcessContinuesWithTheLastToken() async throws {
        let site = try Site()
        _ = try await site.container().privateCloudDatabase.allRecordZones()
        _ = try await site.container().privateCloudDatabase.allRecordZones()
        #expect(site.handler.targets.all.map { $0.contains("t%2F1%2B") } == [false, true])
        // Another token of the configuration is another sign-in, and counts.
        let place = try site.container(token: "another").resolved()
        #expect(try place.connection.account.credential().webAuthToken == "another")
        #expect(try site.container().resolved().connection.account.credential().webAuthToken == "t/2+=")
        // Who has the token from the configuration doesn't sign in or out beside it.
        #expect(throws: CKError.self) { try site.container().signOut() }
    }

    @Test func whoWaitsForTheTurnCanBeCancelledAndEndsInTime() throws {
        let line = Line()
        let container = appleContainer(line, timers: line.timers)
        func fetch(seconds: Double = 600) -> (CKOperation, Collected<CKError.Code?>) {
            let said = Collected<CKError.Code?>()
            let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
            operation.configuration.timeoutIntervalForResource = seconds
            operation.configuration.timeoutIntervalForRequest = 60
            operation.fetchRecordZonesResultBlock = { said.append($0.code) }
            container.privateCloudDatabase.add(operation)
            return (operation, said)
        }
        let (first, firstSaid) = fetch()
        let (second, secondSaid) = fetch()
        let (third, thirdSaid) = fetch(seconds: 10)
        let (fourth, fourthSaid) = fetch()
        #expect(line.requests.all.count == 1)
        second.cancel()
        #expect(secondSaid.all == [.operationCancelled] && second.isFinished)
        line.pass(seconds: 10)
        #expect(thirdSaid.all == [.networkFailure] && third.isFinished && firstSaid.all.isEmpty)
        first.cancel()
        #expect(firstSaid.all == [.operationCancelled] && first.isFinished)
        // What it sent used the token up: it is the fourth's turn when no answer can come any more.
        #expect(line.requests.all.count == 1)
        line.pass(seconds: 50)
        #expect(line.requests.all.count == 2 && fourthSaid.all.isEmpty)
        line.pass(seconds: 60)
        #expect(fourthSaid.all == [.networkFailure] && fourth.isFinished)
        _ = fetch()
        #expect(line.requests.all.count == 3)
    }

    @Test func theTokenOfACancelledRequestsAnswerIsTheNextOnes() throws {
        let transport = SilentTransport()
        let account = FixedAccount(CloudCredential(webAuthToken: "first"))
        let container = appleContainer(transport, account: account)
        let first = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        container.privateCloudDatabase.add(first)
        first.cancel()
        #expect(first.isFinished && transport.cancelCount == 0)
        let second = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        container.privateCloudDatabase.add(second)
        #expect(transport.waitCount == 1 && !second.isFinished)
        transport.answer(
            .success(
                WireResponse(
                    status: 200, headers: [(WireHeader.newWebAuthToken, "next")], body: Array("{}".utf8))))
        #expect(account.credential().webAuthToken == "next")
        // It is the second's turn.
        #expect(transport.waitCount == 1)
    }

    @Test func requestsWithoutATokenAreNotQueued() throws {
        let transport = SilentTransport()
        let container = appleContainer(
            transport, account: FixedAccount(CloudCredential(apiToken: "app")))
        for name in ["a", "b", "c"] {
            container.publicCloudDatabase.add(
                CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: name)]))
        }
        #expect(transport.waitCount == 3)
    }

    // MARK: Settings

    private func place(_ folder: Folder, _ variables: [String: String]) throws -> CloudConnection {
        var variables = variables
        variables["CLOUDKIT_CONTAINER"] = "iCloud.a"
        variables["XDG_CONFIG_HOME"] = folder.path + "/config"
        let configuration = CloudConfiguration(environment: variables, currentFolder: folder.path)
        return try CKContainer(identifier: nil, configuration: configuration).resolved().connection
    }

    @Test func applesHostIsKnownAndAnotherCanBeNamed() throws {
        let folder = try Folder()
        for (server, kind) in [
            ("https://api.apple-cloudkit.com", ServerKind.apple),
            ("https://api.apple-cloudkit.com/", .apple), ("https://API.apple-cloudkit.com:443", .apple),
            ("https://api.apple-cloudkit.com.example.com", .yap), ("http://127.0.0.1:8080", .yap),
        ] {
            #expect(try place(folder, ["CLOUDKIT_SERVER": server]).serverKind == kind, "\(server)")
        }
        let named = ["CLOUDKIT_SERVER": "http://127.0.0.1:1", "CLOUDKIT_PROTOCOL": "apple"]
        #expect(try place(folder, named).serverKind == .apple)
        #expect(throws: CKError.self) {
            try place(folder, ["CLOUDKIT_SERVER": "http://a", "CLOUDKIT_PROTOCOL": "other"])
        }
        try folder.write(
            "cloudkit.json", #"{"containers": {"iCloud.a": {"server": "http://a", "protocol": "apple"}}}"#)
        #expect(try place(folder, [:]).serverKind == .apple)
    }

    @Test func aKeyNeedsItsNameAndItsFile() throws {
        let folder = try Folder()
        let server = ["CLOUDKIT_SERVER": "https://api.apple-cloudkit.com"]
        func code(_ variables: [String: String]) -> CKError.Code? {
            do {
                _ = try place(folder, server.merging(variables) { $1 })
                return nil
            } catch {
                return (error as? CKError)?.code
            }
        }
        #expect(code(["CLOUDKIT_KEY_ID": "k"]) == .badContainer)
        #expect(code(["CLOUDKIT_KEY_FILE": "k.pem"]) == .badContainer)
        #expect(code(["CLOUDKIT_KEY_ID": "k", "CLOUDKIT_KEY_FILE": "k.pem"]) == .badContainer)
        try folder.write("k.pem", "no key")
        #expect(code(["CLOUDKIT_KEY_ID": "k", "CLOUDKIT_KEY_FILE": "k.pem"]) == .badContainer)
        try folder.write("k.pem", ServerSignatureTests.pem)
        let connection = try place(
            folder,
            server.merging(["CLOUDKIT_KEY_ID": "k", "CLOUDKIT_KEY_FILE": "k.pem", "CLOUDKIT_API_TOKEN": "a"])
            { $1 })
        // Beside a signature Apple's servers take no token.
        let credential = try connection.account.credential()
        #expect(
            credential.serverKey?.keyID == "k" && credential.webAuthToken == nil && credential.apiToken == nil
        )
    }
}

import CloudKit
import Foundation
import HTTPClient
import System
import Testing
import Waiting

@testable import CloudKitTesting

/// The dashboard of a test's cloud, asked as its page asks.
@Suite struct TestCloudDashboardTests {
    /// A browser that has opened the link.
    private struct Browser {
        let http = HTTPClient()
        let base: String
        var cookie: String?

        init(_ link: URL) async throws {
            base = "http://127.0.0.1:\(try #require(link.port))"
            let secret = try #require(link.fragment)
            let signedIn = try await send("POST", "session", #"{"link":"\#(secret)"}"#)
            #expect(signedIn.status == 200)
            let header = try #require(signedIn.header("Set-Cookie"))
            cookie = String(header.prefix { $0 != ";" })
        }

        func send(_ method: String, _ path: String, _ body: String = "") async throws -> HTTPClientResponse {
            var headers = [(name: "Content-Type", value: "application/json")]
            if let cookie { headers.append(("Cookie", cookie)) }
            let request = HTTPClientRequest(
                method: method, url: "\(base)/operator/1/\(path)", headers: headers, body: Array(body.utf8))
            return try await withCheckedThrowingContinuation { continuation in
                _ = http.send(request) { continuation.resume(with: $0) }
            }
        }

        func text(_ method: String, _ path: String, _ body: String = "") async throws -> String {
            let response = try await send(method, path, body)
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == 200, "\(path): \(text)")
            return text
        }

        func data(_ endpoint: String, _ body: String, environment: String = "development") async throws
            -> String
        {
            try await text(
                "POST", "iCloud.yap.test/\(environment)/private/\(endpoint)?user=_ada", body)
        }

        /// Makes the note's text another one.
        func edit(_ text: String, environment: String = "development") async throws -> String {
            let zone = #""zoneID":{"zoneName":"notes"}"#
            let fields = #"{"text":{"value":"\#(text)","type":"STRING"}}"#
            let record = #"{"recordName":"shopping","recordType":"Note","fields":\#(fields)}"#
            return try await data(
                "records/modify",
                #"{\#(zone),"operations":[{"operationType":"forceUpdate","record":\#(record)}]}"#,
                environment: environment)
        }
    }

    private let zone = CKRecordZone(zoneName: "notes")
    private var recordID: CKRecord.ID { CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID) }

    /// A device of Ada with a note.
    private func phone(_ cloud: TestCloud) async throws -> CKDatabase {
        let database = cloud.device(user: "ada").container.privateCloudDatabase
        _ = try await database.save(zone)
        let note = CKRecord(recordType: "Note", recordID: recordID)
        note["text"] = "milk"
        _ = try await database.save(note)
        return database
    }

    private func text(_ database: CKDatabase) async throws -> String? {
        try await database.record(for: recordID)["text"]
    }

    @Test(arguments: [TestCloud.Execution.inline, .threads])
    func whatIsChangedInTheDashboardIsTheDevicesToFetch(_ execution: TestCloud.Execution) async throws {
        let cloud = TestCloud(execution: execution)
        let database = try await phone(cloud)
        let browser = try await Browser(cloud.serveDashboard())
        let found = try await browser.data(
            "records/lookup", #"{"zoneID":{"zoneName":"notes"},"records":[{"recordName":"shopping"}]}"#)
        #expect(found.contains("milk"))
        #expect(try await browser.edit("oat milk").contains("oat milk"))
        #expect(try await text(database) == "oat milk")
        #expect(try await browser.text("GET", "containers").contains("iCloud.yap.test"))
        #expect(try await browser.text("GET", "iCloud.yap.test/accounts").contains("_ada"))
        #expect(try await browser.text("GET", "iCloud.yap.test/development/schema").contains("Note"))
    }

    @Test func aDeviceIsNotifiedOfAChangeInTheDashboard() async throws {
        let cloud = TestCloud(execution: .threads)
        let device = cloud.device(user: "ada")
        let database = device.container.privateCloudDatabase
        _ = try await database.save(zone)
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        subscription.notificationInfo = CKSubscription.NotificationInfo()
        subscription.notificationInfo?.shouldSendContentAvailable = true
        _ = try await database.save(subscription)
        // The first call registers the device.
        #expect(try device.receivePushes().isEmpty)
        let browser = try await Browser(cloud.serveDashboard())
        _ = try await browser.edit("eggs")
        // Pushes are made behind the answer: each request gives that thread time.
        for _ in 0..<1_000 {
            if try !device.receivePushes().isEmpty { return }
            _ = try await browser.text("GET", "session")
        }
        Issue.record("no push came")
    }

    @Test func theDashboardFollowsARestartAQuotaAndNewUsers() async throws {
        let cloud = TestCloud()
        let database = try await phone(cloud)
        let browser = try await Browser(cloud.serveDashboard())
        _ = try await browser.edit("eggs")
        try cloud.restartService()
        #expect(try await browser.edit("bread").contains("bread"))
        #expect(try await text(database) == "bread")
        cloud.setQuota(bytes: 0, user: "ada")
        #expect(try await browser.edit(String(repeating: "x", count: 2_000)).contains("QUOTA_EXCEEDED"))
        cloud.setQuota(bytes: nil, user: "ada")
        for user in ["grace", "Ada Lovelace"] { _ = cloud.device(user: user) }
        let accounts = try await browser.text("GET", "iCloud.yap.test/accounts")
        #expect(accounts.contains("_grace") && accounts.contains("_Ada Lovelace"))
    }

    @Test func aCloudInAFileIsFollowedToItsNextStore() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/cloud-\(UUID().uuidString).sqlite"
        defer {
            for end in ["", "-wal", "-shm", ".assets"] {
                try? FileManager.default.removeItem(atPath: path + end)
            }
        }
        let cloud = try TestCloud(sqlitePath: path)
        let database = try await phone(cloud)
        let browser = try await Browser(cloud.serveDashboard())
        try cloud.restartService()
        _ = try await browser.edit("bread")
        #expect(try await text(database) == "bread")
    }

    @Test func theDashboardsSessionDoesNotDependOnTheTestsClock() async throws {
        let cloud = TestCloud()
        _ = try await phone(cloud)
        let browser = try await Browser(cloud.serveDashboard())
        cloud.clock.advance(bySeconds: 10 * 365 * 86_400)
        #expect(try await browser.edit("later").contains("later"))
    }

    @Test func aCloudInProductionIsShownAsProduction() async throws {
        let development = TestCloud()
        _ = try await phone(development)
        let cloud = try development.production()
        let database = try await phone(cloud)
        let browser = try await Browser(cloud.serveDashboard())
        _ = try await browser.edit("eggs", environment: "production")
        #expect(try await text(database) == "eggs")
    }

    @Test func eachCallGivesALinkToTheSameDashboard() async throws {
        let cloud = TestCloud()
        let first = try cloud.serveDashboard(), second = try cloud.serveDashboard()
        #expect(first.port == second.port && first.fragment != second.fragment)
        _ = try await Browser(second)
        let another = try TestCloud().serveDashboard()
        #expect(another.port != first.port)
    }

    @Test func theDashboardEndsWithItsCloud() async throws {
        var cloud: TestCloud? = TestCloud()
        let link = try #require(try cloud?.serveDashboard())
        let path = try #require(cloud?.state.withLock { $0.dashboard }?.path)
        #expect(FileManager.default.fileExists(atPath: path))
        let browser = try await Browser(link)
        cloud = nil
        // A thread of the released cloud ends it.
        try await Polling.until { (try? await browser.send("GET", "session")) == nil }
        try await Polling.until { !FileManager.default.fileExists(atPath: path) }
    }

    // MARK: The variable

    /// Runs the program of `Tests/Support/TestCloudChild` to its end, with a folder for temporary files of its own.
    private func run(
        _ environment: [String: String], _ input: String
    ) async throws -> (output: String, errors: String, isClean: Bool) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("child-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process(), (input, output, errors) = ((input, Pipe()), Pipe(), Pipe())
        process.executableURL = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            .appendingPathComponent("TestCloudChild")
        process.environment = environment.merging(["TMPDIR": folder.path]) { $1 }
        process.standardInput = input.1
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        input.1.fileHandleForWriting.write(Data(input.0.utf8))
        try input.1.fileHandleForWriting.close()
        let texts = await withCheckedContinuation { continuation in
            Thread {
                let texts = [output, errors].map {
                    String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                }
                process.waitUntilExit()
                continuation.resume(returning: texts)
            }.start()
        }
        #expect(process.terminationStatus == 0, "\(texts)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (texts[0], texts[1], !left.contains { $0.hasPrefix("TestCloud-dashboard") })
    }

    @Test func withoutTheVariableThereIsNoThreadNoPortAndNoLine() async throws {
        for environment in [[:], ["YAP_DASHBOARD": ""], ["YAP_DASHBOARD": "0"]] {
            let ended = try await run(environment, "show\n")
            #expect(ended.errors.isEmpty && ended.isClean)
            #expect(ended.output.contains("threads: 1\n") && ended.output.contains("text: milk"), "\(ended)")
        }
    }

    @Test func theVariableServesTheFirstCloudOfTheProcessAndKeepsNoProcessAlive() async throws {
        let ended = try await run(["YAP_DASHBOARD": "1"], "restart\nshow\n")
        #expect(ended.errors.split(separator: "\n").count == 1, "\(ended.errors)")
        #expect(
            ended.errors.contains(/http:\/\/127\.0\.0\.1:\d+\/dashboard\/link#[^ ]+\n$/), "\(ended.errors)")
        #expect(ended.output.contains("text: milk") && ended.isClean)
    }
}

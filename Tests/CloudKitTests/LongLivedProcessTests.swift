import CloudKit
import CloudKitTesting
import CloudService
import CloudWire
import Foundation
import HTTPServer
import System
import Testing

/// An app that is killed with a long-lived operation under way, and started again.
@Suite struct LongLivedProcessTests {
    private let folder: Folder
    private let server: LongLivedServer

    init() async throws {
        folder = try Folder()
        server = try await LongLivedServer()
        try folder.write("photo", "a picture")
    }

    private func child(_ arguments: String...) throws -> LongLivedApp {
        try LongLivedApp(
            arguments,
            [
                "CLOUDKIT_SERVER": server.url, "CLOUDKIT_CONTAINER": "iCloud.yap.test",
                "CLOUDKIT_WEB_AUTH_TOKEN": server.cloud.token(of: "ada"), "CLOUDKIT_DEVICE_ID": "one",
                "XDG_STATE_HOME": folder.path + "/state", "XDG_CACHE_HOME": folder.path + "/cache",
                "XDG_CONFIG_HOME": folder.path + "/config",
            ])
    }

    private var photo: String { folder.path + "/photo" }
    private static let saved = [
        "saved a done -", "saved b done photo", "result done", "completion",
    ]

    /// What the records are on the server, and that nothing is left on the disk.
    private func expectSavedOnce() async throws {
        let records = try await server.laptop.recordZoneChanges(
            inZoneWith: CKRecordZone.ID(zoneName: "todos"), since: nil
        ).modificationResultsByID.mapValues { try $0.get().record }
        let byName = Dictionary(uniqueKeysWithValues: records.map { ($0.recordName, $1) })
        #expect(byName["a"]?["title"] as? String == "eggs" && byName["b"]?["price"] as? Double == 0.1 + 0.2)
        let asset: CKAsset? = byName["b"]?["photo"]
        let url = try #require(asset?.fileURL)
        #expect(try Data(contentsOf: url) == Data("a picture".utf8))
        let state = folder.path + "/state/yap/operations"
        for container in try FileManager.default.contentsOfDirectory(atPath: state) {
            #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/" + container) == [])
        }
    }

    /// The file that the app sent may be gone or another one when it comes back.
    private func takeTheFileAway() throws { try folder.write("photo", "another") }

    @Test func killedBeforeAnythingWasSentItIsSentWhenTheAppComesBack() async throws {
        let first = try child("begin", "save", photo, "persisted")
        #expect(await first.end() == .killed)
        let id = try #require(first.lines.first?.dropFirst("persisted ".count))
        #expect(server.names.all.isEmpty)
        try takeTheFileAway()
        let second = try child("resume")
        #expect(await second.end() == .exited)
        #expect(second.lines == ["ids \(id)", "persisted \(id)"] + Self.saved + ["left 0"])
        try await expectSavedOnce()
    }

    @Test(arguments: [RequestKind.uploadAsset, .modifyRecords])
    func killedWhileItWaitsForAnAnswerItDoesNothingTwice(kind: RequestKind) async throws {
        server.silent.withLock { $0 = kind }
        let first = try child("begin", "save", photo)
        await server.hasGoneSilent()
        first.kill()
        #expect(await first.end() == .killed && !first.lines.contains { $0.hasPrefix("saved") })
        let names = server.names.all
        let token = try await server.token()
        try takeTheFileAway()
        let second = try child("resume")
        #expect(await second.end() == .exited)
        #expect(Array(second.lines.dropFirst(2)) == Self.saved + ["left 0"])
        try await expectSavedOnce()
        if kind == .modifyRecords {
            // It was done before the process went: the same write came again, under its name, and changed nothing.
            #expect(server.names.all.count == 2 && Set(server.names.all) == Set(names))
            #expect(server.count(.uploadAsset) == 1)
            #expect(try await server.changes(since: token).isEmpty)
        } else {
            #expect(names.isEmpty && server.names.all.count == 1 && server.count(.uploadAsset) == 2)
        }
    }

    @Test(arguments: ["saved", "result", "completion"])
    func killedInABlockItCallsAllBlocksAgainAndSendsNothing(block: String) async throws {
        let first = try child("begin", "save", photo, block)
        #expect(await first.end() == .killed && first.lines.last?.hasPrefix(block) == true)
        let asked = server.asked.all.count
        // And once more: what was kept is kept until the completion block has returned.
        let second = try child("resume", block)
        #expect(await second.end() == .killed)
        let third = try child("resume")
        #expect(await third.end() == .exited)
        #expect(Array(third.lines.dropFirst(2)) == Self.saved + ["left 0"])
        #expect(server.asked.all.count == asked)
        try await expectSavedOnce()
    }

    @Test func aFetchOfChangesContinuesAfterTheReceivedPages() async throws {
        try await server.fill(["t1", "t2", "t3", "t4", "t5"])
        let first = try child("begin", "changes", photo, "token")
        #expect(await first.end() == .killed)
        let second = try child("resume")
        #expect(await second.end() == .exited)
        let pages = second.lines.filter { $0.hasPrefix("token") }.count + 1
        #expect(
            second.lines.filter { !$0.hasPrefix("token") }.dropFirst(2) == [
                "changed t1 done", "changed t2 done", "changed t3 done", "changed t4 done", "changed t5 done",
                "zone todos done", "result done", "completion", "left 0",
            ])
        #expect(pages >= 3 && server.count(.fetchRecordZoneChanges) == pages, "no page was asked for twice")
    }

    @Test func aQueryIsKeptWithItsPredicateAndItsOrder() async throws {
        try await server.fill(["t1", "t2", "u3"])
        let first = try child("begin", "query", photo, "persisted")
        #expect(await first.end() == .killed)
        let second = try child("resume")
        #expect(await second.end() == .exited)
        #expect(
            Array(second.lines.dropFirst(2)) == [
                "matched t2 done", "matched t1 done", "result done", "completion", "left 0",
            ])
    }

    @Test func whatALivingProcessRunsIsLeftToIt() async throws {
        server.silent.withLock { $0 = .modifyRecords }
        let first = try child("begin", "save", photo)
        await server.hasGoneSilent()
        let second = try child("resume")
        #expect(await second.end() == .exited && second.lines == ["ids ", "left 0"])
        first.kill()
        #expect(await first.end() == .killed)
        let third = try child("resume")
        #expect(await third.end() == .exited && third.lines.suffix(2) == ["completion", "left 0"])
    }
}

/// The program of `Tests/Support/LongLivedChild`.
private final class LongLivedApp: Sendable {
    enum End: Sendable { case exited, killed, failed }

    private let output = Lock<[UInt8]>([])
    private let process: Lock<Process>
    private let ended = Lock<(end: End?, waiter: CheckedContinuation<End, Never>?)>((nil, nil))

    /// What it has said.
    var lines: [String] {
        String(decoding: output.withLock { $0 }, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    init(_ arguments: [String], _ environment: [String: String]) throws {
        let process = Process(), pipe = Pipe()
        let program = try #require(Bundle.main.executableURL)
        process.executableURL = program.deletingLastPathComponent().appendingPathComponent("LongLivedChild")
        process.arguments = arguments
        process.environment = environment.merging([
            "PATH": "/usr/bin", "HOME": environment["XDG_STATE_HOME"] ?? "",
        ]) {
            first, _ in first
        }
        process.standardOutput = pipe
        self.process = Lock(process)
        try process.run()
        let reader = pipe.fileHandleForReading
        Thread { [self] in
            let bytes = [UInt8](reader.readDataToEndOfFile())
            output.withLock { $0 = bytes }
            let process = self.process.withLock { $0 }
            process.waitUntilExit()
            let end: End =
                process.terminationReason == .uncaughtSignal
                ? .killed : process.terminationStatus == 0 ? .exited : .failed
            let waiter = ended.withLock { ended in
                ended.end = end
                return ended.waiter
            }
            waiter?.resume(returning: end)
        }.start()
    }

    func kill() { _ = process.withLock { Foundation.kill($0.processIdentifier, SIGKILL) } }

    /// Waits for its end.
    func end() async -> End {
        await withCheckedContinuation { continuation in
            let end = ended.withLock { ended in
                if ended.end == nil { ended.waiter = continuation }
                return ended.end
            }
            if let end { continuation.resume(returning: end) }
        }
    }
}

/// A cloud on a port with a zone `todos` of ada's, files included, that once does what it is asked and doesn't answer.
private final class LongLivedServer: HTTPHandler, Sendable {
    let cloud = TestCloud()
    let laptop: CKDatabase
    /// What is done and not answered, once.
    let silent = Lock<RequestKind?>(nil)
    /// The names of the writes of records.
    let names = Collected<String>()
    let asked = Collected<RequestKind>()
    private let server = Lock<HTTPServer?>(nil)
    private let unanswered = Lock<(exchanges: [HTTPExchange], waiter: CheckedContinuation<Void, Never>?)>(
        ([], nil))
    private let zoneID = CKRecordZone.ID(zoneName: "todos")

    var url: String { "http://127.0.0.1:\(server.withLock { $0?.port ?? 0 })" }

    init() async throws {
        laptop = cloud.device(user: "ada").container.privateCloudDatabase
        try await laptop.save(CKRecordZone(zoneID: zoneID))
        let server = HTTPServer(options: HTTPServerOptions(), handler: self)
        try server.start()
        self.server.withLock { $0 = server }
    }

    func count(_ kind: RequestKind) -> Int { asked.all.filter { $0 == kind }.count }

    func fill(_ titles: [String]) async throws {
        for title in titles {
            let record = CKRecord(
                recordType: "todo", recordID: CKRecord.ID(recordName: title, zoneID: zoneID))
            record["title"] = title
            try await laptop.save(record)
        }
    }

    func token() async throws -> CKServerChangeToken {
        try await laptop.recordZoneChanges(inZoneWith: zoneID, since: nil).changeToken
    }

    func changes(since token: CKServerChangeToken) async throws -> [CKRecord.ID] {
        let page = try await laptop.recordZoneChanges(inZoneWith: zoneID, since: token)
        return Array(page.modificationResultsByID.keys)
    }

    func hasGoneSilent() async {
        await withCheckedContinuation { continuation in
            let isSilent = unanswered.withLock { unanswered in
                if unanswered.exchanges.isEmpty { unanswered.waiter = continuation }
                return !unanswered.exchanges.isEmpty
            }
            if isSilent { continuation.resume() }
        }
    }

    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 64 << 20) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        let wire = WireRequest(
            method: request.head.method, path: request.head.path, query: request.head.query,
            headers: request.head.headers, body: request.body)
        let isFile = request.head.path.hasPrefix("/asset/")
        let kind: RequestKind? =
            isFile
            ? (request.head.method == "POST" ? .uploadAsset : .downloadAsset)
            : RequestKind.allCases.first { request.head.path.hasSuffix($0.rawValue) }
        if let kind { asked.append(kind) }
        if kind == .modifyRecords { names.append(wire.header(WireHeader.operation) ?? "") }
        let response = isFile ? cloud.carry(request) : cloud.service.respond(to: wire)
        let goesSilent = silent.withLock { silent in
            guard let kind, silent == kind else { return false }
            silent = nil
            return true
        }
        guard goesSilent else {
            return exchange.respond(
                HTTPResponse(
                    status: response.status, headers: response.headers, body: .bytes(response.body)))
        }
        unanswered.withLock { unanswered in
            unanswered.exchanges.append(exchange)
            unanswered.waiter?.resume()
            unanswered.waiter = nil
        }
    }
}

extension TestCloud {
    /// Takes a file that is sent over HTTP.
    fileprivate func carry(_ request: HTTPRequest) -> WireResponse {
        let ticket = request.head.query.first { $0.name == "t" }?.value ?? ""
        do {
            let upload = try service.beginUpload(ticket: ticket)
            try upload.write(request.body)
            return WireResponse(status: 200, body: try upload.finish().json())
        } catch {
            return WireResponse(status: 400)
        }
    }
}

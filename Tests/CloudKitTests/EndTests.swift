import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing

@testable import CloudKit

/// Operations that could go on for ever, or for long, or that stay when they have ended.
@Suite struct EndTests {
    @Test func aZoneThatGivesTheSameForEverEnds() async throws {
        let page = """
            {"zones": [{"zoneID": {"zoneName": "todos"}, "syncToken": "here", "moreComing": true, "records":
            [{"recordName": "1", "recordType": "todo", "recordChangeTag": "a", "fields": {}}]}]}
            """
        let answers = (0..<20).map { _ in
            Result<WireResponse, CKError>.success(WireResponse(status: 200, body: Array(page.utf8)))
        }
        let transport = ScriptedTransport(answers)
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [CKRecordZone.ID(zoneName: "todos")])
        let said = Collected<CKError.Code?>()
        operation.recordZoneFetchResultBlock = { said.append($1.code) }
        operation.fetchRecordZoneChangesResultBlock = { said.append($0.code) }
        transport.database.add(operation)
        #expect(said.all == [.serverResponseLost, nil])
        #expect(transport.requests.count == 2)
    }

    @Test func whenTheNetworkFailsNoFurtherZoneIsTried() async throws {
        let saved = """
            {"records": [{"recordName": "1", "recordType": "todo", "recordChangeTag": "a", "fields": {}}]}
            """
        let transport = ScriptedTransport(json: saved)
        let records = ["a", "b", "c", "d"].map { zone in
            CKRecord(
                recordType: "todo",
                recordID: CKRecord.ID(recordName: "1", zoneID: CKRecordZone.ID(zoneName: zone)))
        }
        let results = try await transport.database.modifyRecords(saving: records, deleting: []).saveResults
        #expect(
            records.map { results[$0.recordID]?.code } == [
                nil, .networkUnavailable, .networkUnavailable, .networkUnavailable,
            ])
        #expect(transport.requests.count == 2)

        let found = ScriptedTransport(json: saved)
        let fetched = try await found.database.records(for: records.map(\.recordID))
        #expect(fetched.count == 4 && fetched[records[0].recordID]?.isSuccess == true)
        #expect(found.requests.count == 2)
    }

    @Test func anOperationRetainedByItsCompletionBlockIsReleasedAtItsEnd() async throws {
        let devices = try await TwoDevices()
        weak var held: CKOperation?
        do {
            let operation = CKFetchRecordsOperation(recordIDs: [devices.id("1")])
            let ends = Collected<Bool>()
            operation.completionBlock = { ends.append(operation.isFinished) }
            held = operation
            devices.phone.add(operation)
            #expect(ends.all == [true])
        }
        #expect(held == nil)
    }

    @Test func whoTakesUpOneOperationReadsNoOther() throws {
        let folder = try Folder()
        let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
        let store = LongLivedOperationStore(folder: URL(fileURLWithPath: folder.path), clock: clock)
        let owner = OperationOwner(CloudCredential(webAuthToken: "t"))
        func keep() throws -> String {
            let id = SystemRandomSource().nextUUID()
            let header = OperationHeader(operationID: id, kind: "query", scope: 2, owner: owner, seed: 1)
            _ = try store.keep(header, archive: [1], files: [])
            return id
        }
        let old = try keep()
        clock.advance(bySeconds: 90_000)
        let new = try keep()
        #expect(store.operation(new, of: owner) != nil)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/" + old))
        #expect(store.operationIDs(of: owner) == [new])
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/" + old))
    }

    @Test func aFileThatChangesWhileItIsCopiedIsNotKeptTorn() throws {
        let folder = try Folder()
        let path = try folder.write("file", String(repeating: "x", count: 16 << 20))
        let isCopied = Lock(false)
        let hasBegun = DispatchSemaphore(value: 0), hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let file = FileHandle(forWritingAtPath: path)
            _ = try? file?.seekToEnd()
            while !isCopied.withLock({ $0 }) {
                file?.write(Data("y".utf8))
                hasBegun.signal()
            }
            hasEnded.signal()
        }
        hasBegun.wait()
        let store = LongLivedOperationStore(folder: URL(fileURLWithPath: folder.path + "/shelf"))
        func keep() throws -> LongLivedRun {
            let header = OperationHeader(
                operationID: SystemRandomSource().nextUUID(), kind: "query", scope: 2,
                owner: OperationOwner(CloudCredential(webAuthToken: "t")), seed: 1)
            return try store.keep(header, archive: [1], files: [URL(fileURLWithPath: path)])
        }
        let torn = try keep()
        isCopied.withLock { $0 = true }
        hasEnded.wait()
        let names = try FileManager.default.contentsOfDirectory(
            atPath: store.folder + "/\(torn.header.operationID)/files")
        #expect(torn.header.files.isEmpty && names.isEmpty)
        let copy = try #require(try keep().copy(of: URL(fileURLWithPath: path)))
        #expect(FileManager.default.contentsEqual(atPath: path, andPath: copy.path))
    }

    @Test(arguments: ["../../elsewhere", "..", "a/b", "", "iCloud.com.example.app"])
    func aContainersFoldersAreWhereTheyBelong(identifier: String) throws {
        var configuration = CloudConfiguration(credentialFile: "/nowhere/credentials.json")
        var container = CloudConfiguration.Container()
        container.server = "http://127.0.0.1:1"
        container.webAuthToken = "t"
        container.deviceID = "d"
        configuration.containers[identifier] = container
        let connection = try configuration.resolved(containerIdentifier: identifier).connection
        let cache = try #require(connection.assetCache).folder.standardizedFileURL.pathComponents
        let operations = URL(fileURLWithPath: try #require(connection.operationStore).folder)
            .standardizedFileURL
            .pathComponents
        #expect(cache.suffix(3).prefix(2) == ["yap", "assets"])
        #expect(operations.suffix(3).prefix(2) == ["yap", "operations"])
        if identifier.hasPrefix("iCloud") { #expect(cache.last == identifier) }
    }
}

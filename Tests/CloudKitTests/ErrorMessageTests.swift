import CloudKit
import CloudKitTesting
import CloudService
import CloudWire
import Foundation
import HTTPServer
import System
import Testing

@testable import CloudKit

/// What a developer reads who prints an error.
@Suite struct ErrorMessageTests {
    /// A service behind HTTP, whose requests have names in its log.
    private struct Site {
        let cloud = TestCloud()
        let behind: CloudBehindHTTP
        let database: CKDatabase
        let zoneID = CKRecordZone.ID(zoneName: "todos")

        init() async throws {
            behind = try CloudBehindHTTP(cloud)
            _ = cloud.device(user: "ada")
            let transport = HTTPTransport(
                serverURL: behind.url, client: HTTPClients.client(authoritiesFile: nil))
            database =
                CKContainer(
                    identifier: "iCloud.yap.test",
                    connection: CloudConnection(
                        transport: transport, execution: .threads, webAuthToken: "token-of-ada")
                ).privateCloudDatabase
            try await database.save(CKRecordZone(zoneID: zoneID))
        }

        func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

        /// The name of the last request in the server's log.
        var requestID: String { behind.handler.heads.all.last?.requestID ?? "" }
    }

    private func error(_ body: () async throws -> Void) async -> CKError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? CKError
        }
    }

    private func expectNames(_ error: CKError?, _ names: [String]) throws {
        let error = try #require(error)
        for name in names {
            #expect(error.localizedDescription.contains(name), "\(name): \(error.localizedDescription)")
            #expect("\(error)".contains(name) && "\(error as any Error)".contains(name), "\(name): \(error)")
            #expect("\(error as NSError)".contains(name), "\(error as NSError)")
        }
    }

    @Test func anItemsErrorNamesTheRecordTheZoneTheContainerAndTheRequest() async throws {
        let site = try await Site()
        let missing = await error { _ = try await site.database.record(for: site.id("42")) }
        try expectNames(missing, ["42", "todos", "iCloud.yap.test", site.requestID])
        #expect(missing?.userInfo["ContainerID"] as? String == "iCloud.yap.test")
        #expect(missing?.userInfo["RequestUUID"] as? String == site.requestID)
        #expect(missing?.userInfo["RecordID"] as? CKRecord.ID == site.id("42"))
        #expect(missing?.userInfo["ZoneID"] as? CKRecordZone.ID == site.zoneID)

        let first = CKRecord(recordType: "todo", recordID: site.id("7"))
        try await site.database.save(first)
        let again = CKRecord(recordType: "todo", recordID: site.id("7"))
        let conflict = await error { try await site.database.save(again) }
        try expectNames(conflict, ["record 7", "zone todos", "container iCloud.yap.test", site.requestID])
        #expect(conflict?.code == .serverRecordChanged && conflict?.serverRecord != nil)
        #expect(conflict.map { "\($0)".contains("\"Server Record Changed\" (14)") } == true)
    }

    @Test func aZonesErrorAndAWholeRequestsNameWhatTheyAreAbout() async throws {
        let site = try await Site()
        let nowhere = CKRecordZone.ID(zoneName: "nowhere")
        let zone = await error {
            _ = try await site.database.recordZoneChanges(inZoneWith: nowhere, since: nil)
        }
        try expectNames(zone, ["zone nowhere", "iCloud.yap.test", site.requestID])
        let fetched = await error { _ = try await site.database.recordZone(for: nowhere) }
        try expectNames(fetched, ["zone nowhere", "iCloud.yap.test", site.requestID])
        let record = CKRecord(
            recordType: "todo", recordID: CKRecord.ID(recordName: "1", zoneID: nowhere))
        let saved = await error { try await site.database.save(record) }
        try expectNames(saved, ["record 1", "zone nowhere", "iCloud.yap.test", site.requestID])

        let stranger = CKContainer(
            identifier: "iCloud.yap.test",
            connection: CloudConnection(
                transport: HTTPTransport(
                    serverURL: site.behind.url, client: HTTPClients.client(authoritiesFile: nil)),
                execution: .threads, webAuthToken: "nobody's")
        ).privateCloudDatabase
        let refused = await error { _ = try await stranger.allRecordZones() }
        #expect(refused?.code == .notAuthenticated)
        try expectNames(
            refused, ["iCloud.yap.test", try #require(refused?.userInfo["RequestUUID"] as? String)])
    }

    @available(*, deprecated) @Test func theOldCompletionBlocksErrorHasItsItemsErrors() async throws {
        let site = try await Site()
        try await site.database.save(CKRecord(recordType: "todo", recordID: site.id("7")))
        let said = Collected<CKError>()
        let done = AsyncStream<Void>.makeStream()
        let operation = CKModifyRecordsOperation(
            recordsToSave: ["7", "8"].map { CKRecord(recordType: "todo", recordID: site.id($0)) })
        operation.modifyRecordsCompletionBlock = { _, _, error in
            if let error = error as? CKError { said.append(error) }
            done.continuation.yield()
        }
        site.database.add(operation)
        for await _ in done.stream { break }
        let error = try #require(said.all.first)
        #expect(error.code == .partialFailure && error.partialErrorsByItemID?.count == 2)
        // The item that failed for itself, and not the one that failed with it.
        #expect(error.localizedDescription.hasPrefix("2 items failed, as this one: "))
        #expect(error.localizedDescription.contains("record 7"), "\(error.localizedDescription)")
        for words in [
            "7 in todos: <CKError \"Server Record Changed\"", "8 in todos: <CKError \"Batch Request Failed\"",
        ] {
            #expect("\(error)".contains(words), "\(error)")
        }
    }

    @Test func anErrorOfTheNetworkNamesTheContainer() async throws {
        let transport = ScriptedTransport([])
        let failure = await error { _ = try await transport.database.allRecordZones() }
        #expect(failure?.code == .networkUnavailable)
        try expectNames(failure, ["iCloud.test"])
    }

    @Test func namesStayAndAreTakenOnce() {
        let id = CKRecord.ID(recordName: "1", zoneID: CKRecordZone.ID(zoneName: "z", ownerName: "_eve"))
        let error = CKError(.zoneBusy, "Busy", retryAfterSeconds: 3)
            .naming(record: id, request: "a").naming(container: "c", request: "b").naming(container: "d")
        #expect(error.localizedDescription == "Busy (record 1, zone z of _eve, container c, request a)")
        #expect(error.retryAfterSeconds == 3)
        #expect(
            "\(error)" == "<CKError \"Zone Busy\" (23): \(error.localizedDescription); retry after 3.0 s. "
                + "What to do: \(CKError.Code.zoneBusy.remedy)>")
        #expect(
            "\(CKError(.quotaExceeded))" == "<CKError \"Quota Exceeded\" (25): The user's storage is full. "
                + "What to do: \(CKError.Code.quotaExceeded.remedy)>")
    }

    @Test(arguments: CKError.Code.allCases) func everyErrorSaysWhatHappenedAndWhatToDo(_ code: CKError.Code) {
        for error in [CKError(code), CKError(code, "why"), CKError(code, userInfo: ["x": 1])] {
            let words = error.bareMessage == "why" ? "why" : code.summary
            #expect(error.localizedDescription == words)
            if !error.userInfo.isEmpty {
                #expect((error as any Error).localizedDescription == words)
                #expect((error as NSError).localizedRecoverySuggestion == code.remedy)
            }
            #expect("\(error)".contains(words) && "\(error)".contains(code.remedy), "\(error)")
        }
        #expect(code.remedy.hasSuffix(".") && code.summary.hasSuffix("."))
    }

    @Test func aWrongAPITokenIsReportedAsSuch() async throws {
        for (isMissing, words) in [(false, "doesn't know this API token"), (true, "No API token")] {
            let refusal = WireError.apiTokenRefused(isMissing: isMissing, "iCloud.test")
            let transport = ScriptedTransport([
                .success(WireResponse(status: 401, body: try refusal.json(extras: true)))
            ])
            let refused = await error { _ = try await transport.database.allRecordZones() }
            #expect(refused?.code == .missingEntitlement, "Apple has no code that fits better")
            for part in [words, "CLOUDKIT_API_TOKEN", "yap token list"] {
                #expect(refused?.localizedDescription.contains(part) == true, "\(refused as Any)")
            }
        }
    }

    @Test func aFailureOfManyItemsStaysReadable() {
        let errors = (0..<100).map {
            (AnyHashable(CKRecord.ID(recordName: "\($0)")), CKError(.unknownItem, "gone") as any Error)
        }
        let text = "\(CKError.partialFailure(Dictionary(uniqueKeysWithValues: errors)))"
        #expect(text.contains("and 80 more") && text.components(separatedBy: "<CKError").count == 22)
    }
}

import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing

/// Each class's blocks: which, in which order, how often, in each way that an operation can end.
@Suite struct OperationBlockTests {
    private static let all = OperationTable.successes + OperationTable.others
    private static let ofDatabases = OperationTable.successes

    private func devices(_ way: Cloud = .inProcess) async throws -> TwoDevices {
        let devices = try await TwoDevices(way)
        try await OperationTable.fill(devices)
        return devices
    }

    /// What an operation's blocks say that is added to its database or container.
    private func add(_ operation: CKOperation, to devices: TwoDevices, _ style: BlockStyle) -> [String] {
        let recorder = BlockRecorder(style)
        recorder.set(operation)
        if let operation = operation as? CKDatabaseOperation {
            devices.phone.add(operation)
        } else {
            devices.cloud.device(user: "ada").container.add(operation)
        }
        #expect(operation.isFinished)
        return recorder.said.all
    }

    @Test(arguments: all, BlockStyle.allCases)
    func inSuccessEachItemIsReportedOnceBeforeTheEnd(operation: OperationCase, style: BlockStyle) async throws
    {
        let devices = try await devices()
        #expect(add(try operation.make(devices), to: devices, style) == operation.says(style))
    }

    @Test(arguments: OperationTable.partialFailures, BlockStyle.allCases)
    func oneItemsFailureIsTheOlderBlocksPartialFailureAndNoFailureToTheNewer(
        operation: OperationCase, style: BlockStyle
    ) async throws {
        let devices = try await devices()
        #expect(add(try operation.make(devices), to: devices, style) == operation.says(style))
    }

    @Test(arguments: Cloud.allCases)
    func overEachWayTheBlocksOfSuccessAreTheSame(way: Cloud) async throws {
        for operation in Self.ofDatabases {
            let devices = try await devices(way)
            #expect(add(try operation.make(devices), to: devices, .both) == operation.new)
        }
    }

    @Test(arguments: ofDatabases, BlockStyle.allCases)
    func whenAllOfItFailsOnlyTheEndIsReported(operation: OperationCase, style: BlockStyle) async throws {
        let devices = try await devices()
        let kind: RequestKind = try #require(operation.kind)
        devices.cloud.fail(kind, with: .serviceUnavailable, retryAfterSeconds: 3)
        #expect(add(try operation.make(devices), to: devices, style) == operation.failure(style, 6))
        devices.cloud.clock.advance(bySeconds: 3)
        #expect(add(try operation.make(devices), to: devices, style) == operation.says(style))
    }

    @Test(arguments: all, BlockStyle.allCases)
    func cancelledBeforeItsStartItReportsTheEndOnceAndSendsNothing(
        operation: OperationCase, style: BlockStyle
    )
        async throws
    {
        let devices = try await devices()
        let before = devices.cloud.requestCount()
        let made = try operation.make(devices)
        made.cancel()
        #expect(add(made, to: devices, style) == operation.failure(style, 20))
        #expect(devices.cloud.requestCount() == before)
    }

    @Test(arguments: ofDatabases, BlockStyle.allCases)
    func cancelledWhileItWaitsItReportsTheEndOnce(operation: OperationCase, style: BlockStyle)
        async throws
    {
        let devices = try await devices()
        let transport = SilentTransport()
        let made = try #require(try operation.make(devices) as? CKDatabaseOperation)
        let recorder = BlockRecorder(style)
        recorder.set(made)
        transport.database.add(made)
        #expect(recorder.said.all.isEmpty && made.isExecuting && transport.waitCount == 1)
        made.cancel()
        made.cancel()
        transport.answer(.success(WireResponse(status: 200, body: Array("{}".utf8))))
        #expect(recorder.said.all == operation.failure(style, 20) && made.isFinished)
    }

    @Test func operationsOfSharingTellTheEndOnce() async throws {
        let devices = try await devices()
        for style in BlockStyle.allCases {
            for made in [
                CKAcceptSharesOperation(shareMetadatas: []), CKFetchShareMetadataOperation(shareURLs: []),
                CKFetchShareParticipantsOperation(userIdentityLookupInfos: []),
            ] {
                let said = add(made, to: devices, style)
                #expect(said.count == 2 && said.last == "completion" && said[0].hasSuffix("15"), "\(said)")
            }
        }
    }

    @Test(arguments: BlockStyle.allCases) func deletionsAreReportedBeforeTheirZonesEnd(style: BlockStyle)
        async throws
    {
        let devices = try await devices()
        let page = try await devices.phone.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        let token = try await devices.phone.databaseChanges(since: nil).changeToken
        try await devices.phone.deleteRecord(withID: devices.id("1"))
        try await devices.phone.save(devices.record("4"))
        try await devices.phone.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "other"))
        let zone = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [devices.zoneID],
            configurationsByRecordZoneID: [
                devices.zoneID: .init(previousServerChangeToken: page.changeToken)
            ])
        #expect(
            add(zone, to: devices, style)
                == (style == .old
                    ? [
                        "deleted 1", "old changed 4", "old zone todos true false 0", "old result 0",
                        "completion",
                    ]
                    : ["deleted 1", "changed 4 0", "zone todos 0", "result 0", "completion"]))
        let database = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
        #expect(
            add(database, to: devices, style) == [
                "changed todos", "deleted other", style == .old ? "old result true false 0" : "result 0",
                "completion",
            ])
    }

    @Test func pagesExceptTheLastAreReportedWithAToken() async throws {
        let devices = try await devices()
        let zone = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [devices.zoneID],
            configurationsByRecordZoneID: [devices.zoneID: .init(resultsLimit: 1)])
        #expect(
            add(zone, to: devices, .new) == [
                "changed 1 0", "token todos true", "changed 2 0", "zone todos 0", "result 0", "completion",
            ])
        let database = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        database.resultsLimit = 1
        #expect(
            add(database, to: devices, .new) == [
                "changed todos", "token", "changed other", "result 0", "completion",
            ])
        let first = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        first.resultsLimit = 1
        first.fetchAllChanges = false
        #expect(add(first, to: devices, .old) == ["changed todos", "old result true true 0", "completion"])
    }
}

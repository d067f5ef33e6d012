import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing

@Suite struct ClientChangeTokenTests {
    private func save(_ record: CKRecord, _ token: Data, to database: CKDatabase) {
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        operation.clientChangeTokenData = token
        database.add(operation)
    }

    /// What each page of the zone's changes and its end hand back.
    private func told(_ database: CKDatabase, _ zoneID: CKRecordZone.ID, limit: Int? = nil) -> [Data?] {
        let told = Collected<Data?>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: .init(resultsLimit: limit)])
        operation.recordZoneChangeTokensUpdatedBlock = { told.append($2) }
        operation.recordZoneFetchResultBlock = { told.append((try? $1.get())?.clientChangeTokenData) }
        database.add(operation)
        return told.all
    }

    @Test(arguments: Cloud.allCases)
    func aFetchHandsBackWhatThisDevicesLastWriteBroughtAlong(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        #expect(told(devices.phone, devices.zoneID) == [nil])
        save(devices.record("a"), Data([1]), to: devices.phone)
        save(devices.record("b"), Data([2, 255]), to: devices.phone)
        // Apple's protocol has no key for it.
        let last = way.hasOurKeys ? Data([2, 255]) : nil
        #expect(told(devices.phone, devices.zoneID) == [last])
        #expect(told(devices.phone, devices.zoneID, limit: 1) == [last, last])
        #expect(told(devices.laptop, devices.zoneID) == [nil])
    }

    @Test func aWriteWhoseAnswerWasLostIsKnownByIt() async throws {
        let devices = try await TwoDevices()
        save(devices.record("a"), Data([1]), to: devices.phone)
        devices.cloud.loseReplies(.modifyRecords)
        save(devices.record("b"), Data([2]), to: devices.phone)
        #expect(told(devices.phone, devices.zoneID) == [Data([2])])
        devices.cloud.loseRequests(.modifyRecords)
        save(devices.record("c"), Data([3]), to: devices.phone)
        #expect(told(devices.phone, devices.zoneID) == [Data([2])])
    }

    @Test func oneThatIsTooLongIsRefusedAndNothingIsSaved() async throws {
        let devices = try await TwoDevices()
        let operation = CKModifyRecordsOperation(recordsToSave: [devices.record("a")])
        operation.clientChangeTokenData = Data(count: 4_097)
        let codes = Collected<CKError.Code?>()
        operation.modifyRecordsResultBlock = { codes.append($0.code) }
        devices.phone.add(operation)
        #expect(codes.all == [.limitExceeded])
        #expect(await codeThrown { try await devices.phone.record(for: devices.id("a")) } == .unknownItem)
    }

    @available(*, deprecated)
    @Test func theOlderOperationsReportItToo() async throws {
        let devices = try await TwoDevices()
        save(devices.record("a"), Data([1]), to: devices.phone)
        let said = Collected<Data?>()
        let zone = CKFetchRecordZoneChangesOperation(recordZoneIDs: [devices.zoneID])
        zone.recordZoneFetchCompletionBlock = { _, _, data, _, _ in said.append(data) }
        devices.phone.add(zone)
        let older = CKFetchRecordChangesOperation(
            recordZoneID: devices.zoneID, previousServerChangeToken: nil)
        older.fetchRecordChangesCompletionBlock = { _, data, _ in said.append(data) }
        devices.phone.add(older)
        #expect(said.all == [Data([1]), Data([1])])
    }
}

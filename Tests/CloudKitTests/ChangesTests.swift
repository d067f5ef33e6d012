import CloudKit
import CloudKitTesting
import CloudService
import Foundation
import System
import Testing

@Suite struct ChangesTests {
    /// Everything that an operation says, in order.
    func fetch(
        _ database: CKDatabase, _ zoneID: CKRecordZone.ID, since token: CKServerChangeToken? = nil,
        limit: Int? = nil, all: Bool = true
    ) -> (events: [String], token: CKServerChangeToken?, error: CKError?) {
        let events = Collected<String>()
        let token = Lock<CKServerChangeToken?>(token)
        let error = Lock<CKError?>(nil)
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID],
            configurationsByRecordZoneID: [
                zoneID: .init(previousServerChangeToken: token.withLock { $0 }, resultsLimit: limit)
            ])
        operation.fetchAllChanges = all
        operation.recordWasChangedBlock = { recordID, result in
            events.append("\(recordID.recordName) \(result.isSuccess ? "changed" : "failed")")
        }
        operation.recordWithIDWasDeletedBlock = { events.append("\($0.recordName) deleted \($1)") }
        operation.recordZoneChangeTokensUpdatedBlock = { _, newToken, _ in
            token.withLock { $0 = newToken }
            events.append("token")
        }
        operation.recordZoneFetchResultBlock = { _, result in
            switch result {
            case .success(let end):
                token.withLock { $0 = end.serverChangeToken }
                events.append(end.moreComing ? "more" : "end")
            case .failure(let failure): error.withLock { $0 = failure as? CKError }
            }
        }
        operation.fetchRecordZoneChangesResultBlock = {
            events.append($0.isSuccess ? "success" : "failure")
        }
        database.add(operation)
        return (events.all, token.withLock { $0 }, error.withLock { $0 })
    }

    @Test(arguments: Cloud.allCases) func changesComePageAfterPageWithATokenEach(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        for name in ["a", "b", "c"] { try await devices.phone.save(devices.record(name)) }
        let all = fetch(devices.laptop, devices.zoneID, limit: 2)
        #expect(all.events == ["a changed", "b changed", "token", "c changed", "end", "success"])
        #expect(fetch(devices.laptop, devices.zoneID, since: all.token).events == ["end", "success"])

        let page = fetch(devices.laptop, devices.zoneID, limit: 2, all: false)
        #expect(page.events == ["a changed", "b changed", "more", "success"])
        let rest = fetch(devices.laptop, devices.zoneID, since: page.token, all: false)
        #expect(rest.events == ["c changed", "end", "success"])
    }

    @Test(arguments: Cloud.allCases) func aDeletionComesWithItsType(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        try await devices.phone.save(devices.record("a"))
        let token = fetch(devices.laptop, devices.zoneID).token
        try await devices.phone.deleteRecord(withID: devices.id("a"))
        // Apple's protocol has no key for the type of what is gone.
        let type = way.hasOurKeys ? "todo" : ""
        #expect(
            fetch(devices.laptop, devices.zoneID, since: token).events == [
                "a deleted \(type)", "end", "success",
            ])
    }

    @Test(arguments: Cloud.allCases) func manyZonesWithManyPagesAreAllFetched(way: Cloud) async throws {
        let cloud = try way.cloud()
        let phone = cloud.device(user: "ada").container.privateCloudDatabase
        let zoneIDs = (0..<4).map { CKRecordZone.ID(zoneName: "zone\($0)") }
        try await phone.modifyRecordZones(saving: zoneIDs.map { CKRecordZone(zoneID: $0) }, deleting: [])
        for zoneID in zoneIDs {
            let records = (0..<250).map {
                CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "\($0)", zoneID: zoneID))
            }
            // So many are asked for in parts elsewhere, which an atomic batch can't be.
            try await phone.modifyRecords(saving: records, deleting: [], atomically: way.hasOurKeys)
        }
        let changed = Collected<CKRecord.ID>(), ends = Collected<CKRecordZone.ID>()
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: zoneIDs)
        operation.recordWasChangedBlock = { recordID, _ in changed.append(recordID) }
        operation.recordZoneFetchResultBlock = { zoneID, result in
            if result.isSuccess { ends.append(zoneID) }
        }
        phone.add(operation)
        #expect(changed.all.count == 1_000 && Set(changed.all).count == 1_000)
        #expect(Set(ends.all) == Set(zoneIDs))
    }

    @Test(arguments: Cloud.allCases) func anExpiredAndAResetTokenAreRejectedWithDifferentReasons(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        try await devices.phone.save(devices.record("a"))
        let token = fetch(devices.laptop, devices.zoneID).token
        try await devices.phone.deleteRecord(withID: devices.id("a"))
        try devices.cloud.service.zoneMaintenance.pruneTombstones(zoneName: "todos", ofUser: "_ada")
        let expired = try #require(fetch(devices.laptop, devices.zoneID, since: token).error)
        #expect(expired.code == .changeTokenExpired)
        // Apple's protocol has one refusal for both; who keeps local changes then has to suppose the gentler one.
        #expect(expired.changeTokenRefusal == (way.hasOurKeys ? .expired : nil))

        let newToken = fetch(devices.laptop, devices.zoneID).token
        try devices.cloud.service.zoneMaintenance.resetEpoch(zoneName: "todos", ofUser: "_ada")
        let reset = try #require(fetch(devices.laptop, devices.zoneID, since: newToken).error)
        #expect(reset.code == .changeTokenExpired)
        #expect(reset.changeTokenRefusal == (way.hasOurKeys ? .reset : nil))
        #expect(
            await codeThrown {
                try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: newToken)
            } == .changeTokenExpired)
    }

    @Test(arguments: Cloud.allCases) func anUnknownZoneFailsForItself(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let lost = fetch(devices.laptop, CKRecordZone.ID(zoneName: "nowhere"))
        #expect(lost.error?.code == .zoneNotFound && lost.events == ["success"])
        #expect(
            await codeThrown {
                try await devices.laptop.recordZoneChanges(
                    inZoneWith: CKRecordZone.ID(zoneName: "nowhere"), since: nil)
            } == .zoneNotFound)
    }

    @Test(arguments: Cloud.allCases) func theDatabaseListsChangedAndDeletedZones(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let first = try await devices.laptop.databaseChanges(since: nil)
        #expect(first.modifications.map(\.zoneID) == [devices.zoneID] && !first.moreComing)
        let second = try await devices.laptop.databaseChanges(since: first.changeToken)
        #expect(second.modifications.isEmpty && second.deletions.isEmpty)

        try await devices.phone.save(devices.record("a"))
        try await devices.phone.save(CKRecordZone(zoneName: "other"))
        let third = try await devices.laptop.databaseChanges(since: second.changeToken)
        #expect(Set(third.modifications.map(\.zoneID.zoneName)) == ["todos", "other"])
        try await devices.phone.deleteRecordZone(withID: devices.zoneID)
        let fourth = try await devices.laptop.databaseChanges(since: third.changeToken)
        #expect(fourth.deletions.map(\.zoneID) == [devices.zoneID])
        #expect(fourth.deletions.first?.reason == .deleted)

        let pages = Collected<String>()
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        try await devices.phone.save(CKRecordZone(zoneID: devices.zoneID))
        operation.resultsLimit = 1
        operation.recordZoneWithIDChangedBlock = { pages.append($0.zoneName) }
        operation.changeTokenUpdatedBlock = { _ in pages.append("token") }
        operation.fetchDatabaseChangesResultBlock = { pages.append($0.isSuccess ? "end" : "failure") }
        devices.laptop.add(operation)
        #expect(pages.all == ["other", "token", "todos", "end"])
    }

    @Test(arguments: Cloud.allCases) func thePublicDatabaseHasNoChanges(way: Cloud) async throws {
        let database = try way.cloud().device(user: "ada").container.publicCloudDatabase
        #expect(await codeThrown { try await database.databaseChanges(since: nil) } == .badDatabase)
        #expect(
            await codeThrown { try await database.recordZoneChanges(inZoneWith: .default, since: nil) }
                == .badDatabase)
    }

    @Test(arguments: Cloud.allCases) func aTokenSurvivesItsArchive(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let token = try #require(fetch(devices.laptop, devices.zoneID).token)
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
        #expect(decoded == token)
        #expect(fetch(devices.laptop, devices.zoneID, since: decoded).events == ["end", "success"])
    }

    @Test(arguments: Cloud.allCases) func zonesAreSavedFetchedListedAndDeleted(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let again = try await devices.phone.save(CKRecordZone(zoneID: devices.zoneID))
        #expect(again.capabilities == [.fetchChanges, .atomic])
        try await devices.phone.save(devices.record("a"))
        try await devices.phone.save(CKRecordZone(zoneID: devices.zoneID))
        #expect(try await devices.laptop.record(for: devices.id("a")).recordID == devices.id("a"))
        #expect(try await devices.laptop.recordZone(for: devices.zoneID).zoneID == devices.zoneID)
        #expect(try await devices.laptop.allRecordZones().map(\.zoneID.zoneName).contains("todos"))
        let gone = CKRecordZone.ID(zoneName: "nowhere")
        #expect(await codeThrown { try await devices.laptop.recordZone(for: gone) } == .zoneNotFound)
        try await devices.phone.deleteRecordZone(withID: devices.zoneID)
        #expect(
            await codeThrown { try await devices.laptop.recordZone(for: devices.zoneID) } == .zoneNotFound)
        #expect(try await devices.phone.recordZones(for: [gone])[gone]?.code == .zoneNotFound)
    }
}

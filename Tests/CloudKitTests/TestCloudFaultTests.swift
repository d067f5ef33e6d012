import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing

/// What a test can order of a `TestCloud`, beyond the recipes of `docs/TESTING.md`.
@Suite struct TestCloudFaultTests {
    @Test func aFaultIsForTheDeviceThatItNames() async throws {
        let devices = try await TwoDevices()
        let phone = devices.cloud.device(user: "ada"), laptop = devices.cloud.device(user: "ada")
        devices.cloud.fail(with: .serviceUnavailable, on: phone)
        devices.cloud.loseRequests(.modifyRecords, on: laptop)
        try await devices.phone.save(devices.record("1"))
        let id = devices.id("1")
        #expect(
            await codeThrown { try await phone.container.privateCloudDatabase.record(for: id) }
                == .serviceUnavailable)
        let database = laptop.container.privateCloudDatabase
        #expect(await codeThrown { try await database.save(devices.record("2")) } == .networkFailure)
        try await database.save(devices.record("2"))
    }

    @Test func aFaultComesAfterAsManyRequestsAsTheTestSays() async throws {
        let devices = try await TwoDevices()
        devices.cloud.fail(.modifyRecords, with: .internalError, after: 2)
        devices.cloud.fail(.modifyRecords, of: devices.id("4"), with: .zoneBusy, after: 1)
        var codes: [CKError.Code?] = []
        for name in ["1", "2", "3", "4", "4", "4"] {
            do {
                try await devices.phone.save(devices.record(name))
                codes.append(nil)
            } catch let error as CKError {
                codes.append(error.code)
            }
        }
        #expect(codes == [nil, nil, .internalError, nil, .zoneBusy, .serverRecordChanged])
    }

    @Test func somethingElseHappensWhileARequestIsOnItsWay() async throws {
        let devices = try await TwoDevices()
        let note = devices.record("1", title: "eggs")
        try await devices.phone.save(note)
        devices.cloud.during(.modifyRecords) {
            note["title"] = "milk"
            let other = devices.record("2")
            devices.laptop.save(other) { _, _ in }
        }
        note["title"] = "bread"
        try await devices.phone.save(note)
        #expect(note["title"] == "milk" && note.changedKeys() == ["title"])
        let fetched = try await devices.phone.records(for: [devices.id("1"), devices.id("2")])
        #expect(try fetched[devices.id("1")]?.get()["title"] == "bread")
        #expect(fetched[devices.id("2")]?.isSuccess == true)
        #expect(devices.cloud.requestCount(.modifyRecords) == 3)
    }

    @Test func lostAndRepeatedRequestsComeAsOftenAsOrdered() async throws {
        let devices = try await TwoDevices()
        devices.cloud.loseRequests(.modifyRecords, times: 2)
        devices.cloud.loseReplies(.modifyRecords)
        devices.cloud.repeatRequests(.modifyRecords)
        for name in ["1", "2", "3"] {
            #expect(
                await codeThrown { try await devices.phone.save(devices.record(name)) } == .networkFailure)
        }
        try await devices.phone.save(devices.record("4"))
        let page = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        #expect(page.modificationResultsByID.keys.map(\.recordName).sorted() == ["3", "4"])
        #expect(
            devices.cloud.requests.filter { $0.kind == .modifyRecords }.map(\.fault)
                == [.loseRequest, .loseRequest, .loseReply, .duplicate])
    }

    @Test(arguments: Cloud.allCases) func aRecordThatFailsAloneLeavesTheOthersToTheServer(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        devices.cloud.fail(
            .modifyRecords, of: devices.id("2"), with: .zoneBusy, retryAfterSeconds: 7)
        let records = ["1", "2", "3"].map { devices.record($0) }
        var (results, deletions) = try await devices.phone.modifyRecords(
            saving: records, deleting: [devices.id("9")], atomically: false)
        #expect(results[devices.id("1")]?.isSuccess == true && results[devices.id("3")]?.isSuccess == true)
        #expect(deletions[devices.id("9")]?.isSuccess == true)
        #expect(throws: CKError.self) { try results[devices.id("2")]?.get() }
        if case .failure(let error as CKError)? = results[devices.id("2")] {
            #expect(error.code == .zoneBusy && error.retryAfterSeconds == 7)
        }
        (results, deletions) = try await devices.phone.modifyRecords(saving: [records[1]], deleting: [])
        #expect(results[devices.id("2")]?.isSuccess == true, "it failed as often as ordered")
    }

    @Test(arguments: Cloud.allCases) func ofSeveralZonesOnlyTheFailedOneIsHeldBack(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let other = try await devices.phone.save(CKRecordZone(zoneName: "other"))
        let inOther = CKRecord(
            recordType: "todo", recordID: CKRecord.ID(recordName: "1", zoneID: other.zoneID))
        devices.cloud.fail(.modifyRecords, of: devices.id("1"), with: .internalError)
        let (results, _) = try await devices.phone.modifyRecords(
            saving: [devices.record("1"), devices.record("2"), inOther], deleting: [])
        #expect(results[devices.id("1")]?.code == .internalError)
        #expect(results[devices.id("2")]?.code == .batchRequestFailed)
        #expect(results[inOther.recordID]?.isSuccess == true)
        let page = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        #expect(page.modificationResultsByID.isEmpty)
    }

    @Test(arguments: Cloud.allCases) func aRecordFailsWhereverItIsRead(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        for name in ["1", "2"] { try await devices.phone.save(devices.record(name, title: "eggs")) }
        let id = devices.id("1"), cloud = devices.cloud
        cloud.fail(.fetchRecords, of: id, with: .assetNotAvailable)
        let fetched = try await devices.laptop.records(for: [id, devices.id("2")])
        #expect(fetched[id]?.code == .assetNotAvailable && fetched[devices.id("2")]?.isSuccess == true)
        cloud.fail(.fetchRecordZoneChanges, of: id, with: .internalError)
        let page = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        let changed = page.modificationResultsByID
        #expect(changed[id]?.code == .internalError && changed[devices.id("2")]?.isSuccess == true)
        cloud.fail(.queryRecords, of: id, with: .internalError)
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(format: "title == %@", "eggs"))
        let found = try await devices.laptop.records(matching: query, inZoneWith: devices.zoneID).matchResults
        #expect(found.count == 2)
        #expect(found.first { $0.0 == id }?.1.code == .internalError)
        #expect(found.first { $0.0 != id }?.1.isSuccess == true)
    }

    @Test(arguments: Cloud.allCases) func aZoneAndASubscriptionFailAlone(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let cloud = devices.cloud, bad = CKRecordZone.ID(zoneName: "bad")
        cloud.fail(.modifyRecordZones, of: bad, with: .quotaExceeded)
        let zones = [CKRecordZone(zoneID: bad), CKRecordZone(zoneName: "good")]
        let saved = try await devices.phone.modifyRecordZones(saving: zones, deleting: []).saveResults
        #expect(saved[bad]?.code == .quotaExceeded && saved[zones[1].zoneID]?.isSuccess == true)
        cloud.fail(.fetchRecordZones, of: devices.zoneID, with: .userDeletedZone)
        #expect(
            await codeThrown { try await devices.phone.recordZone(for: devices.zoneID) } == .userDeletedZone)
        cloud.fail(.fetchRecordZoneChanges, of: devices.zoneID, with: .zoneBusy, retryAfterSeconds: 2)
        let codes = Collected<CKError.Code?>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [devices.zoneID, zones[1].zoneID], configurationsByRecordZoneID: [:])
        operation.recordZoneFetchResultBlock = { codes.append($1.mapError { $0 }.code) }
        devices.phone.add(operation)
        #expect(codes.all == [.zoneBusy, nil])
        cloud.fail(.modifySubscriptions, of: "bad", with: .serverRejectedRequest)
        let subscriptions = ["bad", "good"].map { CKDatabaseSubscription(subscriptionID: $0) }
        let made = try await devices.phone.modifySubscriptions(saving: subscriptions, deleting: [])
            .saveResults
        #expect(made["bad"]?.code == .serverRejectedRequest && made["good"]?.isSuccess == true)
        cloud.fail(.fetchSubscriptions, of: "good", with: .permissionFailure)
        #expect(await codeThrown { try await devices.phone.subscription(for: "good") } == .permissionFailure)
        #expect(try await devices.phone.subscription(for: "good").subscriptionID == "good")
    }

    @Test(arguments: Cloud.allCases) func afterTokensExpiredAFullFetchGivesOneThatHolds(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        for name in ["1", "2"] { try await devices.phone.save(devices.record(name)) }
        let zoneID = devices.zoneID, laptop = devices.laptop
        let token = try await laptop.recordZoneChanges(inZoneWith: zoneID, since: nil).changeToken
        let databaseToken = try await laptop.databaseChanges(since: nil).changeToken
        try await devices.phone.deleteRecord(withID: devices.id("2"))
        devices.cloud.expireChangeTokens()
        #expect(
            await codeThrown { try await laptop.recordZoneChanges(inZoneWith: zoneID, since: token) }
                == .changeTokenExpired)
        #expect(
            await codeThrown { try await laptop.databaseChanges(since: databaseToken) } == .changeTokenExpired
        )
        let all = try await laptop.recordZoneChanges(inZoneWith: zoneID, since: nil)
        #expect(all.modificationResultsByID.keys.map(\.recordName) == ["1"] && all.deletions.isEmpty)
        let zones = try await laptop.databaseChanges(since: nil)
        #expect(zones.modifications.map(\.zoneID) == [zoneID])
        try await devices.phone.save(devices.record("3"))
        let news = try await laptop.recordZoneChanges(inZoneWith: zoneID, since: all.changeToken)
        #expect(news.modificationResultsByID.keys.map(\.recordName) == ["3"])
        let newZones = try await laptop.databaseChanges(since: zones.changeToken)
        #expect(newZones.modifications.map(\.zoneID) == [zoneID])
    }

    @Test(arguments: Cloud.allCases) func aFullCloudTakesNothingMoreUntilSomethingIsDeleted(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        try await devices.phone.save(devices.record("1", title: String(repeating: "x", count: 1_000)))
        // A record, a tombstone and a zone count 2 KB each.
        devices.cloud.setQuota(bytes: 6_500, user: "ada")
        #expect(await codeThrown { try await devices.phone.save(devices.record("2")) } == .quotaExceeded)
        let bob = devices.cloud.device(user: "bob").container.privateCloudDatabase
        try await bob.save(CKRecord(recordType: "todo"))
        try devices.cloud.restartService()
        #expect(await codeThrown { try await devices.phone.save(devices.record("2")) } == .quotaExceeded)
        try await devices.phone.deleteRecord(withID: devices.id("1"))
        try await devices.phone.save(devices.record("2"))
        devices.cloud.setQuota(bytes: nil, user: "ada")
        try await devices.phone.save(devices.record("3", title: String(repeating: "x", count: 1_000)))
        devices.cloud.setQuota(bytes: 0)
        let shared = devices.cloud.device(user: "ada").container.publicCloudDatabase
        let news = CKRecord(recordType: "todo")
        news["title"] = "eggs"
        #expect(await codeThrown { try await shared.save(news) } == .quotaExceeded)
    }

    @Test(arguments: Cloud.allCases) func aLaggingIndexFindsRecordsByWhatTheyWere(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let cloud = devices.cloud
        func found(_ title: String) async throws -> [String] {
            let query = CKQuery(recordType: "todo", predicate: NSPredicate(format: "title == %@", title))
            let results = try await devices.laptop.records(matching: query, inZoneWith: devices.zoneID)
            return results.matchResults.map(\.0.recordName).sorted()
        }
        let first = devices.record("1", title: "eggs"), second = devices.record("2", title: "eggs")
        try await devices.phone.save(first)
        cloud.indexLagSeconds = .infinity
        try await devices.phone.save(second)
        first["title"] = "milk"
        try await devices.phone.save(first)
        #expect(try await found("eggs") == ["1"])
        #expect(try await found("milk") == [])
        let fetched: String? = try await devices.laptop.record(for: first.recordID)["title"]
        #expect(fetched == "milk", "a fetch by ID never lags")
        cloud.clock.advance(bySeconds: 1_000_000)
        #expect(try await found("milk") == [])
        try cloud.restartService()
        #expect(try await found("milk") == [])
        try await devices.phone.deleteRecord(withID: devices.id("2"))
        cloud.catchUpIndex()
        #expect(try await found("eggs") == [])
        #expect(try await found("milk") == ["1"])
        cloud.indexLagSeconds = 0
        try await devices.phone.save(devices.record("3", title: "milk"))
        #expect(try await found("milk") == ["1", "3"])
    }

    @Test func productionHasWhatWasDeployedAndNoRecords() async throws {
        let devices = try await TwoDevices()
        try await devices.phone.save(devices.record("1", title: "eggs"))
        let production = try devices.cloud.production()
        #expect(production.environment == "production" && devices.cloud.environment == "development")
        let database = production.device(user: "ada").container.privateCloudDatabase
        #expect(try await database.allRecordZones().map(\.zoneID.zoneName) == ["_defaultZone"])
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(format: "title == %@", "eggs"))
        #expect(try await database.records(matching: query).matchResults.isEmpty)
        let message = await #expect(throws: CKError.self) {
            try await database.save(CKRecord(recordType: "list"))
        }
        #expect(
            message?.localizedDescription.contains("Cannot create new type list in production schema") == true
        )
        try production.restartService()
        #expect(
            await codeThrown { try await database.save(CKRecord(recordType: "list")) } == .invalidArguments)
        #expect(throws: (any Error).self) { try TestCloud(productionSchema: "DEFINE NOTHING") }
    }

    @Test func aThrottledServerRejectsAllRequestsUntilTheEndOfTheTime() async throws {
        let devices = try await TwoDevices()
        devices.cloud.throttle(forSeconds: 20, with: .serviceUnavailable)
        devices.cloud.clock.advance(bySeconds: 5)
        let error = await #expect(throws: CKError.self) { try await devices.laptop.allRecordZones() }
        #expect(error?.code == .serviceUnavailable && error?.retryAfterSeconds == 15)
        devices.cloud.throttle(forSeconds: 0)
        #expect(try await devices.phone.allRecordZones().count == 2, "nobody told this device to wait")
        devices.cloud.clock.advance(bySeconds: 15)
        #expect(try await devices.laptop.allRecordZones().count == 2)
    }

    @Test func pushesWaitUntilTheyAreTakenAndComeOnce() async throws {
        let devices = try await TwoDevices()
        let phone = devices.cloud.device(user: "ada")
        try await devices.laptop.save(CKDatabaseSubscription(subscriptionID: "all"))
        try await devices.laptop.save(devices.record("0"))
        #expect(try phone.receivePushes().isEmpty, "changes from before it registered are not told")
        try await devices.laptop.save(devices.record("1"))
        try await devices.laptop.save(devices.record("2"))
        let pushes = try phone.receivePushes()
        #expect(pushes.count == 1)
        let dictionary = try #require(pushes.first)
        let notification = CKNotification(fromRemoteNotificationDictionary: dictionary)
        #expect(notification?.notificationType == .database && notification?.subscriptionID == "all")
        #expect(try phone.receivePushes().isEmpty)
        phone.signOut()
        #expect(throws: CKError.self) { try phone.receivePushes() }
    }

    @Test func aProcessCanBeOneDeviceOnAllItsThreads() async {
        // In a process of its own, because other tests want a process without a container.
        await #expect(processExitsWith: .success) {
            let phone = TestCloud().device(user: "ada")
            phone.makeDefault()
            let isDefault = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(returning: CKContainer.default() === phone.container)
                }
            }
            exit(isDefault ? 0 : 1)
        }
    }

    @Test func theAppsOwnContainerIsTheDevices() async throws {
        let phone = TestCloud().device(user: "ada")
        let record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "1"))
        try await phone.asDefault {
            #expect(CKContainer.default() === phone.container)
            let named = CKContainer(identifier: "iCloud.com.example.todo")
            #expect(named.containerIdentifier == "iCloud.com.example.todo")
            try await named.privateCloudDatabase.save(record)
            let fetched = try await Task {
                try await CKContainer.default().privateCloudDatabase.record(for: record.recordID)
            }
            .value
            #expect(fetched.recordID == record.recordID)
        }
        phone.asDefault { #expect(CKContainer.default() === phone.container) }
        #expect(CKContainer.default() !== phone.container)
    }
}

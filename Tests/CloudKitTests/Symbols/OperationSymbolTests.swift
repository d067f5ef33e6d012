import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// What operations are made of, and each block that the other tests don't set.
@Suite struct OperationSymbolTests {
    @Test func initializersKeepWhatTheyAreGiven() {
        let record = CKRecord(recordType: "todo")
        let (recordID, zone) = (record.recordID, CKRecordZone(zoneName: "todos"))
        let modify = CKModifyRecordsOperation(recordsToSave: [record], recordIDsToDelete: [recordID])
        #expect(modify.recordsToSave == [record] && modify.recordIDsToDelete == [recordID] && modify.isAtomic)
        #expect(modify.savePolicy == CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged)
        #expect(modify.clientChangeTokenData == nil && CKModifyRecordsOperation().recordsToSave == nil)
        let fetch = CKFetchRecordsOperation(recordIDs: [recordID])
        #expect(fetch.recordIDs == [recordID] && fetch.desiredKeys == nil)
        let zones = CKModifyRecordZonesOperation(
            recordZonesToSave: [zone], recordZoneIDsToDelete: [zone.zoneID])
        #expect(zones.recordZonesToSave == [zone] && zones.recordZoneIDsToDelete == [zone.zoneID])
        #expect(CKFetchRecordZonesOperation(recordZoneIDs: [zone.zoneID]).recordZoneIDs == [zone.zoneID])
        #expect(CKFetchRecordZonesOperation.fetchAllRecordZonesOperation().recordZoneIDs == nil)
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        let subscriptions = CKModifySubscriptionsOperation(
            subscriptionsToSave: [subscription], subscriptionIDsToDelete: ["old"])
        #expect(subscriptions.subscriptionsToSave == [subscription])
        #expect(subscriptions.subscriptionIDsToDelete == ["old"])
        #expect(CKFetchSubscriptionsOperation(subscriptionIDs: ["all"]).subscriptionIDs == ["all"])
        #expect(CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation().subscriptionIDs == nil)
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(value: true))
        let find = CKQueryOperation(query: query)
        #expect(find.query === query && find.cursor == nil && find.zoneID == nil && find.desiredKeys == nil)
        #expect(
            find.resultsLimit == CKQueryOperation.maximumResults
                && query.predicate == NSPredicate(value: true))
        let changes = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        #expect(
            changes.previousServerChangeToken == nil && changes.fetchAllChanges && changes.resultsLimit == 0)
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            previousServerChangeToken: nil, resultsLimit: 3, desiredKeys: ["title"])
        let zoneChanges = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zone.zoneID], configurationsByRecordZoneID: [zone.zoneID: configuration])
        #expect(zoneChanges.recordZoneIDs == [zone.zoneID] && zoneChanges.fetchAllChanges)
        #expect(zoneChanges.configurationsByRecordZoneID?[zone.zoneID]?.resultsLimit == 3)
        #expect(configuration.desiredKeys == ["title"] && configuration.previousServerChangeToken == nil)
        let copy = configuration.copy() as? CKFetchRecordZoneChangesConfiguration
        copy?.resultsLimit = 4
        #expect(configuration.resultsLimit == 3 && copy != configuration)
        #expect(CKFetchRecordZoneChangesOperation.ZoneConfiguration().resultsLimit == nil)
        #expect(CKFetchWebAuthTokenOperation(apiToken: "k").apiToken == "k")
    }

    @Test func anOperationWithoutADatabaseUsesTheDefaultContainersPrivateOne() async {
        let operation: CKOperation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "1")])
        let other: CKOperation = CKFetchRecordsOperation()
        #expect(operation.operationID != other.operationID && operation.isAsynchronous)
        let ended = await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume(returning: operation.isFinished) }
            operation.start()
        }
        #expect(ended && !operation.isExecuting)
    }

    @Test func aConfigurationIsCopiedWithItsValues() throws {
        let configuration = CKOperation.Configuration()
        #expect(configuration.allowsCellularAccess && !configuration.isLongLived)
        #expect(configuration.container == nil && configuration.qualityOfService == .default)
        configuration.allowsCellularAccess = false
        configuration.qualityOfService = .utility
        configuration.timeoutIntervalForRequest = 5
        configuration.timeoutIntervalForResource = 50
        let container = CKContainer(identifier: "iCloud.test")
        configuration.container = container
        let copy = try #require(configuration.copy() as? CKOperationConfiguration)
        #expect(
            !copy.allowsCellularAccess && copy.container === container && copy.qualityOfService == .utility)
        #expect(copy.timeoutIntervalForRequest == 5 && copy.timeoutIntervalForResource == 50)
        copy.allowsCellularAccess = true
        #expect(!configuration.allowsCellularAccess)
    }

    @Test func zonesAreReportedOneByOneAndThenTheEnd() async throws {
        let devices = try await TwoDevices()
        let told = Collected<String>()
        let modify = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneName: "new")], recordZoneIDsToDelete: [devices.zoneID])
        modify.perRecordZoneSaveBlock = { told.append("save \($0.zoneName) \($1.isSuccess)") }
        modify.perRecordZoneDeleteBlock = { told.append("delete \($0.zoneName) \($1.isSuccess)") }
        modify.modifyRecordZonesResultBlock = { told.append("end \($0.isSuccess)") }
        devices.phone.add(modify)
        let fetch = CKFetchRecordZonesOperation(recordZoneIDs: [devices.zoneID])
        fetch.perRecordZoneResultBlock = { told.append("fetch \($0.zoneName) \($1.code == .zoneNotFound)") }
        fetch.fetchRecordZonesResultBlock = { told.append("end \($0.isSuccess)") }
        devices.phone.add(fetch)
        #expect(
            told.all == [
                "save new true", "delete todos true", "end true", "fetch todos true", "end true",
            ])
    }

    @Test func subscriptionsAreReportedOneByOneAndThenTheEnd() async throws {
        let devices = try await TwoDevices()
        try await devices.phone.save(CKDatabaseSubscription(subscriptionID: "old"))
        let told = Collected<String>()
        let modify = CKModifySubscriptionsOperation(
            subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "new")],
            subscriptionIDsToDelete: ["old"])
        modify.perSubscriptionSaveBlock = { told.append("save \($0) \($1.isSuccess)") }
        modify.perSubscriptionDeleteBlock = { told.append("delete \($0) \($1.isSuccess)") }
        modify.modifySubscriptionsResultBlock = { told.append("end \($0.isSuccess)") }
        devices.phone.add(modify)
        let fetch = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        fetch.perSubscriptionResultBlock = { told.append("fetch \($0) \($1.isSuccess)") }
        fetch.fetchSubscriptionsResultBlock = { told.append("end \($0.isSuccess)") }
        devices.phone.add(fetch)
        #expect(told.all == ["save new true", "delete old true", "end true", "fetch new true", "end true"])
    }

    @Test(arguments: Cloud.allCases) func desiredKeysOfAFetchAreAllThatComes(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        record["n"] = 1
        try await devices.phone.save(record)
        let keys = Collected<[String]>()
        for desired in [nil, [], ["n"]] as [[CKRecord.FieldKey]?] {
            let fetch = CKFetchRecordsOperation(recordIDs: [record.recordID])
            fetch.desiredKeys = desired
            fetch.perRecordResultBlock = { _, result in keys.append((try? result.get().allKeys()) ?? ["-"]) }
            devices.laptop.add(fetch)
        }
        #expect(keys.all == [["n", "title"], [], ["n"]])
    }

    @Test func aQueryOperationContinuesFromItsCursorWithItsKeys() async throws {
        let devices = try await TwoDevices()
        let records = (0..<3).map { devices.record("\($0)", title: "t") }
        _ = try await devices.phone.modifyRecords(saving: records, deleting: [])
        let first = CKQueryOperation(query: CKQuery(recordType: "todo", predicate: NSPredicate(value: true)))
        first.resultsLimit = 2
        first.zoneID = devices.zoneID
        let cursors = Collected<CKQueryOperation.Cursor?>()
        first.queryResultBlock = { cursors.append(try? $0.get()) }
        devices.phone.add(first)
        let second = CKQueryOperation(cursor: try #require(cursors.all.first ?? nil))
        #expect(second.cursor != nil && second.query == nil)
        second.desiredKeys = []
        let keys = Collected<[String]>()
        second.recordMatchedBlock = { _, result in keys.append((try? result.get().allKeys()) ?? ["-"]) }
        second.queryResultBlock = { cursors.append(try? $0.get()) }
        devices.phone.add(second)
        #expect(keys.all == [[]] && cursors.all.last == .some(nil))
        let neither = CKQueryOperation()
        let codes = Collected<CKError.Code?>()
        neither.queryResultBlock = { codes.append($0.code) }
        devices.phone.add(neither)
        #expect(codes.all == [.invalidArguments])
    }

    @Test func aWebAuthTokenIsReportedAsAResult() {
        let cloud = TestCloud()
        let tokens = Collected<String?>()
        let operation = CKFetchWebAuthTokenOperation()
        operation.apiToken = "key"
        operation.fetchWebAuthTokenResultBlock = { tokens.append(try? $0.get()) }
        cloud.device(user: "ada").container.privateCloudDatabase.add(operation)
        #expect(tokens.all.count == 1 && tokens.all.first != .some(nil))
    }

    @available(*, deprecated) @Test func olderOperationsKeepWhatTheyAreGiven() {
        let zoneID = CKRecordZone.ID(zoneName: "todos")
        let changes = CKFetchRecordChangesOperation(recordZoneID: zoneID, previousServerChangeToken: nil)
        changes.desiredKeys = ["title"]
        #expect(changes.recordZoneID == zoneID && changes.previousServerChangeToken == nil)
        #expect(changes.desiredKeys == ["title"] && changes.resultsLimit == 0 && !changes.moreComing)
        let collection = CKFetchNotificationChangesOperation(previousServerChangeToken: nil)
        #expect(collection.previousServerChangeToken == nil && !collection.moreComing)
        #expect(CKMarkNotificationsReadOperation(notificationIDsToMarkRead: []).notificationIDs.isEmpty)
        #expect(
            CKModifyBadgeOperation(badgeValue: 3).badgeValue == 3 && CKModifyBadgeOperation().badgeValue == 0)
    }
}

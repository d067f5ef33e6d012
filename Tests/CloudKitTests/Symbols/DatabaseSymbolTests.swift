import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Each completion form of a database tells what its async form returns.
@Suite struct DatabaseSymbolTests {
    @Test(arguments: Cloud.allCases) func recordsBySeveralForms(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let told = Collected<String>()
        let record = devices.record("1", title: "eggs")
        devices.phone.save(record) { saved, error in
            told.append("save \(saved?.recordID.recordName ?? "-") \(error == nil)")
        }
        devices.phone.fetch(withRecordID: record.recordID) { fetched, error in
            told.append("fetch \(fetched?["title"] as? String ?? "-") \(error == nil)")
        }
        devices.phone.fetch(withRecordIDs: [record.recordID, devices.id("none")], desiredKeys: []) { result in
            let items = (try? result.get()) ?? [:]
            told.append(
                "fetch \(items[record.recordID]?.isSuccess == true) \(items[devices.id("none")]?.code == .unknownItem)"
            )
        }
        devices.phone.modifyRecords(
            saving: [devices.record("2")], deleting: [record.recordID], savePolicy: .allKeys,
            atomically: false
        ) { result in
            let results: CKDatabase.ModifyRecordsResult? = try? result.get()
            told.append("modify \(results?.saveResults.count ?? 0) \(results?.deleteResults.count ?? 0)")
        }
        devices.phone.delete(withRecordID: devices.id("2")) { recordID, error in
            told.append("delete \(recordID?.recordName ?? "-") \(error == nil)")
        }
        #expect(
            told.all == ["save 1 true", "fetch eggs true", "fetch true true", "modify 1 1", "delete 2 true"])
        let partial = try await devices.phone.records(for: [devices.id("2")], desiredKeys: ["title"])
        #expect(partial[devices.id("2")]?.code == .unknownItem)
    }

    @Test(arguments: Cloud.allCases) func zonesBySeveralForms(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let told = Collected<String>()
        let zone = CKRecordZone(zoneName: "more")
        devices.phone.save(zone) { saved, _ in told.append("save \(saved == zone)") }
        devices.phone.fetch(withRecordZoneID: zone.zoneID) { fetched, _ in
            told.append("fetch \(fetched == zone)")
        }
        devices.phone.fetch(withRecordZoneIDs: [zone.zoneID]) { result in
            told.append("fetch \((try? result.get())?[zone.zoneID]?.isSuccess == true)")
        }
        devices.phone.fetchAllRecordZones { zones, _ in told.append("all \(zones?.contains(zone) == true)") }
        devices.phone.modifyRecordZones(saving: [CKRecordZone(zoneName: "third")], deleting: [zone.zoneID]) {
            let results: CKDatabase.ModifyRecordZonesResult? = try? $0.get()
            told.append("modify \(results?.saveResults.count ?? 0) \(results?.deleteResults.count ?? 0)")
        }
        devices.phone.delete(withRecordZoneID: CKRecordZone.ID(zoneName: "third")) { zoneID, _ in
            told.append("delete \(zoneID?.zoneName ?? "-")")
        }
        #expect(
            told.all == [
                "save true", "fetch true", "fetch true", "all true", "modify 1 1", "delete third",
            ])
        #expect(try await devices.phone.allRecordZones().map(\.zoneID).contains(devices.zoneID))
        #expect(try await devices.phone.recordZones(for: [devices.zoneID])[devices.zoneID]?.isSuccess == true)
        let results = try await devices.phone.modifyRecordZones(saving: [zone], deleting: [])
        #expect(results.saveResults[zone.zoneID]?.isSuccess == true)
    }

    @Test(arguments: Cloud.allCases) func subscriptionsBySeveralForms(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let told = Collected<String>()
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        devices.phone.save(subscription) { saved, _ in told.append("save \(saved?.subscriptionID ?? "-")") }
        devices.phone.fetch(withSubscriptionID: "all") { fetched, _ in
            told.append("fetch \(fetched?.subscriptionID ?? "-")")
        }
        devices.phone.fetch(withSubscriptionIDs: ["all", "none"]) { result in
            let items = (try? result.get()) ?? [:]
            told.append("fetch \(items["all"]?.isSuccess == true) \(items["none"]?.code == .unknownItem)")
        }
        devices.phone.fetchAllSubscriptions { all, _ in told.append("all \(all?.count ?? 0)") }
        let other = CKRecordZoneSubscription(zoneID: devices.zoneID, subscriptionID: "zone")
        devices.phone.modifySubscriptions(saving: [other], deleting: ["all"]) { result in
            let results: CKDatabase.ModifySubscriptionsResult? = try? result.get()
            told.append("modify \(results?.saveResults.count ?? 0) \(results?.deleteResults.count ?? 0)")
        }
        devices.phone.delete(withSubscriptionID: "zone") { subscriptionID, _ in
            told.append("delete \(subscriptionID ?? "-")")
        }
        #expect(
            told.all == [
                "save all", "fetch all", "fetch true true", "all 1", "modify 1 1", "delete zone",
            ])
        #expect(try await devices.phone.allSubscriptions().isEmpty)
        let results = try await devices.phone.modifySubscriptions(saving: [subscription], deleting: [])
        #expect(results.saveResults["all"]?.isSuccess == true)
        #expect(try await devices.phone.subscription(for: "all").subscriptionType == .database)
        #expect(try await devices.phone.subscriptions(for: ["all"])["all"]?.isSuccess == true)
        #expect(try await devices.phone.deleteSubscription(withID: "all") == "all")
    }

    @available(*, deprecated) @Test func queriesBySeveralForms() async throws {
        let devices = try await TwoDevices()
        let records = (0..<5).map { devices.record("\($0)", title: "t\($0)") }
        _ = try await devices.phone.modifyRecords(saving: records, deleting: [])
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(format: "title BEGINSWITH 't'"))
        query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let pages = Collected<CKDatabase.QueryPage>()
        devices.phone.fetch(withQuery: query, inZoneWith: devices.zoneID, desiredKeys: [], resultsLimit: 3) {
            if let page = try? $0.get() { pages.append(page) }
        }
        let first = try #require(pages.all.first)
        #expect(first.matchResults.map(\.0.recordName) == ["0", "1", "2"])
        let cursor = try #require(first.queryCursor)
        devices.phone.fetch(withCursor: cursor, desiredKeys: ["title"], resultsLimit: 3) {
            if let page = try? $0.get() { pages.append(page) }
        }
        #expect(pages.all.last?.matchResults.map(\.0.recordName) == ["3", "4"])
        #expect(pages.all.last?.queryCursor == nil)
        let rest = try await devices.phone.records(
            continuingMatchFrom: cursor, desiredKeys: nil, resultsLimit: 1)
        #expect(rest.matchResults.count == 1 && rest.queryCursor != nil)
        let page = try await devices.phone.records(
            matching: query, inZoneWith: nil, desiredKeys: nil, resultsLimit: CKQueryOperation.maximumResults)
        #expect(page.matchResults.count == 5)
        let names = Collected<[String]>()
        devices.phone.perform(query, inZoneWith: devices.zoneID) { records, error in
            if error == nil { names.append((records ?? []).map(\.recordID.recordName)) }
        }
        let old: [CKRecord] = try await devices.phone.records(matching: query, inZoneWith: devices.zoneID)
        #expect(names.all == [["0", "1", "2", "3", "4"]] && old.count == 5)
    }

    @Test(arguments: Cloud.allCases) func changesByBothForms(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let record = try await devices.phone.save(devices.record("1", title: "eggs"))
        let databases = Collected<CKDatabase.DatabaseChangesResult>()
        devices.laptop.fetchDatabaseChanges(since: nil, resultsLimit: 10) {
            if let page = try? $0.get() { databases.append(page) }
        }
        let change: CKDatabase.DatabaseChange.Modification = try #require(
            databases.all.first?.modifications.first)
        #expect(change.zoneID == devices.zoneID && databases.all.first?.moreComing == false)
        let zones = Collected<CKDatabase.RecordZoneChangesResult>()
        devices.laptop.fetchRecordZoneChanges(
            inZoneWith: devices.zoneID, since: nil, desiredKeys: ["title"], resultsLimit: 10
        ) { if let page = try? $0.get() { zones.append(page) } }
        let page = try #require(zones.all.first)
        let changed: CKDatabase.RecordZoneChange.Modification = try #require(
            try page.modificationResultsByID[record.recordID]?.get())
        #expect(changed.record["title"] as? String == "eggs" && !page.moreComing && page.deletions.isEmpty)
        try await devices.phone.deleteRecord(withID: record.recordID)
        let rest = try await devices.laptop.recordZoneChanges(
            inZoneWith: devices.zoneID, since: page.changeToken, desiredKeys: nil, resultsLimit: nil)
        let deletion: CKDatabase.RecordZoneChange.Deletion = try #require(rest.deletions.first)
        #expect(deletion.recordID == record.recordID)
        #expect(deletion.recordType == (way.hasOurKeys ? "todo" : deletion.recordType))
        #expect(Set([deletion, deletion]).count == 1 && Set([change, change]).count == 1)
    }

    @available(*, deprecated) @Test func theReasonOfAZoneDeletionIsReported() async throws {
        let zones = ["deleted", "purged", "encryptedDataReset"].map {
            #"{"zoneID": {"zoneName": "\#($0)"}, "deleted": true, "deletionReason": "\#($0)"}"#
        }
        let transport = ScriptedTransport(
            json: #"{"syncToken": "t", "moreComing": false, "zones": [\#(zones.joined(separator: ","))]}"#)
        let changes = try await transport.database.databaseChanges(since: nil)
        typealias Reason = CKDatabase.DatabaseChange.Deletion.Reason
        #expect(changes.deletions.map(\.reason) == [Reason.deleted, .purged, .encryptedDataReset])
        #expect(changes.deletions.map(\.purged) == [false, true, false])
        #expect(changes.deletions.map(\.zoneID.zoneName) == ["deleted", "purged", "encryptedDataReset"])
    }

    @Test func aLongLivedOperationIsAskedForByItsName() async throws {
        let container = TestCloud().device(user: "ada").container
        let told = Collected<String>()
        let operation = CKFetchRecordsOperation(recordIDs: [])
        operation.longLivedOperationWasPersistedBlock = { told.append("persisted") }
        container.fetchLongLivedOperation(withID: operation.operationID) { (operation: CKOperation?, error) in
            told.append("\(operation == nil) \(error == nil)")
        }
        container.fetchAllLongLivedOperationIDs { ids, error in told.append("\(ids ?? ["?"]) \(error == nil)")
        }
        container.add(operation)
        #expect(told.all == ["true true", "[] true"], "one that isn't long-lived is kept by nobody")
    }

    @Test func anAddedOperationIsOfItsDatabaseAndOneWithoutOfThePrivateOne() async throws {
        let devices = try await TwoDevices()
        let operation: CKDatabaseOperation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        #expect(operation.database == nil && !operation.operationID.isEmpty && operation.isAsynchronous)
        devices.phone.add(operation)
        #expect(operation.database === devices.phone && operation.isFinished && !operation.isExecuting)
        let other = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        #expect(other.operationID != operation.operationID)
        let names = Collected<String>()
        let container = devices.cloud.device(user: "ada").container
        other.perRecordZoneResultBlock = { zoneID, _ in names.append(zoneID.zoneName) }
        container.add(other)
        #expect(names.all.contains("todos"))
    }
}

import CloudKit
import CloudKitTesting
import CloudWire
import CoreLocation
import Foundation
import System
import Testing

/// What an app set on a long-lived operation is what it finds when it takes it up.
@Suite struct LongLivedInputTests {
    private let folder: Folder
    private let container: CKContainer
    private let zoneID = CKRecordZone.ID(zoneName: "todos", ownerName: "_bob")

    init() throws {
        folder = try Folder()
        var connection = CloudConnection(transport: SilentTransport(), execution: .inline, webAuthToken: "t")
        connection.operationStore = LongLivedOperationStore(
            folder: URL(fileURLWithPath: folder.path + "/shelf"))
        container = CKContainer(identifier: "iCloud.test", connection: connection)
    }

    /// Begins `operation` on `database`, which never answers, and takes it up beside it.
    private func again<Kind: CKDatabaseOperation>(_ operation: Kind, _ scope: CKDatabase.Scope = .shared)
        async throws
        -> Kind
    {
        operation.configuration.isLongLived = true
        container.database(with: scope).add(operation)
        let made = try #require(try await container.longLivedOperation(for: operation.operationID) as? Kind)
        #expect(made !== operation && made.operationID == operation.operationID)
        #expect(made.database === container.database(with: scope))
        operation.cancel()
        return made
    }

    private func record() -> CKRecord {
        let record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "1", zoneID: zoneID))
        record["text"] = "eggs"
        record["price"] = 0.1 + 0.2
        record["count"] = Int64.max
        record["date"] = Date(timeIntervalSince1970: 1_234_567_890.123)
        record["data"] = Data([0, 255, 10])
        record["list"] = ["a", "b"]
        record["place"] = CLLocation(latitude: 1.5, longitude: -2.25)
        record["friend"] = CKRecord.Reference(recordID: record.recordID, action: .deleteSelf)
        record["none"] = nil
        record.encryptedValues["secret"] = "word"
        record.setParent(CKRecord.ID(recordName: "p", zoneID: zoneID))
        return record
    }

    @Test func aSaveComesBackWithItsRecordsPolicyAndConfiguration() async throws {
        let operation = CKModifyRecordsOperation(
            recordsToSave: [record()], recordIDsToDelete: [CKRecord.ID(recordName: "2", zoneID: zoneID)])
        operation.savePolicy = .allKeys
        operation.isAtomic = false
        operation.clientChangeTokenData = Data([1, 2])
        operation.configuration.timeoutIntervalForRequest = 7
        operation.configuration.allowsCellularAccess = false
        let group = CKOperationGroup()
        group.name = "import"
        group.defaultConfiguration.qualityOfService = .utility
        operation.group = group

        let made = try await again(operation, .private)
        #expect(made.savePolicy == .allKeys && !made.isAtomic && made.clientChangeTokenData == Data([1, 2]))
        #expect(made.recordIDsToDelete == operation.recordIDsToDelete)
        #expect(made.configuration.timeoutIntervalForRequest == 7 && !made.configuration.allowsCellularAccess)
        #expect(made.configuration.timeoutIntervalForResource == 604_800)
        #expect(made.qualityOfService == .utility && made.group?.operationGroupID == group.operationGroupID)
        let kept = try #require(made.recordsToSave?.first)
        let old = record()
        #expect(kept.changedKeys() == old.changedKeys() && kept.allKeys() == old.allKeys())
        #expect(kept.encryptedValues.changedKeys() == ["secret"] && kept.parent == old.parent)
        let place: CLLocation? = kept["place"]
        #expect(place?.coordinate.latitude == 1.5 && place?.coordinate.longitude == -2.25)
        for key in old.allKeys() where key != "place" {
            #expect(kept.state.plain[key] == old.state.plain[key], "\(key)")
        }
    }

    @Test func noFieldsAndAllFieldsStayApart() async throws {
        let ids = [CKRecord.ID(recordName: "1", zoneID: zoneID)]
        #expect(try await again(CKFetchRecordsOperation(recordIDs: ids)).desiredKeys == nil)
        let none = CKFetchRecordsOperation(recordIDs: ids)
        none.desiredKeys = []
        #expect(try await again(none).desiredKeys == [])
    }

    @Test func fetchesComeBackWithWhatTheyFetch() async throws {
        let fetch = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "2", zoneID: zoneID)])
        fetch.desiredKeys = ["text"]
        let records = try await again(fetch)
        #expect(records.recordIDs == fetch.recordIDs && records.desiredKeys == ["text"])

        let query = CKQuery(
            recordType: "todo", predicate: NSPredicate(format: "text IN %@ AND price > %f", ["a"], 1.5))
        query.sortDescriptors = [NSSortDescriptor(key: "text", ascending: false)]
        let asked = CKQueryOperation(query: query)
        asked.zoneID = zoneID
        asked.resultsLimit = 9
        asked.desiredKeys = ["text"]
        let again = try await again(asked)
        #expect(again.query?.recordType == "todo" && again.query?.description == query.description)
        #expect(again.query?.sortDescriptors?.first?.key == "text")
        #expect(again.query?.sortDescriptors?.first?.ascending == false)
        #expect(again.zoneID == zoneID && again.resultsLimit == 9 && again.desiredKeys == ["text"])
    }

    @Test func fetchesOfChangesComeBackWithTheirTokens() async throws {
        let token = CKServerChangeToken(token: "here")
        let zones = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID],
            configurationsByRecordZoneID: [
                zoneID: .init(previousServerChangeToken: token, resultsLimit: 3, desiredKeys: ["text"])
            ])
        zones.fetchAllChanges = false
        let made = try await again(zones)
        let configuration = try #require(made.configurationsByRecordZoneID?[zoneID])
        #expect(made.recordZoneIDs == [zoneID] && !made.fetchAllChanges)
        #expect(configuration.previousServerChangeToken == token && configuration.resultsLimit == 3)
        #expect(configuration.desiredKeys == ["text"])

        let database = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
        database.resultsLimit = 4
        database.fetchAllChanges = false
        let again = try await again(database)
        #expect(again.previousServerChangeToken == token && again.resultsLimit == 4 && !again.fetchAllChanges)
    }

    @Test func zonesAndSubscriptionsComeBack() async throws {
        let zones = try await again(
            CKModifyRecordZonesOperation(
                recordZonesToSave: [CKRecordZone(zoneName: "a")], recordZoneIDsToDelete: [zoneID]), .private)
        #expect(
            zones.recordZonesToSave?.map(\.zoneID.zoneName) == ["a"]
                && zones.recordZoneIDsToDelete == [zoneID])
        #expect(
            try await again(CKFetchRecordZonesOperation(recordZoneIDs: [zoneID])).recordZoneIDs == [zoneID])
        #expect(
            try await again(CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()).recordZoneIDs == nil)

        let query = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(format: "text == %@", "a"), subscriptionID: "q",
            options: [.firesOnRecordUpdate])
        let subscriptions = try await again(
            CKModifySubscriptionsOperation(
                subscriptionsToSave: [
                    query, CKDatabaseSubscription(subscriptionID: "d"),
                    CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "z"),
                ], subscriptionIDsToDelete: ["gone"]), .private)
        #expect(subscriptions.subscriptionsToSave?.map(\.subscriptionID) == ["q", "d", "z"])
        let kept = subscriptions.subscriptionsToSave?.first as? CKQuerySubscription
        #expect(kept?.querySubscriptionOptions == [.firesOnRecordUpdate] && kept?.recordType == "todo")
        #expect(subscriptions.subscriptionIDsToDelete == ["gone"])
        let fetch = try await again(CKFetchSubscriptionsOperation(subscriptionIDs: ["q"]))
        #expect(fetch.subscriptionIDs == ["q"])
    }

    @Test func aConfigurationIsCopiedWhenItIsSet() {
        let configuration = CKOperation.Configuration()
        let operation = CKFetchRecordsOperation()
        operation.configuration = configuration
        configuration.isLongLived = true
        #expect(!operation.configuration.isLongLived)
        operation.configuration.isLongLived = true
        #expect(operation.configuration.isLongLived)
    }
}

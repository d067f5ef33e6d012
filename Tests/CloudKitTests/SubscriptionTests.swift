import CloudKit
import CloudWire
import Foundation
import Testing

/// Subscriptions against a server of which the test writes every answer.
@Suite struct SubscriptionTests {
    private func body(_ transport: ScriptedTransport, _ index: Int = 0) -> String {
        String(decoding: transport.requests[index].body, as: UTF8.self)
    }

    @Test func subscriptionsAreSavedAndDeletedInOneRequest() async throws {
        let transport = ScriptedTransport(
            json: """
                {"subscriptions": [{"subscriptionID": "all", "subscriptionType": "database"},
                {"subscriptionID": "z", "reason": "no such zone", "serverErrorCode": "ZONE_NOT_FOUND"},
                {"subscriptionID": "old", "deleted": true},
                {"subscriptionID": "none", "reason": "none such", "serverErrorCode": "NOT_FOUND"}]}
                """)
        let all = CKDatabaseSubscription(subscriptionID: "all")
        let info = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
        all.notificationInfo = info
        let zone = CKRecordZoneSubscription(zoneID: .init(zoneName: "todos"), subscriptionID: "z")
        let (saves, deletions) = try await transport.database.modifySubscriptions(
            saving: [all, zone], deleting: ["old", "none"])
        #expect(try saves["all"]?.get() == all)
        #expect(saves["z"]?.code == .zoneNotFound)
        #expect(deletions["old"]?.isSuccess == true)
        #expect(deletions["none"]?.code == .unknownItem)
        #expect(transport.requests[0].path.hasSuffix("/private/subscriptions/modify"))
        #expect(
            body(transport) == #"{"operations":[{"operationType":"create","subscription":{"#
                + #""subscriptionID":"all","subscriptionType":"database","#
                + #""notificationInfo":{"shouldSendContentAvailable":true}}},"#
                + #"{"operationType":"create","subscription":{"subscriptionID":"z","subscriptionType":"zone","#
                + #""zoneID":{"zoneName":"todos"}}},"#
                + #"{"operationType":"delete","subscription":{"subscriptionID":"old"}},"#
                + #"{"operationType":"delete","subscription":{"subscriptionID":"none"}}]}"#)
    }

    @Test func theSingleFormsThrowTheSubscriptionsOwnError() async throws {
        let one = #"{"subscriptions": [{"subscriptionID": "a", "subscriptionType": "database"}]}"#
        let error = #"{"subscriptions": [{"subscriptionID": "a", "serverErrorCode": "NOT_FOUND"}]}"#
        let transport = ScriptedTransport(json: one, one, one, error, error, error)
        let database = transport.database
        let subscription = CKDatabaseSubscription(subscriptionID: "a")
        #expect(try await database.save(subscription) == subscription)
        #expect(try await database.subscription(for: "a") == subscription)
        #expect(try await database.deleteSubscription(withID: "a") == "a")
        #expect(await codeThrown { try await database.save(subscription) } == .unknownItem)
        #expect(await codeThrown { try await database.subscription(for: "a") } == .unknownItem)
        #expect(await codeThrown { try await database.deleteSubscription(withID: "a") } == .unknownItem)
    }

    @Test func allSubscriptionsAreFetchedPageByPage() async throws {
        let transport = ScriptedTransport(
            json: """
                {"subscriptions": [{"subscriptionID": "b", "subscriptionType": "zone",
                "zoneID": {"zoneName": "todos", "ownerRecordName": "_1"}}], "moreComing": true, "syncToken": "AQ=="}
                """,
            """
            {"subscriptions": [{"subscriptionID": "a", "subscriptionType": "database"},
            {"subscriptionID": "q", "subscriptionType": "query"}], "moreComing": false}
            """)
        let all = try await transport.database.allSubscriptions()
        #expect(all.map(\.subscriptionID) == ["a", "b"])
        #expect((all[1] as? CKRecordZoneSubscription)?.zoneID == CKRecordZone.ID(zoneName: "todos"))
        #expect(body(transport, 1) == #"{"syncToken":"AQ=="}"#)
    }

    @Test func aSubscriptionOfATypeThatIsNotThereFailsForItselfOnly() async throws {
        let transport = ScriptedTransport(
            json: """
                {"subscriptions": [{"subscriptionID": "a", "subscriptionType": "database"},
                {"subscriptionID": "q", "subscriptionType": "query"}]}
                """)
        let fetched = try await transport.database.subscriptions(for: ["a", "q"])
        #expect(fetched["a"]?.isSuccess == true && fetched["q"]?.code == .incompatibleVersion)
    }

    @Test func thePublicDatabaseTakesNoDatabaseSubscription() async throws {
        let transport = ScriptedTransport([])
        let container = CKContainer(
            identifier: "iCloud.test",
            connection: CloudConnection(transport: transport, execution: .inline, webAuthToken: "t"))
        let code = await codeThrown {
            try await container.publicCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "a"))
        }
        #expect(code == .badDatabase && transport.requests.isEmpty)
    }

    @available(*, deprecated) @Test func theOldSubscriptionBlocksGetPartialFailure() {
        let transport = ScriptedTransport(
            json: #"{"subscriptions": [{"subscriptionID": "a", "subscriptionType": "database"}, "#
                + #"{"subscriptionID": "b", "serverErrorCode": "NOT_FOUND"}]}"#,
            #"{"subscriptions": [{"subscriptionID": "a", "subscriptionType": "database"}, "#
                + #"{"subscriptionID": "b", "serverErrorCode": "NOT_FOUND"}]}"#)
        let said = Collected<String>()
        let modify = CKModifySubscriptionsOperation(
            subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "a")],
            subscriptionIDsToDelete: ["b"])
        modify.modifySubscriptionsCompletionBlock = { saved, deleted, error in
            let partial = (error as? CKError)?.partialErrorsByItemID
            said.append(
                "\(saved?.count ?? -1) \(deleted ?? []) \((partial?["b"] as? CKError)?.code.rawValue ?? 0)")
        }
        transport.database.add(modify)
        let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: ["a", "b"])
        fetch.fetchSubscriptionCompletionBlock = { subscriptions, error in
            said.append("\(subscriptions?.count ?? -1) \((error as? CKError)?.code.rawValue ?? 0)")
        }
        transport.database.add(fetch)
        #expect(said.all == ["1 [] 11", "1 2"])
    }

    @Test func anAnswerWithAnotherNumberOfSubscriptionsIsAnErrorAndNoCrash() async {
        let transport = ScriptedTransport(json: #"{"subscriptions": []}"#, #"{"subscriptions": []}"#)
        let database = transport.database
        #expect(
            await codeThrown { try await database.save(CKDatabaseSubscription()) } == .serverResponseLost)
        #expect(await codeThrown { try await database.subscription(for: "a") } == .serverResponseLost)
    }

    // MARK: The classes

    @Test func aSubscriptionComesBackFromAnArchiveAsItWas() throws {
        let all = CKDatabaseSubscription(subscriptionID: "all")
        let info = CKSubscription.NotificationInfo(
            alertBody: "a", titleLocalizationArgs: ["b"], desiredKeys: ["c"], shouldBadge: true)
        all.notificationInfo = info
        let zone = CKRecordZoneSubscription(zoneID: .init(zoneName: "todos", ownerName: "_1"))
        let allAgain = try archived(all)
        #expect(allAgain == all && allAgain.notificationInfo == info)
        let zoneAgain = try archived(zone)
        #expect(zoneAgain == zone && zoneAgain.zoneID == zone.zoneID && zoneAgain.notificationInfo == nil)
        #expect(try archived(info) == info)
    }

    @Test func anArchiveOfAnotherSubscriptionIsNotRead() throws {
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: CKDatabaseSubscription(), requiringSecureCoding: true)
        let coder = try NSKeyedUnarchiver(forReadingFrom: archive)
        coder.requiresSecureCoding = true
        let object = coder.decodeObject(of: [CKDatabaseSubscription.self], forKey: "root")
        #expect(object is CKDatabaseSubscription)
        let empty = NSKeyedArchiver(requiringSecureCoding: true)
        empty.finishEncoding()
        let nothing = try NSKeyedUnarchiver(forReadingFrom: empty.encodedData)
        #expect(CKDatabaseSubscription(coder: nothing) == nil)
        #expect(CKRecordZoneSubscription(coder: nothing) == nil)
        #expect(CKNotificationInfo(coder: nothing) == nil)
    }

    @Test func aCopyIsEqualAndIndependent() {
        let zone = CKRecordZoneSubscription(zoneID: .init(zoneName: "todos"))
        let copy = zone.copy() as? CKRecordZoneSubscription
        #expect(copy == zone && copy !== zone && copy?.zoneID == zone.zoneID)
        copy?.notificationInfo = CKNotificationInfo(alertBody: "b")
        #expect(zone.notificationInfo == nil && copy != zone)
        let info = copy?.notificationInfo
        info?.alertBody = "c"
        #expect(copy?.notificationInfo?.alertBody == "c" && zone.notificationInfo == nil)
    }

    @Test func whatANotificationShowsCanBeSetInItsPlace() throws {
        let info = CKSubscription.NotificationInfo(alertBody: "one")
        let subscription = CKDatabaseSubscription(subscriptionID: "s")
        subscription.notificationInfo = info
        info.alertBody = "two"
        #expect(subscription.notificationInfo?.alertBody == "one", "what is set is copied")
        subscription.notificationInfo?.alertBody = "three"
        subscription.notificationInfo?.shouldSendContentAvailable = true
        #expect(subscription.notificationInfo?.alertBody == "three")
        let copy = try #require(subscription.copy() as? CKDatabaseSubscription)
        #expect(copy == subscription && copy.notificationInfo?.shouldSendContentAvailable == true)
        copy.notificationInfo?.alertBody = "four"
        #expect(subscription.notificationInfo?.alertBody == "three" && copy != subscription)
        #expect(try archived(subscription).notificationInfo?.alertBody == "three")
    }

    private func archived<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        let again = try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
        return try #require(again)
    }
}

import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Every part of a subscription and of what it tells.
@Suite struct NotificationSymbolTests {
    private func info() -> CKSubscription.NotificationInfo {
        CKSubscription.NotificationInfo(
            alertBody: "body", alertLocalizationKey: "key", alertLocalizationArgs: ["a"], title: "title",
            titleLocalizationKey: "titleKey", titleLocalizationArgs: ["b"], subtitle: "subtitle",
            subtitleLocalizationKey: "subtitleKey", subtitleLocalizationArgs: ["c"],
            alertActionLocalizationKey: "action", alertLaunchImage: "image", soundName: "bell",
            desiredKeys: ["title"], shouldBadge: true, shouldSendContentAvailable: true,
            shouldSendMutableContent: true, category: "category", collapseIDKey: "collapse")
    }

    private func check(_ info: CKSubscription.NotificationInfo) {
        #expect(info.alertBody == "body" && info.alertLocalizationKey == "key")
        #expect(info.alertLocalizationArgs == ["a"] && info.title == "title")
        #expect(info.titleLocalizationKey == "titleKey" && info.titleLocalizationArgs == ["b"])
        #expect(info.subtitle == "subtitle" && info.subtitleLocalizationKey == "subtitleKey")
        #expect(info.subtitleLocalizationArgs == ["c"] && info.alertActionLocalizationKey == "action")
        #expect(info.alertLaunchImage == "image" && info.soundName == "bell" && info.desiredKeys == ["title"])
        #expect(info.shouldBadge && info.shouldSendContentAvailable && info.shouldSendMutableContent)
        #expect(info.category == "category" && info.collapseIDKey == "collapse")
    }

    @Test func aNotificationInfoKeepsEveryPart() throws {
        let info = info()
        check(info)
        let copy = try #require(info.copy() as? CKNotificationInfo)
        check(copy)
        #expect(copy == info && copy.hash == info.hash)
        copy.alertBody = nil
        copy.shouldBadge = false
        #expect(copy != info && info.alertBody == "body" && CKNotificationInfo().alertBody == nil)
        let empty = CKSubscription.NotificationInfo()
        empty.alertLocalizationKey = "k"
        empty.alertLocalizationArgs = []
        empty.title = "t"
        empty.subtitle = "s"
        empty.shouldSendMutableContent = true
        #expect(empty.alertLocalizationKey == "k" && empty.title == "t" && empty.subtitle == "s")
        #expect(!empty.shouldBadge && !empty.shouldSendContentAvailable && empty.shouldSendMutableContent)
    }

    @Test(arguments: Cloud.allCases) func theServerGivesASubscriptionBackWithEveryPart(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let zone = CKRecordZoneSubscription(zoneID: devices.zoneID, subscriptionID: "zone")
        zone.notificationInfo = info()
        try await devices.phone.save(zone)
        let fetched = try await devices.laptop.subscription(for: "zone")
        check(try #require(fetched.notificationInfo))
        let sent = try #require(fetched as? CKRecordZoneSubscription)
        #expect(sent.zoneID == devices.zoneID && sent.subscriptionType == .recordZone && sent == zone)
        try await devices.phone.save(devices.record("1", title: "x"))
        let query = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(format: "title == %@", "x"), subscriptionID: "query",
            options: [.firesOnRecordUpdate, .firesOnce])
        query.zoneID = devices.zoneID
        try await devices.phone.save(query)
        let found = try #require(try await devices.laptop.subscription(for: "query") as? CKQuerySubscription)
        #expect(found == query && found.recordType == "todo" && found.zoneID == devices.zoneID)
        #expect(
            found.querySubscriptionOptions == CKQuerySubscription.Options([.firesOnRecordUpdate, .firesOnce]))
        #expect(found.subscriptionType == CKSubscription.SubscriptionType.query)
        #expect(
            found.predicate.evaluate(with: ["title": "x"]) && !found.predicate.evaluate(with: ["title": "y"]))
    }

    @Test func subscriptionsAreEqualWhenTheyWatchTheSame() throws {
        let zoneID = CKRecordZone.ID(zoneName: "todos")
        let zone = CKRecordZoneSubscription(zoneID: zoneID)
        let database = CKDatabaseSubscription()
        #expect(
            !zone.subscriptionID.isEmpty
                && zone.subscriptionID != CKRecordZoneSubscription(zoneID: zoneID).subscriptionID)
        #expect(!database.subscriptionID.isEmpty && database.subscriptionType == .database)
        for subscription in [zone, database] as [CKSubscription] {
            let copy = try #require(subscription.copy() as? CKSubscription)
            #expect(copy == subscription && copy.hash == subscription.hash)
            copy.notificationInfo = CKSubscription.NotificationInfo(alertBody: "x")
            #expect(copy != subscription && subscription.notificationInfo == nil)
            #expect(subscription.description.contains(subscription.subscriptionID))
        }
        zone.recordType = "todo"
        database.recordType = "todo"
        let copies = [zone.copy() as? CKRecordZoneSubscription, nil]
        #expect(copies.first??.recordType == "todo")
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKDatabaseSubscription.self, from: ArchivedClasses.xml(database))
        #expect(read?.recordType == "todo" && read == database)
    }

    @Test func theRecordTypeOfAZoneSubscriptionStaysOnTheDevice() async throws {
        let devices = try await TwoDevices()
        let zone = CKRecordZoneSubscription(zoneID: devices.zoneID, subscriptionID: "zone")
        zone.recordType = "todo"
        try await devices.phone.save(zone)
        #expect(zone.recordType == "todo")
        let fetched = try await devices.phone.subscription(for: "zone") as? CKRecordZoneSubscription
        #expect(fetched != nil && fetched?.recordType == nil)
    }

    @Test func everyPartOfANotificationIsRead() throws {
        let json = """
            {"aps": {"alert": {"body": "b", "loc-key": "k", "loc-args": ["1"], "title": "t", "title-loc-key": "tk",
            "title-loc-args": ["2"], "subtitle": "s", "subtitle-loc-key": "sk", "subtitle-loc-args": ["3"],
            "action-loc-key": "a", "launch-image": "l"}, "badge": 4, "sound": "bell", "category": "c"},
            "ck": {"cid": "iCloud.test", "nid": "n1", "ckuserid": "_ada",
            "qry": {"dbs": 2, "sid": "q", "rid": "42", "zid": "todos", "zoid": "_ada", "fo": 1}}}
            """
        let dictionary = try #require(
            try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let notification = try #require(CKNotification(fromRemoteNotificationDictionary: dictionary))
        #expect(notification.alertBody == "b" && notification.alertLocalizationKey == "k")
        #expect(notification.alertLocalizationArgs == ["1"] && notification.title == "t")
        #expect(notification.titleLocalizationKey == "tk" && notification.titleLocalizationArgs == ["2"])
        #expect(notification.subtitle == "s" && notification.subtitleLocalizationKey == "sk")
        #expect(notification.subtitleLocalizationArgs == ["3"] && notification.badge == 4)
        #expect(notification.alertActionLocalizationKey == "a" && notification.alertLaunchImage == "l")
        #expect(notification.soundName == "bell" && notification.category == "c" && !notification.isPruned)
        #expect(notification.description.contains("n1") && notification.description.contains("q"))
        let query = try #require(notification as? CKQueryNotification)
        #expect(query.queryNotificationReason == CKQueryNotification.Reason.recordCreated)
        #expect(query.notificationType == CKNotification.NotificationType.query && query.recordFields == nil)
        #expect(query.notificationID?.isEqual(notification.notificationID) == true)
        #expect(query.subscriptionOwnerUserRecordID?.recordName == "_ada" && query.databaseScope == .private)
    }

    @Test func everyZoneChangeHasItsBlock() async throws {
        let devices = try await TwoDevices()
        let told = Collected<String>()
        let before = try await devices.laptop.databaseChanges(since: nil)
        try await devices.phone.save(CKRecordZone(zoneName: "new"))
        try await devices.phone.deleteRecordZone(withID: devices.zoneID)
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: before.changeToken)
        #expect(operation.previousServerChangeToken == before.changeToken)
        operation.recordZoneWithIDChangedBlock = { told.append("changed \($0.zoneName)") }
        operation.recordZoneWithIDWasDeletedBlock = { told.append("deleted \($0.zoneName)") }
        operation.recordZoneWithIDWasPurgedBlock = { told.append("purged \($0.zoneName)") }
        operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = {
            told.append("reset \($0.zoneName)")
        }
        devices.laptop.add(operation)
        #expect(told.all.sorted() == ["changed new", "deleted todos"])
    }

    @Test func aPredicateIsMadeOfAFormatAndAListOfArguments() throws {
        let predicate = NSPredicate(format: "%K == %@ AND n IN %@", argumentArray: ["title", "x", [1, 2]])
        #expect(predicate.evaluate(with: ["title": "x", "n": 2]))
        #expect(!predicate.evaluate(with: ["title": "x", "n": 3]))
        let sort = NSSortDescriptor(key: "n", ascending: false)
        #expect(sort.key == "n" && !sort.ascending)
    }
}

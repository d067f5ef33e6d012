import CloudKit
import CloudWire
import Foundation
import Testing

@Suite struct NotificationTests {
    private func dictionary(_ json: String) throws -> [AnyHashable: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    @Test func aDatabaseNotificationIsReadFromItsDictionary() throws {
        let dictionary = try dictionary(
            """
            {"aps": {"content-available": 1, "badge": 3, "sound": "bell", "category": "c", "alert": {"body": "New",
            "title-loc-key": "T", "title-loc-args": ["a"], "subtitle": "S", "action-loc-key": "A",
            "launch-image": "L"}},
            "ck": {"ce": 2, "cid": "iCloud.test", "ckuserid": "_1", "nid": "n1", "p": 1,
            "met": {"dbs": 2, "sid": "all"}}}
            """)
        let notification = try #require(CKNotification(fromRemoteNotificationDictionary: dictionary))
        let database = try #require(notification as? CKDatabaseNotification)
        #expect(database.databaseScope == .private && database.notificationType == .database)
        #expect(notification.subscriptionID == "all" && notification.containerIdentifier == "iCloud.test")
        #expect(notification.subscriptionOwnerUserRecordID?.recordName == "_1")
        #expect(notification.notificationID == CKNotificationID("n1") && notification.isPruned)
        #expect(notification.alertBody == "New" && notification.titleLocalizationKey == "T")
        #expect(notification.titleLocalizationArgs == ["a"] && notification.subtitle == "S")
        #expect(notification.badge == 3 && notification.soundName == "bell" && notification.category == "c")
        #expect(notification.alertActionLocalizationKey == "A" && notification.alertLaunchImage == "L")
    }

    @Test func aZoneNotificationNamesItsZone() throws {
        let own = try dictionary(
            #"{"ck": {"fet": {"dbs": 2, "sid": "z", "zid": "todos", "zoid": "_me"}}, "mine": 1}"#)
        let zone = CKNotification(fromRemoteNotificationDictionary: own) as? CKRecordZoneNotification
        #expect(zone?.recordZoneID == CKRecordZone.ID(zoneName: "todos"), "the user's own zone")
        let shared = try dictionary(#"{"ck": {"fet": {"dbs": 3, "zid": "todos", "zoid": "_other"}}}"#)
        let sharedZone = CKRecordZoneNotification(fromRemoteNotificationDictionary: shared)
        #expect(sharedZone?.recordZoneID == CKRecordZone.ID(zoneName: "todos", ownerName: "_other"))
        #expect(sharedZone?.databaseScope == .shared && sharedZone?.notificationType == .recordZone)
    }

    @Test func aQueryNotificationNamesItsRecord() throws {
        let dictionary = try dictionary(
            """
            {"ck": {"qry": {"dbs": 0, "sid": "q", "rid": "42", "zid": "_defaultZone", "zoid": "_me", "fo": 3,
            "af": {"title": "Eggs", "n": 2, "gone": null}}}}
            """)
        let query = try #require(CKQueryNotification(fromRemoteNotificationDictionary: dictionary))
        #expect(query.databaseScope == .public && query.queryNotificationReason == .recordDeleted)
        #expect(query.recordID == CKRecord.ID(recordName: "42"))
        #expect(query.recordFields?["title"] as? String == "Eggs")
        #expect(query.recordFields?["n"] as? Int == 2 && query.recordFields?.count == 2)
    }

    @Test func theInitializerOfASubclassTakesItsOwnKindOnly() throws {
        let database = try dictionary(#"{"ck": {"met": {"dbs": 2}}}"#)
        #expect(CKDatabaseNotification(fromRemoteNotificationDictionary: database) != nil)
        #expect(CKQueryNotification(fromRemoteNotificationDictionary: database) == nil)
        #expect(CKRecordZoneNotification(fromRemoteNotificationDictionary: database) == nil)
    }

    @Test func aNotificationRoundTripsThroughADictionary() throws {
        let payload = PushPayload(
            ck: PushCloudPart(
                containerIdentifier: "c", userRecordName: "_1", notificationID: "n",
                cause: PushCause(
                    kind: .zone, database: .shared, subscriptionID: "s",
                    zoneID: ZoneID(zoneName: "z", ownerRecordName: "_2"))))
        let notification = try #require(CKNotification.of(payload))
        let again = CKNotification(
            fromRemoteNotificationDictionary: notification.remoteNotificationDictionary)
        #expect((again as? CKRecordZoneNotification)?.recordZoneID?.ownerName == "_2")
        #expect(again?.notificationID == notification.notificationID && again?.subscriptionID == "s")
    }

    @Test(arguments: [
        #"{}"#, #"{"ck": null}"#, #"{"ck": "met"}"#, #"{"ck": {}}"#, #"{"ck": {"met": {}}}"#,
        #"{"ck": {"met": {"dbs": 9}}}"#, #"{"ck": {"met": {"dbs": "2"}}}"#, #"{"ck": {"new": {"dbs": 2}}}"#,
        #"{"aps": {"alert": "x"}}"#, #"{"ck": {"met": {"dbs": 2}}, "aps": 1}"#,
    ])
    func aDictionaryThatIsNoneOfTheCloudsGivesNil(json: String) throws {
        #expect(CKNotification(fromRemoteNotificationDictionary: try dictionary(json)) == nil)
    }

    @Test func aDictionaryThatIsNoJSONGivesNilOrItsCloudPart() {
        #expect(CKNotification(fromRemoteNotificationDictionary: [1: 2]) == nil)
        #expect(
            CKNotification(fromRemoteNotificationDictionary: ["ck": Date(timeIntervalSince1970: 0)]) == nil)
        #expect(CKNotification(fromRemoteNotificationDictionary: ["ck": ["met": Double.nan]]) == nil)
        let own: [AnyHashable: Any] = [
            "ck": ["met": ["dbs": 2]] as [AnyHashable: Any], "app": Date(timeIntervalSince1970: 0), 7: 8,
        ]
        #expect(CKNotification(fromRemoteNotificationDictionary: own) is CKDatabaseNotification)
    }

    @Test func aNotificationsNameComesBackFromAnArchive() throws {
        let name = CKNotificationID("n")
        let data = try NSKeyedArchiver.archivedData(withRootObject: name, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKNotificationID.self, from: data) == name)
    }
}

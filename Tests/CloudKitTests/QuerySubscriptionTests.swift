import CloudKit
import CloudKitAdditions
import CloudKitTesting
import CloudWire
import CoreLocation
import Foundation
import Testing

@Suite struct QuerySubscriptionTests {
    private static func devices(_ way: Cloud) async throws -> TwoDevices {
        let devices = try await TwoDevices(way)
        let first = devices.record("first", title: "eggs")
        first["count"] = 1
        try await devices.phone.save(first)
        return devices
    }

    @Test(arguments: Cloud.allCases) func aSubscriptionComesBackAsItWasSaved(way: Cloud) async throws {
        let devices = try await Self.devices(way)
        let predicate = NSPredicate(
            format: "title BEGINSWITH 'e' AND count IN %@ AND NOT (title IN {'a', 'b'})", [1, 2])
        let subscription = CKQuerySubscription(
            recordType: "todo", predicate: predicate, subscriptionID: "eggs",
            options: [.firesOnRecordCreation, .firesOnRecordDeletion, .firesOnce])
        subscription.zoneID = devices.zoneID
        subscription.notificationInfo = CKSubscription.NotificationInfo(
            alertBody: "An egg", desiredKeys: ["title"])
        try await devices.phone.save(subscription)
        let found = try await devices.laptop.subscription(for: "eggs")
        let fetched = try #require(found as? CKQuerySubscription)
        #expect(fetched.recordType == "todo" && fetched.zoneID == devices.zoneID)
        #expect(fetched.querySubscriptionOptions == subscription.querySubscriptionOptions)
        #expect(
            fetched.notificationInfo == subscription.notificationInfo && fetched.subscriptionType == .query)
        let record = devices.record("r", title: "eggs")
        for (count, isFound) in [(1, true), (3, false)] {
            record["count"] = count
            #expect(fetched.predicate.evaluate(with: record) == isFound)
        }
        #expect(try await devices.laptop.allSubscriptions() == [fetched])
    }

    @Test func onlyRecordsThatMatchTheQueryAreNotified() async throws {
        let devices = try await TwoDevices(TestCloud(execution: .threads))
        let first = devices.record("first", title: "eggs")
        first["count"] = 1
        try await devices.phone.save(first)
        let watcher = devices.cloud.device(user: "ada").container
        let subscription = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(format: "count > 5"), subscriptionID: "many")
        subscription.notificationInfo = CKSubscription.NotificationInfo(desiredKeys: ["title"])
        try await watcher.privateCloudDatabase.save(subscription)
        var events = watcher.notifications().makeAsyncIterator()
        guard case .listening? = await events.next() else {
            Issue.record("the stream doesn't listen")
            return
        }
        for (name, count) in [("few", 2), ("many", 9)] {
            let record = devices.record(name, title: name)
            record["count"] = count
            try await devices.phone.save(record)
        }
        let event = await events.next()
        guard case .notification(let notification as CKQueryNotification)? = event else {
            Issue.record("\(String(describing: event))")
            return
        }
        #expect(
            notification.subscriptionID == "many" && notification.queryNotificationReason == .recordCreated)
        #expect(notification.recordID == devices.id("many") && notification.databaseScope == .private)
        #expect(notification.recordFields?["title"] as? String == "many")
    }

    @Test func whatCannotBeWatchedIsRefusedWithoutARequest() async throws {
        let devices = try await TwoDevices()
        let requestsBefore = devices.cloud.requests.count
        let nothingFires = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(value: true), subscriptionID: "a",
            options: [.firesOnce])
        let never = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(value: false), subscriptionID: "b")
        let either = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(format: "a == 1 OR b == 1"), subscriptionID: "c")
        let (saves, _) = try await devices.phone.modifySubscriptions(
            saving: [nothingFires, never, either], deleting: [])
        #expect(
            ["a", "b", "c"].map { saves[$0]?.code } == [
                .invalidArguments, .invalidArguments, .invalidArguments,
            ])
        let shared = devices.cloud.device(user: "ada").container.sharedCloudDatabase
        let all = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(value: true), subscriptionID: "d")
        #expect(await codeThrown { try await shared.save(all) } == .badDatabase)
        #expect(devices.cloud.requests.count == requestsBefore)
    }

    @Test func aSubscriptionSurvivesItsArchiveAndACopy() throws {
        let subscription = CKQuerySubscription(
            recordType: "todo",
            predicate: NSPredicate(
                format: "distanceToLocation:fromLocation:(place, %@) < 500",
                CLLocation(latitude: 1, longitude: 2)),
            subscriptionID: "near", options: [.firesOnRecordUpdate])
        let data = try NSKeyedArchiver.archivedData(withRootObject: subscription, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuerySubscription.self, from: data)
        #expect(read == subscription && subscription.copy() as? CKQuerySubscription == subscription)
        #expect(read?.querySubscriptionOptions == .firesOnRecordUpdate && read?.zoneID == nil)
        let other = CKQuerySubscription(
            recordType: "todo", predicate: NSPredicate(value: true), subscriptionID: "near",
            options: [.firesOnRecordUpdate])
        #expect(read != other)
    }
}

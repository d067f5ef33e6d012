import CloudKit
import CloudKitAdditions
import CloudKitTesting
import Testing
import Waiting

/// The stream of notifications that an app gets.
@Suite struct NotificationStreamTests {
    /// A zone, and a subscription of the second device to the whole database.
    private func begin(_ cloud: TestCloud) async throws -> (phone: CKContainer, laptop: CKContainer) {
        let phone = cloud.device(user: "ada").container
        let laptop = cloud.device(user: "ada").container
        try await phone.privateCloudDatabase.save(CKRecordZone(zoneName: "todos"))
        try await laptop.privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "all"))
        return (phone, laptop)
    }

    private func save(_ name: String, in container: CKContainer) async throws {
        let recordID = CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: "todos"))
        try await container.privateCloudDatabase.save(CKRecord(recordType: "todo", recordID: recordID))
    }

    @Test func aStreamBeginsWithListeningAndReportsTheOtherDevicesChanges()
        async throws
    {
        let cloud = TestCloud(execution: .threads)
        let (phone, laptop) = try await begin(cloud)
        var events = laptop.notifications().makeAsyncIterator()
        #expect(name(await events.next()) == "listening")
        try await save("1", in: phone)
        let event = await events.next()
        guard case .notification(let notification as CKDatabaseNotification) = event else {
            Issue.record("\(name(event))")
            return
        }
        #expect(notification.subscriptionID == "all" && notification.databaseScope == .private)
        // A restart before the device waits again would cut no wait, and the next one would end by its limit.
        try await Polling.until { cloud.waitCount > 0 }
        try cloud.restartService()
        #expect(name(await events.next()) == "interrupted 4")
        #expect(name(await events.next()) == "listening")
    }

    @Test func theWaitEndsWithTheLastStream() async throws {
        let cloud = TestCloud()
        let (_, laptop) = try await begin(cloud)
        var first: AsyncStream<CloudNotificationEvent>? = laptop.notifications()
        var second: AsyncStream<CloudNotificationEvent>? = laptop.notifications()
        #expect(first != nil && second != nil && cloud.waitCount == 1)
        first = nil
        #expect(cloud.waitCount == 1)
        second = nil
        #expect(cloud.waitCount == 0)
    }

    @Test func aConsumerThatIsFarBehindMustFetchAgain() async throws {
        let cloud = TestCloud()
        let (phone, laptop) = try await begin(cloud)
        let stream = laptop.notifications()
        for number in 0..<100 {
            try await save("\(number)", in: phone)
            cloud.deliverPushes()
        }
        var names: [String] = []
        for await event in stream {
            names.append(name(event))
            if names.count == 64 { break }
        }
        #expect(names.last == "listening", "\(names)")
        #expect(names.contains("all"))
    }
}

import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import SQLite
import System
import Testing
import Yap

@testable import YapCloudKit

/// Devices that hear of each other's changes: nothing asks for a fetch but a push.
@Suite struct PushTests {
    let cloud = TestCloud()
    let phone: SyncedDevice
    let laptop: SyncedDevice

    init() throws {
        phone = try SyncedDevice(cloud, listens: true)
        laptop = try SyncedDevice(cloud, listens: true)
        run()
    }

    /// Lets pushes come and everybody deal with them, until nothing happens any more.
    private func run() {
        for _ in 0..<8 {
            cloud.deliverPushes()
            for device in [phone, laptop] { device.scheduler.runUntilQuiet() }
        }
    }

    private func fetches(of device: SyncedDevice) -> Int {
        cloud.requests.filter {
            $0.deviceNumber == device.device.number && $0.kind == .fetchRecordZoneChanges
        }
        .count
    }

    @Test func changesOfOneDeviceReachTheOther() throws {
        try phone.set(Todo(title: "eggs"), "1")
        run()
        #expect(try laptop.todo("1") == Todo(title: "eggs"))
        try laptop.edit("1") { $0.title = "milk" }
        run()
        #expect(try phone.todo("1")?.title == "milk")
        try phone.remove("1")
        run()
        #expect(try laptop.todos().isEmpty)
    }

    @Test func theMakerIsNotNotified() throws {
        let before = fetches(of: phone)
        try phone.set(Todo(title: "eggs"), "1")
        run()
        #expect(fetches(of: phone) == before)
        #expect(fetches(of: laptop) > 0)
    }

    @Test func nothingIsAskedWhileNothingHappens() throws {
        let before = cloud.requestCount()
        run()
        #expect(cloud.requestCount() == before)
    }

    @Test func manyChangesLeadToFewFetches() throws {
        let before = fetches(of: laptop)
        for number in 0..<50 {
            try phone.set(Todo(title: "t"), "\(number)")
            phone.scheduler.runUntilQuiet()
        }
        #expect(cloud.requestCount(.modifyRecords) >= 50)
        run()
        #expect(try laptop.todos().count == 50)
        #expect(fetches(of: laptop) - before <= 2)
    }

    @Test func theSubscriptionIsSavedOnceAlsoAcrossRelaunches() throws {
        #expect(cloud.requestCount(.modifySubscriptions) == 2, "once a device")
        try phone.relaunch()
        run()
        #expect(cloud.requestCount(.modifySubscriptions) == 2)
        try laptop.set(Todo(title: "eggs"), "1")
        run()
        #expect(try phone.todo("1")?.title == "eggs")
    }

    @Test func afterALostConnectionOneFetchFindsWhatWasMissed() throws {
        cloud.disconnect(laptop.device)
        try phone.set(Todo(title: "eggs"), "1")
        run()
        #expect(try laptop.todos().isEmpty)
        cloud.connect(laptop.device)
        cloud.clock.advance(bySeconds: 120)
        run()
        #expect(try laptop.todo("1")?.title == "eggs")
    }

    @Test func aPushIsNotLostWhenTheServiceEndsBeforeItIsDelivered() throws {
        try phone.set(Todo(title: "eggs"), "1")
        phone.scheduler.runUntilQuiet()
        try cloud.restartService()
        let before = fetches(of: laptop)
        cloud.clock.advance(bySeconds: 120)
        run()
        #expect(try laptop.todo("1")?.title == "eggs")
        #expect(fetches(of: laptop) > before)
    }

    @Test func waitsThatEndWithoutNewsGoOn() throws {
        for _ in 0..<3 {
            cloud.clock.advance(bySeconds: 26)
            run()
        }
        try phone.set(Todo(title: "eggs"), "1")
        run()
        #expect(try laptop.todo("1")?.title == "eggs")
    }

    @Test func aNotificationThatTheAppHandsOverIsTaken() throws {
        let deaf = try SyncedDevice(cloud)
        deaf.syncNow()
        try phone.set(Todo(title: "eggs"), "1")
        run()
        let own: [AnyHashable: Any] = ["ck": ["cid": "iCloud.yap.test", "met": ["dbs": 2, "sid": "x"]]]
        let other: [AnyHashable: Any] = ["ck": ["cid": "iCloud.other", "met": ["dbs": 2, "sid": "x"]]]
        let shared: [AnyHashable: Any] = ["ck": ["cid": "iCloud.yap.test", "met": ["dbs": 3, "sid": "x"]]]
        for dictionary in [other, shared] {
            let notification = try #require(CKNotification(fromRemoteNotificationDictionary: dictionary))
            #expect(!deaf.sync.handle(notification))
        }
        deaf.scheduler.runUntilQuiet()
        #expect(try deaf.todos().isEmpty)
        let notification = try #require(CKNotification(fromRemoteNotificationDictionary: own))
        #expect(deaf.sync.handle(notification))
        deaf.scheduler.runUntilQuiet()
        #expect(try deaf.todo("1")?.title == "eggs")
    }

    @Test func aFileOfAnEarlierVersionGetsTheTableOfSubscriptions() throws {
        try phone.set(Todo(title: "eggs"), "1")
        run()
        try phone.database.blocking.close()
        try OldTables.rewrite(phone.path, name: "cloudKit", toVersion: 1)
        let saved = cloud.requestCount(.modifySubscriptions)
        try phone.relaunch()
        run()
        #expect(cloud.requestCount(.modifySubscriptions) == saved + 1)
        #expect(try phone.todo("1")?.title == "eggs")
        try phone.relaunch()
        run()
        #expect(cloud.requestCount(.modifySubscriptions) == saved + 1)
    }

    @Test func aServerWithoutPushesIsSyncedAllTheSame() throws {
        let cloud = TestCloud()
        cloud.fail(.modifySubscriptions, with: .invalidArguments, times: 9)
        cloud.fail(.createDeviceToken, with: .invalidArguments, times: 9)
        let device = try SyncedDevice(cloud, listens: true)
        try device.set(Todo(title: "eggs"), "1")
        for _ in 0..<4 {
            #expect(device.syncNow().state == .idle)
            cloud.clock.advance(bySeconds: 100)
            cloud.deliverPushes()
        }
        #expect(device.server("1")?["title"] == "eggs")
        #expect(cloud.requestCount(.modifySubscriptions) == 1, "it is not asked again and again")
    }

    @Test func theSameSeedAndStepsGiveTheSameRequests() throws {
        func run() throws -> [String] {
            let cloud = TestCloud(seed: 5)
            let devices = try [SyncedDevice(cloud, listens: true), SyncedDevice(cloud, listens: true)]
            for step in 0..<10 {
                try devices[step % 2].set(Todo(title: "t\(step)"), "\(step % 3)")
                if step == 5 { try cloud.restartService() }
                cloud.clock.advance(bySeconds: 5)
                cloud.deliverPushes()
                for device in devices { device.scheduler.runUntilQuiet() }
            }
            return cloud.requests.map { "\($0.deviceNumber) \($0.request.path)" }
        }
        #expect(try run() == run())
    }
}

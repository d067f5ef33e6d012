import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// One device, at which users sign in and out.
@Suite struct UserTests {
    @Test func whatOneUserChangedIsNeverSentAsAnother() throws {
        let cloud = TestCloud(), account = ChangingAccount()
        let laptop = try SyncedDevice(cloud, user: "ada"), eves = try SyncedDevice(cloud, user: "eve")
        let phone = try SyncedDevice(cloud, device: cloud.device(account: account))
        account.signIn("ada", cloud)
        try phone.set(Todo(title: "of ada"), "1")
        #expect(phone.sync.syncNowInline().state == .idle)

        account.signIn(nil, cloud)
        try phone.set(Todo(title: "of ada too"), "2")
        #expect(phone.sync.syncNowInline().needs([.account(.notAuthenticated)]))
        account.signIn("eve", cloud)
        phone.sync.retry()
        #expect(phone.sync.syncNowInline().needs([.anotherUser]))
        // Nor after a relaunch, at which nothing is remembered but what the file says.
        try phone.relaunch()
        #expect(phone.sync.syncNowInline().needs([.anotherUser]))
        eves.syncNow()
        #expect(try eves.todos().isEmpty)

        account.signIn("ada", cloud)
        phone.sync.retry()
        #expect(phone.sync.syncNowInline().state == .idle)
        laptop.syncNow()
        #expect(try laptop.todo("1")?.title == "of ada" && laptop.todo("2")?.title == "of ada too")
    }

    @Test(
        "122 (both). uploads stop for another user; each user's queue waits, and is sent when that user returns",
        arguments: YapDatabaseCloudKit.FailureHandling.allCases)
    func eachUsersQueueWaitsForItsOwn(mode: YapDatabaseCloudKit.FailureHandling) throws {
        let cloud = TestCloud(), account = ChangingAccount()
        let adas = try HandledDevice(cloud, device: cloud.device(user: "ada"))
        let eves = try HandledDevice(cloud, device: cloud.device(user: "eve"))
        account.signIn("ada", cloud)
        let phone = try HandledDevice(
            cloud, storage: .keysOnly, failures: mode, device: cloud.device(account: account))
        try phone.uploaded(Todo(title: "ada's"), "1")
        phone.cloudKit.suspend()
        try phone.edit("1") { $0.title = "ada's, edited" }
        account.signIn("eve", cloud)
        let requests = phone.modifyRequests
        #expect(phone.upload().needs([.anotherUser]))
        #expect(phone.seen.errors.map(\.code) == [.notAuthenticated])
        phone.cloudKit.accountMayHaveChanged()
        phone.scheduler.runUntilQuiet()
        #expect(phone.cloudKit.status.needs([.anotherUser]), "asked again, and still another")
        #expect(phone.modifyRequests == requests)

        #expect(try phone.write { _, ext in try ext.useAccount(of: CKRecord.ID(recordName: "_eve")) })
        phone.scheduler.runUntilQuiet()
        #expect(phone.cloudKit.status.waits(for: .anotherAccount) && phone.modifyRequests == requests)
        try phone.set(Todo(title: "eve's"), "3")
        try phone.edit("1") { $0.isDone = true }
        phone.scheduler.runUntilQuiet()
        #expect(eves.server("3")?["title"] == "eve's" && eves.server("1") == nil)
        #expect(adas.server("1")?["title"] == "ada's" && adas.server("3") == nil)
        // Also after a relaunch, at which only the file knows who it was.
        try phone.relaunch()
        phone.scheduler.runUntilQuiet()
        #expect(phone.cloudKit.status.waits(for: .anotherAccount) && adas.server("1")?["title"] == "ada's")

        account.signIn("ada", cloud)
        #expect(try phone.write { _, ext in try ext.useAccount(of: CKRecord.ID(recordName: "_ada")) })
        phone.scheduler.runUntilQuiet()
        #expect(phone.cloudKit.status.state == .idle)
        #expect(adas.server("1")?["title"] == "ada's, edited" && adas.server("1")?["done"] == true)
        #expect(adas.server("3") == nil && eves.server("1") == nil)
    }

    @Test("122. changes in flight when the user changes end as their own user's, and nothing follows")
    func whatIsInFlightWhenTheUserChanges() throws {
        let cloud = TestCloud(), account = ChangingAccount()
        let adas = try HandledDevice(cloud, device: cloud.device(user: "ada"))
        _ = cloud.device(user: "eve")
        account.signIn("ada", cloud)
        let phone = try HandledDevice(cloud, storage: .keysOnly, device: cloud.device(account: account))
        let held = HeldAnswers(cloud)
        for key in ["1", "2"] { try phone.set(Todo(title: "ada's"), key) }
        phone.scheduler.runUntilQuiet()
        account.signIn("eve", cloud)
        try phone.write { _, ext in try ext.useAccount(of: CKRecord.ID(recordName: "_eve")) }
        phone.scheduler.runUntilQuiet()
        held.release()
        phone.scheduler.runUntilQuiet()
        #expect(phone.modifyRequests == 1 && phone.cloudKit.status.waits(for: .anotherAccount))
        cloud.carrier = nil
        account.signIn("ada", cloud)
        try phone.write { _, ext in try ext.useAccount(of: CKRecord.ID(recordName: "_ada")) }
        phone.scheduler.runUntilQuiet()
        #expect(phone.cloudKit.status.state == .idle && phone.modifyRequests == 2)
        #expect(try phone.tag("1") == adas.server("1")?.recordChangeTag)
        #expect(adas.server("2") != nil)
    }
}

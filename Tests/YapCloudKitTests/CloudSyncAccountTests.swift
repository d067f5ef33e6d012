import CloudKit
import CloudKitTesting
import Foundation
import Seams
import Testing
import Yap

@testable import YapCloudKit

/// One device and several users, one after the other: whose objects are here, and whose changes go where.
@Suite struct CloudSyncAccountTests {
    private final class SwitchingAccount: CloudAccount {
        private let current = Lock(CloudCredential(deviceID: "phone"))
        func credential() -> CloudCredential { current.withLock { $0 } }
        func replace(_ token: String, with newToken: String) {}
        func signIn(_ user: String, _ cloud: TestCloud) {
            current.withLock {
                $0.webAuthToken = cloud.token(of: user)
                $0.userRecordName = "_\(user)"
            }
        }
    }

    let cloud = TestCloud()
    private let account = SwitchingAccount()
    let phone: SyncedDevice
    let adas: SyncedDevice
    let eves: SyncedDevice

    init() throws {
        adas = try SyncedDevice(cloud, user: "ada")
        eves = try SyncedDevice(cloud, user: "eve")
        phone = try SyncedDevice(cloud, device: cloud.device(account: account))
        account.signIn("ada", cloud)
        try phone.set(Todo(title: "sent", note: "n"), "1")
        #expect(phone.syncNow() == .idle)
    }

    /// Signs in as another user, and tells the sync to go on as that one.
    private func use(_ user: String, _ objects: CloudSync.OtherAccountsObjects) throws {
        account.signIn(user, cloud)
        phone.sync.accountMayHaveChanged()
        #expect(phone.syncNow() == .needsAttention([.anotherUser]))
        let isAnother = try phone.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_\(user)"), objectsOfOtherAccount: objects)
        #expect(isAnother)
        #expect(phone.syncNow() == .idle)
    }

    /// What waits when Ada signs out: an edit of what is on the server, and a new object.
    private func leaveUnsent() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.title = "edited" }
        try phone.set(Todo(title: "never sent", draft: "here"), "2")
        phone.syncNow()
        phone.sync.resume()
    }

    @Test(
        "122. kept objects stay their user's: their changes wait for that user, and what is new is the new user's"
    )
    func keptObjectsStayTheirUsers() throws {
        try use("eve", .keep)
        #expect(try phone.todo("1")?.title == "sent")
        try phone.edit("1") { $0.title = "edited" }
        try phone.set(Todo(title: "of eve"), "3")
        #expect(phone.syncNow() == .idle)
        for device in [adas, eves] { device.syncNow() }
        #expect(try adas.todos().mapValues(\.title) == ["1": "sent"])
        #expect(try eves.todos().mapValues(\.title) == ["3": "of eve"])

        try use("ada", .keep)
        adas.syncNow()
        eves.syncNow()
        #expect(try adas.todos().mapValues(\.title) == ["1": "edited"])
        #expect(try eves.todos().mapValues(\.title) == ["3": "of eve"])
    }

    @Test(
        "122. removed objects come back with their user, and with what was never sent; nobody else gets any of it"
    )
    func removedObjectsComeBackWithTheirUser() throws {
        try leaveUnsent()
        account.signIn("eve", cloud)
        _ = try phone.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_eve"), objectsOfOtherAccount: .remove)
        #expect(try phone.todos().isEmpty)
        try phone.set(Todo(title: "of eve"), "3")
        #expect(phone.syncNow() == .idle)
        try phone.relaunch()
        #expect(phone.syncNow() == .idle)
        #expect(try phone.todos().mapValues(\.title) == ["3": "of eve"])
        adas.syncNow()
        eves.syncNow()
        #expect(try adas.todos().mapValues(\.title) == ["1": "sent"])
        #expect(try eves.todos().mapValues(\.title) == ["3": "of eve"])

        // Meanwhile Ada's other device changes the note of what was edited here.
        try adas.edit("1") { $0.note = "m" }
        adas.syncNow()
        try use("ada", .remove)
        #expect(try phone.todo("1") == Todo(title: "edited", note: "m"))
        #expect(try phone.todo("2")?.title == "never sent")
        #expect(try phone.todos().count == 2)
        adas.syncNow()
        #expect(try adas.todos() == phone.todos())
    }

    @Test func anotherUsersRecordOfTheSameNameOverwritesNothing() throws {
        eves.syncNow()
        try eves.set(Todo(title: "of eve"), "1")
        eves.syncNow()
        try use("eve", .keep)
        #expect(try phone.todo("1")?.title == "sent")
        for device in [phone, eves, adas] { device.syncNow() }
        #expect(try eves.todos().mapValues(\.title) == ["1": "of eve"])
        #expect(try adas.todos().mapValues(\.title) == ["1": "sent"])
    }

    @Test func theSameUserAgainIsNoOtherAndLosesNothing() throws {
        try leaveUnsent()
        let isAnother = try phone.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_ada"), objectsOfOtherAccount: .remove)
        #expect(!isAnother)
        #expect(phone.syncNow() == .idle)
        adas.syncNow()
        #expect(try adas.todos().mapValues(\.title) == ["1": "edited", "2": "never sent"])
    }

    @Test func whatWasDetachedAndEditedMeetsARemoteChangeWithItsEdit() throws {
        phone.sync.suspend()
        try phone.edit("1") {
            $0.title = "mine"
            $0.isDone = true
        }
        try phone.write { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).detachRecord(
                forKey: "1", inCollection: "todos", wasRemoteDeletion: false, shouldUploadDeletion: false)
        }
        adas.syncNow()
        try adas.edit("1") {
            $0.title = "theirs"
            $0.note = "m"
        }
        adas.syncNow()
        phone.syncNow()
        let both = Todo(title: "theirs", isDone: true, note: "m")
        #expect(try phone.todo("1") == both)
        #expect(phone.log.withLock { $0 }.map(\.dropped) == ["mine"])
        phone.sync.resume()
        #expect(phone.syncNow() == .idle)
        adas.syncNow()
        #expect(try adas.todo("1") == both)
    }
}

import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// One device and several users, one after the other: whose objects are here, and whose changes go where.
@Suite struct CloudSyncAccountTests {
    let cloud = TestCloud()
    private let account = ChangingAccount()
    let phone: SyncedDevice
    let adas: SyncedDevice
    let eves: SyncedDevice

    init() throws {
        adas = try SyncedDevice(cloud, user: "ada")
        eves = try SyncedDevice(cloud, user: "eve")
        phone = try SyncedDevice(cloud, device: cloud.device(account: account))
        account.signIn("ada", cloud)
        try phone.set(Todo(title: "sent", note: "n"), "1")
        #expect(phone.syncNow().state == .idle)
    }

    /// Signs in as another user, and tells the sync to go on as that one.
    private func use(_ user: String, _ objects: CloudSync.OtherAccountsObjects) throws {
        account.signIn(user, cloud)
        phone.sync.accountMayHaveChanged()
        #expect(phone.syncNow().needs([.anotherUser]))
        let isAnother = try phone.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_\(user)"), objectsOfOtherAccount: objects)
        #expect(isAnother)
        #expect(phone.syncNow().state == .idle)
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
        "122. kept objects stay their user's: their changes wait for that user, and new objects are the new user's"
    )
    func keptObjectsStayTheirUsers() throws {
        try use("eve", .keep)
        #expect(try phone.todo("1")?.title == "sent")
        try phone.edit("1") { $0.title = "edited" }
        try phone.set(Todo(title: "of eve"), "3")
        // All of Eve's is delivered, but something of Ada's waits.
        #expect(phone.syncNow().waits(for: .anotherAccount))
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
        "122. removed objects return with their user and the unsent changes; no other user gets any of it"
    )
    func removedObjectsComeBackWithTheirUser() throws {
        try leaveUnsent()
        account.signIn("eve", cloud)
        _ = try phone.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_eve"), objectsOfOtherAccount: .remove)
        #expect(try phone.todos().isEmpty)
        try phone.set(Todo(title: "of eve"), "3")
        #expect(phone.syncNow().waits(for: .anotherAccount))
        try phone.relaunch()
        #expect(phone.syncNow().waits(for: .anotherAccount))
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

        // It is not lost: once the other user's row is gone, it has its place.
        try use("ada", .keep)
        try use("eve", .remove)
        #expect(try phone.todos().mapValues(\.title) == ["1": "of eve"])
        try phone.edit("1") { $0.isDone = true }
        for device in [phone, eves, adas] { device.syncNow() }
        #expect(try eves.todo("1") == Todo(title: "of eve", isDone: true))
        #expect(try adas.todos().mapValues(\.title) == ["1": "sent"])
    }

    @Test("173. parts of a rejected change that a later user discards have the server's values again")
    func whatALaterUserDiscardsIsTheServersAgain() async throws {
        try use("eve", .keep)
        try phone.set(Todo(title: "of eve"), "3")
        #expect(phone.syncNow().state == .idle)
        let recordID = CKRecord.ID(recordName: "3", zoneID: phone.sync.zoneID)
        cloud.fail(.modifyRecords, of: recordID, with: .invalidArguments, on: phone.device)
        try phone.edit("3") { $0.title = "refused" }
        guard phone.syncNow().state == .needsAttention else {
            Issue.record("\(phone.sync.currentStatus)")
            return
        }
        #expect(try await phone.sync.discardQuarantinedChanges(forRecordID: recordID))
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todo("3")?.title == "of eve")
    }

    /// Signs in as another user before anything is sent or fetched.
    private func comesIn(_ user: String) throws {
        account.signIn(user, cloud)
        let isAnother = try phone.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_\(user)"), objectsOfOtherAccount: .remove)
        #expect(isAnother)
    }

    @Test("177. pending changes of a returning user are merged with other devices' changes")
    func whatWaitsIsMergedWhenItsUserComesBack() throws {
        try leaveUnsent()
        try comesIn("eve")
        adas.syncNow()
        try adas.edit("1") { $0.note = "theirs" }
        adas.syncNow()
        try comesIn("ada")
        // Made before anything is fetched: the person can't know what the server has.
        try phone.set(Todo(title: "made anew", isDone: true, note: "mine"), "1")
        try comesIn("eve")
        try comesIn("ada")
        #expect(phone.syncNow().state == .idle)
        adas.syncNow()
        #expect(try adas.todo("1") == Todo(title: "made anew", note: "theirs"))
        #expect(try phone.todo("1") == Todo(title: "made anew", note: "theirs"))
        #expect(phone.rules.contains(.remoteWon))
    }

    @Test func theSameUserAgainIsNoOtherAndLosesNothing() throws {
        try leaveUnsent()
        let isAnother = try phone.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_ada"), objectsOfOtherAccount: .remove)
        #expect(!isAnother)
        #expect(phone.syncNow().state == .idle)
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
        #expect(phone.syncNow().state == .idle)
        adas.syncNow()
        #expect(try adas.todo("1") == both)
    }

    @Test("122. the app reads the signed-in user, and continues as that user")
    func theAppContinuesAsTheSignedInUser() async throws {
        let cloud = TestCloud(execution: .threads), account = ChangingAccount()
        let path = NSTemporaryDirectory() + "yap-account-" + UUID().uuidString + ".db"
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        // Their tokens are known once they have devices.
        _ = (cloud.device(user: "ada"), cloud.device(user: "eve"))
        account.signIn("ada", cloud)
        let database = try YapDatabase(path: path) { $0.register(Todo.self, inCollection: "todos") }
        let sync = try await CloudSync(
            database, container: cloud.device(account: account).container,
            models: [.model(Todo.self, collection: "todos")], zone: "todos")
        let connection = database.newConnection()
        try await connection.readWrite {
            try $0.setObject(Todo(title: "of ada"), forKey: "1", inCollection: "todos")
        }
        #expect(await sync.syncNow().state == .idle)
        let isAdaAnother = try await sync.useSignedInAccount(objectsOfOtherAccount: .remove)
        #expect(!isAdaAnother)
        account.signIn("eve", cloud)
        let isEveAnother = try await sync.useSignedInAccount(objectsOfOtherAccount: .remove)
        #expect(isEveAnother)
        #expect(await sync.syncNow().state == .idle)
        let keys = try await connection.read { try Array($0.keys(inCollection: "todos")) }
        #expect(keys.isEmpty)
        account.signIn("ada", cloud)
        try await sync.useSignedInAccount(objectsOfOtherAccount: .remove)
        #expect(await sync.syncNow().state == .idle)
        let todo = try await connection.read { try $0.object(Todo.self, forKey: "1", inCollection: "todos") }
        #expect(todo?.title == "of ada")
        try await database.close()
    }
}

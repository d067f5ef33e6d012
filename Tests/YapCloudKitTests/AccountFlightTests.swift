import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Another user signs in while something of the first is under way, and the first one's objects are removed here: an
/// answer that comes then is the first one's, and changes nothing of what is on the device.
@Suite struct AccountFlightTests {
    let cloud = TestCloud()
    private let account = ChangingAccount()
    let phone: SyncedDevice
    let adas: SyncedDevice

    init() throws {
        adas = try SyncedDevice(cloud, user: "ada")
        _ = cloud.device(user: "eve")
        account.signIn("ada", cloud)
        phone = try SyncedDevice(cloud, device: cloud.device(account: account))
        try phone.set(Todo(title: "sent"), "1")
        #expect(phone.syncNow().state == .idle)
        adas.syncNow()
        try adas.edit("1") { $0.note = "m" }
        try adas.set(Todo(title: "of adas"), "2")
        adas.syncNow()
    }

    private func use(_ user: String) throws {
        account.signIn(user, cloud)
        _ = try phone.sync.useAccountInline(
            of: CKRecord.ID(recordName: "_\(user)"), objectsOfOtherAccount: .remove)
    }

    /// Signs in as another user while an answer is held, and lets the answer come then.
    private func switchUsers(
        holding kind: String, leaving pause: CloudSyncPause? = nil, _ begin: () -> Void
    ) throws {
        let held = HeldAnswers(cloud, to: kind)
        begin()
        #expect(held.count == 1)
        cloud.carrier = nil
        try use("eve")
        held.release()
        phone.scheduler.runUntilQuiet()
        #expect(try phone.todos().isEmpty)
        let status = phone.syncNow()
        #expect(pause.map(status.waits) ?? (status.state == .idle), "\(status)")
        #expect(try phone.todos().isEmpty)
    }

    @Test(
        "122. a page received after its user signed out restores nothing, and is fetched again with the user"
    )
    func aLatePageIsNotApplied() throws {
        try switchUsers(holding: "changes/zone") {
            phone.sync.fetch()
            phone.scheduler.runUntilQuiet()
        }
        try use("ada")
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todos().count == 2)
        #expect(try phone.todos() == adas.todos())
    }

    @Test(
        "122. a conflict received after its user signed out restores nothing, and the edit stays the user's"
    )
    func aLateConflictIsNotMerged() throws {
        try phone.edit("1") { $0.title = "edited" }
        try switchUsers(holding: "records/modify", leaving: .anotherAccount) {
            phone.scheduler.runUntilQuiet()
        }
        try use("ada")
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todo("1") == Todo(title: "edited", note: "m"))
        adas.syncNow()
        #expect(try phone.todos() == adas.todos())
    }

    @Test("122. changes that the cloud accepted before its user signed out aren't sent again")
    func aLateSuccessIsWrittenDown() throws {
        phone.syncNow()
        try phone.edit("1") { $0.title = "edited" }
        try switchUsers(holding: "records/modify") { phone.scheduler.runUntilQuiet() }
        try use("ada")
        #expect(try phone.queue().isEmpty)
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todo("1") == Todo(title: "edited", note: "m"))
    }
}

import CloudKit
import CloudKitTesting
import Foundation
import Seams
import Testing
import Yap

@testable import YapCloudKit

/// One device, at which users sign in and out.
@Suite struct UserTests {
    private final class ChangingAccount: CloudAccount {
        private let current = Lock(CloudCredential(deviceID: "phone"))
        func credential() -> CloudCredential { current.withLock { $0 } }
        func replace(_ token: String, with newToken: String) {}
        func signIn(_ user: String?, _ cloud: TestCloud) {
            current.withLock {
                $0.webAuthToken = user.map { cloud.token(of: $0) }
                $0.userRecordName = user.map { "_\($0)" }
            }
        }
    }

    @Test func whatOneUserChangedIsNeverSentAsAnother() throws {
        let cloud = TestCloud(), account = ChangingAccount()
        let laptop = try SyncedDevice(cloud, user: "ada"), eves = try SyncedDevice(cloud, user: "eve")
        let phone = try SyncedDevice(cloud, device: cloud.device(account: account))
        account.signIn("ada", cloud)
        try phone.set(Todo(title: "of ada"), "1")
        #expect(phone.sync.syncNowInline() == .idle)

        account.signIn(nil, cloud)
        try phone.set(Todo(title: "of ada too"), "2")
        #expect(phone.sync.syncNowInline() == .needsAttention([.account(.notAuthenticated)]))
        account.signIn("eve", cloud)
        phone.sync.retry()
        #expect(phone.sync.syncNowInline() == .needsAttention([.anotherUser]))
        // Nor after a relaunch, at which nothing is remembered but what the file says.
        try phone.relaunch()
        #expect(phone.sync.syncNowInline() == .needsAttention([.anotherUser]))
        eves.syncNow()
        #expect(try eves.todos().isEmpty)

        account.signIn("ada", cloud)
        phone.sync.retry()
        #expect(phone.sync.syncNowInline() == .idle)
        laptop.syncNow()
        #expect(try laptop.todo("1")?.title == "of ada" && laptop.todo("2")?.title == "of ada too")
    }
}

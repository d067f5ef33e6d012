import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing

/// How often `CKAccountChanged` was posted for a container.
private final class AccountPosts: Sendable {
    private let posts = Lock(0)
    private let observer: Lock<(any NSObjectProtocol)?>
    var count: Int { posts.withLock { $0 } }

    init(of container: CKContainer) {
        observer = Lock(nil)
        let made = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: container, queue: nil
        ) { [posts] _ in posts.withLock { $0 += 1 } }
        nonisolated(unsafe) let kept = made
        observer.withLock { $0 = kept }
    }

    deinit { observer.withLock { $0.map(NotificationCenter.default.removeObserver) } }
}

@Suite struct AccountTests {
    @Test(arguments: Cloud.allCases) func theStatusIsWhatTheDeviceKnows(way: Cloud) async throws {
        let cloud = try way.cloud()
        let phone = cloud.device(user: "ada")
        #expect(try await phone.container.accountStatus() == .available)
        cloud.disconnect(phone)
        #expect(try await phone.container.accountStatus() == .available)
        cloud.connect(phone)
        let others: [CKError.Code] = [.serviceUnavailable, .requestRateLimited, .serverResponseLost]
        for code in others {
            cloud.fail(.fetchUserRecordID, with: code)
            #expect(try await phone.container.accountStatus() == .available)
        }
        let count = cloud.requestCount()
        phone.signOut()
        #expect(try await phone.container.accountStatus() == .noAccount)
        phone.setAccountStatus(.restricted)
        #expect(try await phone.container.accountStatus() == .restricted)
        phone.setAccountStatus(.temporarilyUnavailable)
        #expect(try await phone.container.accountStatus() == .temporarilyUnavailable)
        #expect(cloud.requestCount() == count, "the device knows it itself")
    }

    @Test func theServersWordAboutTheAccountCounts() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada")
        let answers: [(CKError.Code, CKAccountStatus)] = [
            (.notAuthenticated, .noAccount), (.managedAccountRestricted, .restricted),
            (.accountTemporarilyUnavailable, .temporarilyUnavailable),
        ]
        for (code, status) in answers {
            cloud.fail(.fetchUserRecordID, with: code)
            #expect(try await phone.container.accountStatus() == status)
        }
    }

    @Test func aStatusThatCannotBeFoundOutIsAnError() async throws {
        let phone = TestCloud().device(user: "ada")
        phone.setAccountStatus(.couldNotDetermine)
        #expect(await codeThrown { try await phone.container.accountStatus() } == .internalError)
        let said = Collected<String>()
        phone.container.accountStatus { said.append("\($0 == .couldNotDetermine) \($1 is CKError)") }
        #expect(said.all == ["true true"])
        phone.setAccountStatus(.available)
        #expect(try await phone.container.accountStatus() == .available)
    }

    @Test func aChangeOfTheAccountIsPosted() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
        let posts = AccountPosts(of: phone.container), others = AccountPosts(of: laptop.container)
        phone.signIn(user: "ada")
        #expect(posts.count == 0, "the same user is no change")
        phone.signIn(user: "bob")
        #expect(posts.count == 1)
        #expect(try await phone.container.userRecordID().recordName == "_bob")
        phone.setAccountStatus(.temporarilyUnavailable)
        phone.setAccountStatus(.temporarilyUnavailable)
        #expect(posts.count == 2)
        phone.setAccountStatus(.available)
        #expect(try await phone.container.userRecordID().recordName == "_bob")
        phone.signOut()
        #expect(posts.count == 4 && others.count == 0)
        phone.setAccountStatus(.available)
        #expect(try await phone.container.accountStatus() == .noAccount, "nobody is there to be available")
    }

    @Test(arguments: Cloud.allCases) func withoutAnAccountOnlyThePublicDatabaseIsRead(way: Cloud) async throws
    {
        let cloud = try way.cloud()
        let writer = cloud.device(user: "ada").container.publicCloudDatabase
        let news = CKRecord(recordType: "News", recordID: CKRecord.ID(recordName: "1"))
        try await writer.save(news)
        let phone = cloud.device(user: "bob"), container = phone.container
        let refusals: [(CKAccountStatus, CKError.Code)] = [
            (.noAccount, .notAuthenticated), (.restricted, .managedAccountRestricted),
            (.temporarilyUnavailable, .accountTemporarilyUnavailable),
            (.couldNotDetermine, .notAuthenticated),
        ]
        for (status, code) in refusals {
            phone.signIn(user: "bob")
            phone.setAccountStatus(status)
            #expect(
                try await container.publicCloudDatabase.record(for: news.recordID).recordID == news.recordID)
            let own = CKRecord(recordType: "News")
            #expect(await codeThrown { try await container.publicCloudDatabase.save(own) } == code)
            #expect(await codeThrown { try await container.privateCloudDatabase.save(own) } == code)
            #expect(await codeThrown { try await container.sharedCloudDatabase.allRecordZones() } == code)
        }
    }

    @Test(arguments: Cloud.allCases) func nothingOfTheFormerUserIsLeft(way: Cloud) async throws {
        let cloud = try way.cloud()
        let phone = cloud.device(user: "ada"), database = phone.container.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "notes"))
        let token = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil).changeToken
        let databaseToken = try await database.databaseChanges(since: nil).changeToken
        phone.signIn(user: "bob")
        #expect(await codeThrown { try await database.recordZone(for: zone.zoneID) } == .zoneNotFound)
        try await database.save(CKRecordZone(zoneName: "notes"))
        #expect(
            await codeThrown { try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: token) }
                == .changeTokenExpired)
        #expect(
            await codeThrown { try await database.databaseChanges(since: databaseToken) }
                == .changeTokenExpired)
    }

    @Test func whatOneUserBeganIsNeverSentAsAnother() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada"), database = phone.container.privateCloudDatabase
        let codes = Collected<CKError.Code?>()
        let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord(recordType: "Note")])
        // Urgent enough to be tried again, and long enough for somebody else to sign in meanwhile.
        operation.qualityOfService = .utility
        operation.modifyRecordsResultBlock = { codes.append($0.code) }
        cloud.disconnect(phone)
        database.add(operation)
        #expect(codes.all.isEmpty)
        phone.signIn(user: "bob")
        cloud.connect(phone)
        cloud.clock.advance(bySeconds: 120)
        cloud.timers.runDue()
        #expect(codes.all == [.notAuthenticated])
        #expect(cloud.requestCount(.modifyRecords) == 0)
    }

    @Test func filesThatTheFormerUserFetchedAreRemoved() async throws {
        let folder = try Folder()
        let source = URL(fileURLWithPath: try folder.write("photo", "eggs"))
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada"), database = phone.container.privateCloudDatabase
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "1"))
        note["photo"] = CKAsset(fileURL: source)
        try await database.save(note)
        let fetched: CKAsset? = try await database.record(for: note.recordID)["photo"]
        let path = try #require(fetched?.fileURL?.path)
        #expect(FileManager.default.fileExists(atPath: path))
        phone.signIn(user: "ada")
        #expect(FileManager.default.fileExists(atPath: path))
        phone.signOut()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(FileManager.default.fileExists(atPath: source.path), "the app's own file stays")
    }

    @Test func observersGetOnlyTheNewUsersChanges() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada"), heard = Collected<String>()
        for user in ["ada", "bob"] {
            let database = cloud.device(user: user).container.privateCloudDatabase
            try await database.save(CKRecordZone(zoneName: "notes"))
            try await database.save(CKDatabaseSubscription(subscriptionID: "of \(user)"))
        }
        let end = phone.container.observeNotifications { event in
            switch event {
            case .listening: heard.append("listening")
            case .interrupted: heard.append("interrupted")
            case .notification(let notification): heard.append(notification.subscriptionID ?? "?")
            case .waitEnded: break
            }
        }
        defer { end() }
        func change(_ user: String, _ name: String) async throws {
            let id = CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: "notes"))
            let database = cloud.device(user: user).container.privateCloudDatabase
            try await database.save(CKRecord(recordType: "Note", recordID: id))
            cloud.deliverPushes()
        }
        try await change("ada", "1")
        #expect(heard.all == ["listening", "of ada"])
        phone.signIn(user: "bob")
        try await change("ada", "2")
        #expect(!heard.all.dropFirst(2).contains("of ada"))
        cloud.clock.advance(bySeconds: 120)
        cloud.deliverPushes()
        try await change("bob", "1")
        try await change("ada", "3")
        #expect(heard.all.last == "of bob" && heard.all.filter { $0 == "of ada" }.count == 1)
    }
}

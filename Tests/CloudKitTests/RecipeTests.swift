import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// A small app: it asks for its container where it needs it, as most do.
private struct Notes {
    var database: CKDatabase { CKContainer.default().privateCloudDatabase }

    func save(_ text: String, as name: String) async throws {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        note["text"] = text
        try await database.save(note)
    }

    func text(of name: String) async throws -> String? {
        try await database.record(for: CKRecord.ID(recordName: name))["text"]
    }
}

/// The recipes of `docs/TESTING.md`: each block of the page stands here as it is there, and runs.
@Suite struct RecipeTests {
    @Test func anAppIsTestedAsItIs() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
        try await phone.asDefault { try await Notes().save("eggs", as: "1") }
        try await laptop.asDefault {
            let text = try await Notes().text(of: "1")
            #expect(text == "eggs")
        }
    }

    @Test func anExpectationWaitsInAClosureThatSaysThatItThrows() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
        try await phone.asDefault { try await Notes().save("eggs", as: "1") }
        try await laptop.asDefault { () async throws in
            #expect(try await Notes().text(of: "1") == "eggs")
        }
    }

    @Test func twoDevicesConflict() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada").container.privateCloudDatabase
        let laptop = cloud.device(user: "ada").container.privateCloudDatabase
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "1"))
        try await phone.save(note)
        let other = try await laptop.record(for: note.recordID)
        other["text"] = "milk"
        try await laptop.save(other)
        note["text"] = "bread"
        let error = await #expect(throws: CKError.self) { try await phone.save(note) }
        #expect(error?.code == .serverRecordChanged && error?.serverRecord?["text"] == "milk")
    }

    @Test func anyErrorComesForAnyRequest() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada")
        cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 3, times: 2)
        for _ in 1...2 {
            let error = await #expect(throws: CKError.self) {
                try await phone.asDefault { try await Notes().save("eggs", as: "1") }
            }
            #expect(error?.code == .requestRateLimited && error?.retryAfterSeconds == 3)
            cloud.clock.advance(bySeconds: 3)
        }
        try await phone.asDefault { try await Notes().save("eggs", as: "1") }
    }

    @Test func oneRecordFailsAndTakesItsNeighboursAlong() async throws {
        let cloud = TestCloud()
        let database = cloud.device(user: "ada").container.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "notes"))
        let notes = ["1", "2"].map {
            CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: $0, zoneID: zone.zoneID))
        }
        cloud.fail(.modifyRecords, of: notes[0].recordID, with: .serverRejectedRequest)
        let (results, _) = try await database.modifyRecords(saving: notes, deleting: [])
        let codes = notes.map { results[$0.recordID]?.code }
        #expect(codes == [.serverRejectedRequest, .batchRequestFailed])
    }

    @Test func aServerIsBusyUntilTheClockHasMoved() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada")
        cloud.throttle(forSeconds: 30)
        let error = await #expect(throws: CKError.self) {
            try await phone.asDefault { try await Notes().save("eggs", as: "1") }
        }
        #expect(error?.code == .requestRateLimited && error?.retryAfterSeconds == 30)
        cloud.clock.advance(bySeconds: 30)
        try await phone.asDefault { try await Notes().save("eggs", as: "1") }
    }

    @Test func anAnswerIsLostAndWhatItAnsweredIsDone() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada")
        cloud.loseReplies(.modifyRecords)
        let error = await #expect(throws: CKError.self) {
            try await phone.asDefault { try await Notes().save("eggs", as: "1") }
        }
        #expect(error?.code == .networkFailure)
        let text = try await phone.asDefault { try await Notes().text(of: "1") }
        #expect(text == "eggs")
    }

    @Test func aDeviceIsOffline() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada")
        cloud.disconnect(phone)
        let error = await #expect(throws: CKError.self) {
            try await phone.asDefault { try await Notes().save("eggs", as: "1") }
        }
        #expect(error?.code == .networkUnavailable)
        #expect(try await phone.container.accountStatus() == .available)
        cloud.connect(phone)
        try await phone.asDefault { try await Notes().save("eggs", as: "1") }
    }

    @Test func aChangeTokenIsTooOld() async throws {
        let cloud = TestCloud()
        let database = cloud.device(user: "ada").container.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "notes"))
        let token = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil).changeToken
        cloud.expireChangeTokens()
        let error = await #expect(throws: CKError.self) {
            try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: token)
        }
        #expect(error?.code == .changeTokenExpired)
    }

    @Test func theUsersCloudIsFull() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada")
        cloud.setQuota(bytes: 0, user: "ada")
        let error = await #expect(throws: CKError.self) {
            try await phone.asDefault { try await Notes().save("eggs", as: "1") }
        }
        #expect(error?.code == .quotaExceeded)
    }

    @Test func aQueryDoesNotFindYetWhatWasJustSaved() async throws {
        let cloud = TestCloud()
        cloud.indexLagSeconds = 5
        let phone = cloud.device(user: "ada")
        try await phone.asDefault { try await Notes().save("eggs", as: "1") }
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text == %@", "eggs"))
        let database = phone.container.privateCloudDatabase
        #expect(try await database.records(matching: query).matchResults.isEmpty)
        cloud.clock.advance(bySeconds: 5)
        #expect(try await database.records(matching: query).matchResults.count == 1)
    }

    @Test func anotherUserSignsIn() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada")
        try await phone.asDefault { try await Notes().save("eggs", as: "1") }
        phone.signIn(user: "bob")
        let error = await #expect(throws: CKError.self) {
            try await phone.asDefault { try await Notes().text(of: "1") }
        }
        #expect(error?.code == .unknownItem)
        phone.signOut()
        #expect(try await phone.container.accountStatus() == .noAccount)
        phone.setAccountStatus(.temporarilyUnavailable)
        #expect(try await phone.container.accountStatus() == .temporarilyUnavailable)
    }

    @Test func productionRefusesWhatWasNotDeployed() async throws {
        let cloud = TestCloud()
        try await cloud.device(user: "ada").asDefault { try await Notes().save("eggs", as: "1") }
        let production = try cloud.production()
        let database = production.device(user: "ada").container.privateCloudDatabase
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "1"))
        note["text"] = "eggs"
        try await database.save(note)
        note["colour"] = "red"
        let error = await #expect(throws: CKError.self) { try await database.save(note) }
        let message = "Cannot create or modify field 'colour' in record 'Note' in production schema"
        #expect(error?.localizedDescription.contains(message) == true)
    }

    @Test func productionHasTheIndexesOfItsSchemaOnly() async throws {
        let schema = """
            DEFINE SCHEMA
                RECORD TYPE Note (
                    text STRING,
                    GRANT WRITE TO "_creator"
                );
            """
        let production = try TestCloud(productionSchema: schema)
        let database = production.device(user: "ada").container.privateCloudDatabase
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text == %@", "eggs"))
        let error = await #expect(throws: CKError.self) { try await database.records(matching: query) }
        #expect(error?.localizedDescription.contains("Field 'text' is not marked queryable") == true)
    }

    @Test func aPushComesWhenTheTestSaysSo() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
        let database = phone.container.privateCloudDatabase
        try await database.save(CKRecordZone(zoneName: "notes"))
        try await database.save(CKDatabaseSubscription(subscriptionID: "all"))
        try phone.registerForPushes()
        let id = CKRecord.ID(recordName: "1", zoneID: CKRecordZone.ID(zoneName: "notes"))
        try await laptop.container.privateCloudDatabase.save(CKRecord(recordType: "Note", recordID: id))
        let pushes = try phone.receivePushes()
        let notification = CKNotification(fromRemoteNotificationDictionary: try #require(pushes.first))
        #expect(notification?.subscriptionID == "all")
    }
}

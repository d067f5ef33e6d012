import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import Testing

@testable import CloudKit

/// To an app the user who is signed in has one name, `CKCurrentUserDefaultName`, and others have theirs.
@Suite struct OwnUserTests {
    /// A cloud with ada, who saved the notes 1 and 2 into the public database, and bob, who saved 3.
    private struct TwoUsers {
        let cloud: TestCloud
        let ada: CKContainer
        let bob: CKContainer
        let own = CKRecord.ID(recordName: CKCurrentUserDefaultName)
        let saved: [CKRecord]

        init(_ way: Cloud) async throws {
            cloud = try way.cloud(TestCloud(productionSchema: OwnUserTests.schema))
            ada = cloud.device(user: "ada").container
            bob = cloud.device(user: "bob").container
            saved = ["1", "2"].map {
                CKRecord(recordType: "note", recordID: CKRecord.ID(recordName: $0))
            }
            _ = try await ada.publicCloudDatabase.modifyRecords(saving: saved, deleting: [])
            let ofBob = CKRecord(recordType: "note", recordID: CKRecord.ID(recordName: "3"))
            try await bob.publicCloudDatabase.save(ofBob)
        }

        /// The names of the notes that a query finds.
        func found(_ container: CKContainer, _ format: String, _ arguments: Any...) async throws -> [String] {
            let predicate = NSPredicate(format: format, argumentArray: arguments)
            let page = try await container.publicCloudDatabase.records(
                matching: CKQuery(recordType: "note", predicate: predicate))
            return page.matchResults.map(\.0.recordName).sorted()
        }
    }

    /// Users can be asked for where the schema says so: by itself it doesn't, nor does Apple's.
    private static let schema = """
        DEFINE SCHEMA
        RECORD TYPE note (
            "___createdBy" REFERENCE QUERYABLE, "___modifiedBy" REFERENCE QUERYABLE,
            "___recordID" REFERENCE QUERYABLE, author REFERENCE QUERYABLE, readers LIST<REFERENCE>,
            GRANT READ TO "_world", GRANT CREATE TO "_icloud", GRANT WRITE TO "_creator");
        RECORD TYPE Users (team STRING, GRANT WRITE TO "_creator", GRANT READ TO "_world");
        """

    /// The names of who made a record and who changed it.
    private func names(_ record: CKRecord?) -> [String?] {
        [record?.creatorUserRecordID?.recordName, record?.lastModifiedUserRecordID?.recordName]
    }

    private let me = [CKCurrentUserDefaultName, CKCurrentUserDefaultName] as [String?]

    @Test(arguments: Cloud.allCases) func ownRecordsAreTheCurrentUsersHoweverTheyCome(way: Cloud) async throws
    {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        try await devices.phone.save(record)
        #expect(names(record) == me && record.creatorUserRecordID?.zoneID == .default)
        let fetched = try await devices.laptop.record(for: record.recordID)
        #expect(names(fetched) == me)
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(value: true))
        let found = try await devices.laptop.records(matching: query, inZoneWith: devices.zoneID)
        #expect(names(try found.matchResults.first?.1.get()) == me)
        let changes = try await devices.laptop.recordZoneChanges(inZoneWith: devices.zoneID, since: nil)
        #expect(names(try changes.modificationResultsByID[record.recordID]?.get().record) == me)
        fetched["title"] = "milk"
        try await devices.laptop.save(fetched)
        record["title"] = "bread"
        do {
            try await devices.phone.save(record)
            Issue.record("a stale record was saved")
        } catch let error as CKError {
            for one in [error.clientRecord, error.ancestorRecord, error.serverRecord] {
                #expect(names(one) == me)
            }
        }
    }

    @Test(arguments: Cloud.allCases) func othersSeeAUserUnderTheChosenName(way: Cloud) async throws {
        let users = try await TwoUsers(way)
        let adaID = try await users.ada.userRecordID()
        #expect(adaID.recordName == "_ada")
        #expect(users.saved.allSatisfy { names($0) == me })
        let id = CKRecord.ID(recordName: "1")
        #expect(names(try await users.ada.publicCloudDatabase.record(for: id)) == me)
        let seen = try await users.bob.publicCloudDatabase.record(for: id)
        #expect(seen.creatorUserRecordID == adaID && seen.lastModifiedUserRecordID == adaID)
        let all = CKQuery(recordType: "note", predicate: NSPredicate(value: true))
        let found = try await users.bob.publicCloudDatabase.records(matching: all)
        for (recordID, result) in found.matchResults {
            let isOfBob = recordID.recordName == "3"
            #expect(names(try result.get()) == (isOfBob ? me : ["_ada", "_ada"]))
        }
    }

    @Test(arguments: Cloud.allCases) func aQueryMayNameTheUserInEitherWay(way: Cloud) async throws {
        let users = try await TwoUsers(way)
        let adaID = try await users.ada.userRecordID()
        let reference = CKRecord.Reference(recordID: users.own, action: .none)
        for key in ["creatorUserRecordID", "lastModifiedUserRecordID"] {
            for value in [users.own, adaID, reference, users.saved[0].creatorUserRecordID as Any] {
                #expect(try await users.found(users.ada, "%K == %@", key, value) == ["1", "2"])
            }
            #expect(try await users.found(users.ada, "%K IN %@", key, [users.own]) == ["1", "2"])
            #expect(try await users.found(users.bob, "%K == %@", key, users.own) == ["3"])
            #expect(try await users.found(users.bob, "%K == %@", key, adaID) == ["1", "2"])
        }
    }

    @Test func aPredicateOnTheDeviceMeansTheUserByEitherName() async throws {
        let users = try await TwoUsers(.inProcess)
        let adaID = try await users.ada.userRecordID()
        let id = CKRecord.ID(recordName: "1")
        let (own, seen) = (users.saved[0], try await users.bob.publicCloudDatabase.record(for: id))
        func holds(_ format: String, _ value: Any, _ record: CKRecord) -> Bool {
            NSPredicate(format: "creatorUserRecordID " + format, argumentArray: [value]).evaluate(
                with: record)
        }
        for value in [users.own, adaID, CKRecord.Reference(recordID: adaID, action: .none)] {
            #expect(holds("== %@", value, own) && !holds("!= %@", value, own) && holds("IN %@", [value], own))
        }
        #expect(holds("== %@", adaID, seen) && !holds("== %@", users.own, seen))
        let bobID = try await users.bob.userRecordID()
        #expect(!holds("== %@", bobID, own) && !holds("IN %@", [bobID], own))
        let archived = try Self.archived(own)
        #expect(holds("== %@", users.own, archived))
        let user = try await users.ada.publicCloudDatabase.record(for: users.own)
        for predicate in ["SELF == %@", "recordID == %@"] {
            #expect(NSPredicate(format: predicate, argumentArray: [adaID]).evaluate(with: user))
        }
    }

    /// Only the default zone has users: in another one it is a name like any other.
    @Test(arguments: Cloud.allCases) func inAnotherZoneTheNameStaysAsItWasWritten(way: Cloud) async throws {
        let devices = try await TwoDevices(way)
        let note = devices.record("1")
        let named = devices.id(CKCurrentUserDefaultName)
        note["author"] = CKRecord.Reference(recordID: named, action: .none)
        try await devices.phone.save(note)
        let fetched = try await devices.laptop.record(for: note.recordID)
        #expect((fetched["author"] as? CKRecord.Reference)?.recordID == named)
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(format: "author == %@", named))
        let found = try await devices.laptop.records(matching: query, inZoneWith: devices.zoneID)
        #expect(found.matchResults.map(\.0) == [note.recordID])
    }

    private static func archived(_ record: CKRecord) throws -> CKRecord {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        return try #require(CKRecord(coder: unarchiver))
    }

    @Test(arguments: Cloud.allCases) func anArchivedRecordIsStillTheUsersAndIsSavedAsSuch(way: Cloud)
        async throws
    {
        let devices = try await TwoDevices(way)
        let record = devices.record("1", title: "eggs")
        try await devices.phone.save(record)
        let read = try Self.archived(record)
        #expect(names(read) == me)
        read["title"] = "milk"
        try await devices.phone.save(read)
        let fetched = try await devices.laptop.record(for: read.recordID)
        #expect(names(read) == me && names(fetched) == me)
    }

    /// What came from the framework goes to it again: it means the same there.
    @Test(arguments: Cloud.allCases) func theCurrentUsersIDMeansTheUserEverywhere(way: Cloud) async throws {
        let users = try await TwoUsers(way)
        let creator = try #require(users.saved[0].creatorUserRecordID)
        let database = users.ada.publicCloudDatabase
        let user = try await database.record(for: creator)
        let adaID = try await users.ada.userRecordID()
        #expect(user.recordType == "Users" && user.recordID == adaID)
        let results = try await database.records(for: [creator, CKRecord.ID(recordName: "3")])
        #expect(results[creator]?.isSuccess == true && results.count == 2)
        user["team"] = "red"
        try await database.save(user)
        #expect(try await database.record(for: adaID)["team"] == "red")
        let identity = try #require(try await users.ada.userIdentity(forUserRecordID: creator))
        #expect(identity.userRecordID?.recordName == "_ada" && identity.lookupInfo?.userRecordID == creator)
        let identities = try await users.ada.userIdentities(forUserRecordIDs: [creator])
        #expect(identities == [creator: identity])

        let note = CKRecord(recordType: "note", recordID: CKRecord.ID(recordName: "4"))
        note["author"] = CKRecord.Reference(recordID: creator, action: .none)
        note["readers"] = [CKRecord.Reference(recordID: creator, action: .none)]
        try await database.save(note)
        let seen = try await users.bob.publicCloudDatabase.record(for: note.recordID)
        #expect((seen["author"] as? CKRecord.Reference)?.recordID.recordName == "_ada")
        #expect((seen["readers"] as? [CKRecord.Reference])?.map(\.recordID.recordName) == ["_ada"])
        #expect(try await users.found(users.ada, "author == %@", users.own) == ["4"])
        #expect(try await users.found(users.bob, "author == %@", users.own) == [])
    }

    /// A token from the environment doesn't say whose it is.
    @Test(arguments: Cloud.allCases) func withATokenOfWhichNothingIsKnownTheUserIsAskedForWhereNeeded(
        way: Cloud
    ) async throws {
        let users = try await TwoUsers(way)
        let cloud = users.cloud
        let unnamed = cloud.device(
            account: FixedAccount(CloudCredential(webAuthToken: cloud.token(of: "ada")))
        ).container
        let record = CKRecord(recordType: "note", recordID: CKRecord.ID(recordName: "x"))
        try await unnamed.privateCloudDatabase.save(record)
        #expect(names(record) == me, "a private database's zones are its user's")
        let before = cloud.requestCount()
        let id = CKRecord.ID(recordName: "1")
        let fetched = try await unnamed.publicCloudDatabase.record(for: id)
        #expect(names(fetched) == ["_ada", "_ada"], "no request is made to find out")
        #expect(cloud.requestCount() == before + 1)
        let several = try await unnamed.publicCloudDatabase.records(for: [users.own, id])
        #expect(names(try several[id]?.get()) == ["_ada", "_ada"], "nor has it two names where one is made")
        let user = try await unnamed.publicCloudDatabase.record(for: users.own)
        #expect(user.recordType == "Users")
        user["team"] = "blue"
        try await unnamed.publicCloudDatabase.save(user)
        #expect(try await users.ada.publicCloudDatabase.record(for: users.own)["team"] == "blue")
        #expect(
            try await unnamed.userIdentity(forUserRecordID: users.own)?.userRecordID?.recordName == "_ada")
        #expect(try await users.found(unnamed, "creatorUserRecordID == %@", users.own) == ["1", "2"])
        let note = CKRecord(recordType: "note", recordID: CKRecord.ID(recordName: "4"))
        note["author"] = CKRecord.Reference(recordID: users.own, action: .none)
        try await unnamed.publicCloudDatabase.save(note)
        #expect(try await users.found(unnamed, "author == %@", users.own) == ["4"])
        #expect(try await users.found(users.bob, "author == %@", users.ada.userRecordID()) == ["4"])
        let nobody = cloud.signedOutDevice().container.publicCloudDatabase
        #expect(await codeThrown { try await nobody.record(for: users.own) } == .notAuthenticated)
        #expect(names(try await nobody.record(for: id)) == ["_ada", "_ada"])
    }

    /// Of Apple's servers nobody knows that they take the constant in a query.
    @Test func applesServersAreAskedForTheRealName() async throws {
        let own = CKRecord.ID(recordName: CKCurrentUserDefaultName)
        let predicate = NSPredicate(format: "creatorUserRecordID == %@", own)
        for kind in [ServerKind.apple, .yap] {
            let transport = ScriptedTransport(json: #"{"records": []}"#, #"{"subscriptions": []}"#)
            var connection = CloudConnection(
                transport: transport, execution: .inline,
                account: FixedAccount(CloudCredential(webAuthToken: "t", userRecordName: "_ada")))
            connection.serverKind = kind
            let database = CKContainer(identifier: "iCloud.test", connection: connection).privateCloudDatabase
            _ = try await database.records(matching: CKQuery(recordType: "note", predicate: predicate))
            _ = try? await database.save(
                CKQuerySubscription(
                    recordType: "note", predicate: predicate, subscriptionID: "s",
                    options: .firesOnRecordCreation))
            #expect(transport.requests.count == 2)
            for request in transport.requests {
                let body = String(decoding: request.body, as: UTF8.self)
                let name = kind == .apple ? "_ada" : CKCurrentUserDefaultName
                #expect(body.contains(#""recordName":"\#(name)""#), "\(body)")
            }
        }
    }

    @Test(arguments: Cloud.allCases) func aSubscriptionToOnesOwnRecordsComesBackAsItWasSaved(
        way: Cloud
    ) async throws {
        let devices = try await TwoDevices(way.cloud(TestCloud(productionSchema: Self.schema)))
        let own = CKRecord.ID(recordName: CKCurrentUserDefaultName)
        let subscription = CKQuerySubscription(
            recordType: "note", predicate: NSPredicate(format: "creatorUserRecordID == %@", own),
            subscriptionID: "mine", options: .firesOnRecordCreation)
        try await devices.phone.save(CKRecord(recordType: "note", recordID: devices.id("1")))
        try await devices.phone.save(subscription)
        let read = try #require(
            try await devices.laptop.subscription(for: "mine") as? CKQuerySubscription)
        let record = try await devices.laptop.record(for: devices.id("1"))
        #expect(read.predicate.evaluate(with: record))
        let sent = try devices.lastBody(.modifySubscriptions)
        #expect(sent.contains(CKCurrentUserDefaultName))
    }
}

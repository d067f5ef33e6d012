import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Each way to ask of users, in its async and its completion form.
@Suite struct UserSymbolTests {
    @Test func lookupInfosAreMadeOfEachKindOfList() {
        typealias Info = CKUserIdentity.LookupInfo
        #expect(Info.lookupInfos(withEmails: ["a@b.c"]) == [Info(emailAddress: "a@b.c")])
        #expect(Info.lookupInfos(withPhoneNumbers: ["1"]).map(\.phoneNumber) == ["1"])
        let user = CKRecord.ID(recordName: "_ada")
        #expect(Info.lookupInfos(with: [user]).map(\.userRecordID) == [user])
        #expect(
            Info(emailAddress: "a@b.c").emailAddress == "a@b.c" && Info(phoneNumber: "1").emailAddress == nil)
        #expect(Info(phoneNumber: "1").hash == Info(phoneNumber: "1").hash)
    }

    @Test(arguments: Cloud.allCases) func whoIsFoundByEachAsyncForm(way: Cloud) async throws {
        let cloud = try way.cloud()
        let ada = cloud.device(user: "ada").container
        let bob = cloud.device(user: "bob").container
        try await ada.requestApplicationPermission(.userDiscoverability)
        let adaID = try await ada.userRecordID()
        let found = try #require(try await bob.userIdentity(forUserRecordID: adaID))
        #expect(try await bob.userIdentity(forPhoneNumber: "1") == nil)
        #expect(try await bob.userIdentities(forEmailAddresses: ["a@b.c"]).isEmpty)
        // She lets those find her who know of her, and nobody else.
        #expect(try await bob.allUserIdentitiesFromContacts().isEmpty)
        #expect(found.nameComponents?.nickname == nil)
    }

    @available(*, deprecated) @Test func completionFormsTellTheSame() async throws {
        let cloud = TestCloud()
        let ada = cloud.device(user: "ada").container
        let bob = cloud.device(user: "bob").container
        let told = Collected<String>()
        ada.requestApplicationPermission(.userDiscoverability) { status, error in
            told.append("request \(status.rawValue) \(error == nil)")
        }
        ada.status(forApplicationPermission: .userDiscoverability) { status, error in
            told.append("status \(status.rawValue) \(error == nil)")
        }
        #expect(told.all == ["request 3 true", "status 3 true"])
        let adaID = try await ada.userRecordID()
        let identities = Collected<CKUserIdentity?>()
        bob.discoverUserIdentity(withUserRecordID: adaID) { identity, _ in identities.append(identity) }
        bob.discoverUserIdentity(withEmailAddress: "a@b.c") { identity, _ in identities.append(identity) }
        bob.discoverUserIdentity(withPhoneNumber: "1") { identity, _ in identities.append(identity) }
        bob.discoverAllIdentities { all, _ in identities.append(all?.first) }
        bob.discoverUserIdentities(forUserRecordIDs: [adaID]) { result in
            identities.append(try? result.get()[adaID])
        }
        bob.discoverUserIdentities(forEmailAddresses: ["a@b.c"]) { result in
            identities.append(try? result.get()["a@b.c"])
        }
        bob.discoverUserIdentities(forPhoneNumbers: ["1"]) { identities.append(try? $0.get()["1"]) }
        #expect(identities.all.map { $0?.userRecordID } == [adaID, nil, nil, nil, adaID, nil, nil])
    }

    @available(*, deprecated) @Test func aUserListedForEveryoneIsReturnedToAll() async throws {
        let listed =
            #"{"users": [{"userRecordName": "_ada", "nameComponents": {"givenName": "Ada", "familyName": "L"}}]}"#
        let container = ScriptedTransport(json: listed, listed, listed).container
        let all = try await container.allUserIdentitiesFromContacts()
        #expect(all.map(\.userRecordID?.recordName) == ["_ada"] && all.first?.lookupInfo == nil)
        #expect(all.first?.nameComponents?.givenName == "Ada" && all.first?.hasiCloudAccount == true)
        let told = Collected<String>()
        container.discoverAllIdentities { all, _ in told.append("\(all?.count ?? 0)") }
        let operation = CKDiscoverAllUserIdentitiesOperation()
        operation.userIdentityDiscoveredBlock = { told.append($0.userRecordID?.recordName ?? "-") }
        operation.discoverAllUserIdentitiesResultBlock = { told.append("end \($0.isSuccess)") }
        container.add(operation)
        #expect(told.all == ["1", "_ada", "end true"])
    }

    @available(*, deprecated) @Test func completionFormsReportAMissingSignIn() {
        let nobody = TestCloud().signedOutDevice().container
        let codes = Collected<CKError.Code?>()
        nobody.status(forApplicationPermission: .userDiscoverability) { status, error in
            #expect(status == .couldNotComplete)
            codes.append((error as? CKError)?.code)
        }
        nobody.discoverUserIdentities(forPhoneNumbers: ["1"]) { codes.append($0.code) }
        nobody.discoverAllIdentities { all, error in
            #expect(all == nil)
            codes.append((error as? CKError)?.code)
        }
        #expect(codes.all == [.notAuthenticated, .notAuthenticated, .notAuthenticated])
    }

    @available(*, deprecated) @Test func theOperationsTellEachUserAndTheEnd() async throws {
        let cloud = TestCloud()
        let ada = cloud.device(user: "ada").container
        try await ada.requestApplicationPermission(.userDiscoverability)
        let adaID = try await ada.userRecordID()
        let told = Collected<String>()
        let all = CKDiscoverAllUserIdentitiesOperation()
        all.userIdentityDiscoveredBlock = { told.append("all \($0.userRecordID == adaID)") }
        all.discoverAllUserIdentitiesResultBlock = { told.append("all end \($0.isSuccess)") }
        let some = CKDiscoverUserIdentitiesOperation()
        some.userIdentityLookupInfos = [CKUserIdentity.LookupInfo(userRecordID: adaID)]
        some.userIdentityDiscoveredBlock = { identity, _ in
            told.append("some \(identity.userRecordID == adaID)")
        }
        some.discoverUserIdentitiesCompletionBlock = { told.append("some end \($0 == nil)") }
        for operation in [all, some] { ada.add(operation) }
        #expect(told.all == ["all end true", "some true", "some end true"])
    }

    @Test func accountStatusIsReturnedByBothForms() async throws {
        let cloud = TestCloud()
        let (signedIn, signedOut) = (cloud.device(user: "ada").container, cloud.signedOutDevice().container)
        #expect(try await signedIn.accountStatus() == .available)
        #expect(try await signedOut.accountStatus() == .noAccount)
        let told = Collected<CKAccountStatus>()
        signedIn.accountStatus { status, error in if error == nil { told.append(status) } }
        signedOut.accountStatus { status, error in if error == nil { told.append(status) } }
        #expect(told.all == [CKAccountStatus.available, .noAccount])
        let names = Collected<CKRecord.ID?>()
        signedIn.fetchUserRecordID { recordID, _ in names.append(recordID) }
        signedOut.fetchUserRecordID { recordID, _ in names.append(recordID) }
        #expect(names.all == [try await signedIn.userRecordID(), nil])
    }

    @Test func aContainersDatabasesAreAlwaysTheSame() {
        let container = CKContainer(identifier: "iCloud.com.example.todo")
        #expect(container.containerIdentifier == "iCloud.com.example.todo")
        #expect(container.database(with: CKDatabase.Scope.private) === container.privateCloudDatabase)
        #expect(container.database(with: .public) === container.publicCloudDatabase)
        #expect(container.database(with: .shared) === container.sharedCloudDatabase)
        #expect(container.sharedCloudDatabase.databaseScope == .shared)
        #expect(container.publicCloudDatabase.databaseScope == .public)
        #expect(container.privateCloudDatabase.description.contains("iCloud.com.example.todo"))
        #expect(CKContainer.default() === CKContainer.default())
    }
}

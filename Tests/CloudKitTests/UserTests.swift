import CloudKit
import CloudKitTesting
import Foundation
import Testing

@Suite struct UserTests {
    @Test(arguments: Cloud.allCases) func onlyDiscoverableUsersAreFound(way: Cloud) async throws {
        let cloud = try way.cloud()
        let ada = cloud.device(user: "ada").container
        let bob = cloud.device(user: "bob").container
        let adaID = try await ada.userRecordID()
        #expect(try await bob.userIdentity(forUserRecordID: adaID) == nil)
        #expect(try await ada.applicationPermissionStatus(for: .userDiscoverability) == .denied)
        #expect(try await ada.requestApplicationPermission(.userDiscoverability) == .granted)
        #expect(try await ada.applicationPermissionStatus(for: .userDiscoverability) == .granted)
        let found = try #require(try await bob.userIdentity(forUserRecordID: adaID))
        #expect(found.userRecordID == adaID && found.hasiCloudAccount && found.contactIdentifiers.isEmpty)
        #expect(found.lookupInfo?.userRecordID == adaID)
        let nobody = CKRecord.ID(recordName: "_nobody")
        #expect(try await bob.userIdentities(forUserRecordIDs: [nobody, adaID]) == [adaID: found])
        #expect(try await bob.userIdentity(forEmailAddress: "ada@example.com") == nil)
        #expect(try await bob.userIdentities(forPhoneNumbers: ["1", "2"]).isEmpty)
    }

    @Test(arguments: Cloud.allCases) func theUsersOwnRecordIsFetchedAndSavedWithoutItsName(
        way: Cloud
    ) async throws {
        let cloud = try way.cloud()
        let ada = cloud.device(user: "ada").container
        func own(_ database: CKDatabase) -> Result<CKRecord, any Error>? {
            let told = Collected<Result<CKRecord, any Error>>()
            let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
            operation.perRecordResultBlock = { _, result in told.append(result) }
            operation.fetchRecordsResultBlock = {
                if case .failure(let error) = $0 { told.append(.failure(error)) }
            }
            database.add(operation)
            return told.all.count == 1 ? told.all[0] : nil
        }
        let record = try #require(try own(ada.privateCloudDatabase)?.get())
        #expect(try await record.recordID == ada.userRecordID() && record.recordType == "Users")
        record["team"] = "red"
        try await ada.publicCloudDatabase.save(record)
        #expect(try own(ada.publicCloudDatabase)?.get()["team"] == "red")
        let nobody = cloud.signedOutDevice().container
        #expect(own(nobody.publicCloudDatabase)?.code == .notAuthenticated)
    }

    @available(*, deprecated) @Test func theOperationReportsEachUserAndThenTheEnd() async throws {
        let cloud = TestCloud()
        let ada = cloud.device(user: "ada").container
        let bob = cloud.device(user: "bob").container
        try await ada.requestApplicationPermission(.userDiscoverability)
        let adaID = try await ada.userRecordID()
        let operation = CKDiscoverUserIdentitiesOperation(
            userIdentityLookupInfos: CKUserIdentity.LookupInfo.lookupInfos(with: [adaID]))
        let told = Collected<String>()
        operation.userIdentityDiscoveredBlock = { identity, info in
            told.append("\(identity.userRecordID?.recordName ?? "?") \(info.userRecordID == adaID)")
        }
        operation.discoverUserIdentitiesResultBlock = { told.append("end \($0.isSuccess)") }
        operation.discoverUserIdentitiesCompletionBlock = { _ in told.append("old") }
        bob.add(operation)
        #expect(told.all == ["\(adaID.recordName) true", "end true"])

        let cancelled = CKDiscoverAllUserIdentitiesOperation()
        let codes = Collected<CKError.Code?>()
        cancelled.discoverAllUserIdentitiesCompletionBlock = { codes.append(($0 as? CKError)?.code) }
        cancelled.cancel()
        bob.add(cancelled)
        #expect(codes.all == [.operationCancelled])
    }

    @Test func identitiesSurviveTheirArchives() async throws {
        let cloud = TestCloud()
        let ada = cloud.device(user: "ada").container
        try await ada.requestApplicationPermission(.userDiscoverability)
        let identity = try #require(try await ada.userIdentity(forUserRecordID: ada.userRecordID()))
        let data = try NSKeyedArchiver.archivedData(withRootObject: identity, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKUserIdentity.self, from: data)
        #expect(read == identity && read?.hasiCloudAccount == true)
        #expect(CKUserIdentity.LookupInfo(emailAddress: "a") != CKUserIdentity.LookupInfo(phoneNumber: "a"))
    }
}

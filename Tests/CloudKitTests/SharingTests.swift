import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Sharing has its symbols, and says that it isn't there.
@Suite struct SharingTests {
    @Test func aShareIsMadeAndItsSaveSaysThatThereIsNoSharing() async throws {
        let devices = try await TwoDevices()
        let root = devices.record("root", title: "list")
        let share = CKShare(rootRecord: root)
        share[CKShare.SystemFieldKey.title] = "Groceries"
        share.publicPermission = .readOnly
        #expect(share.recordType == CKRecord.SystemType.share && share.url == nil && share.owner == nil)
        #expect(root.share?.recordID == share.recordID && share.recordID.zoneID == devices.zoneID)
        let saved = try await devices.phone.modifyRecords(saving: [root, share], deleting: [])
        #expect(saved.saveResults[share.recordID]?.code == .serverRejectedRequest)
        #expect(saved.saveResults[root.recordID]?.code == .batchRequestFailed)
        let zoneShare = CKShare(recordZoneID: devices.zoneID)
        #expect(zoneShare.recordID.recordName == CKRecordNameZoneWideShare)
    }

    @Test func aShareSurvivesItsArchiveAndACopy() async throws {
        let cloud = TestCloud()
        let ada = cloud.device(user: "ada").container
        try await ada.requestApplicationPermission(.userDiscoverability)
        let share = CKShare(rootRecord: CKRecord(recordType: "list"))
        share.publicPermission = .readWrite
        share["cloudkit.title"] = "Groceries"
        let data = try NSKeyedArchiver.archivedData(withRootObject: share, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data))
        let copy = try #require(share.copy() as? CKShare)
        for other in [read, copy] {
            #expect(other.recordID == share.recordID && other.publicPermission == .readWrite)
            #expect(other["cloudkit.title"] as? String == "Groceries" && other.participants.isEmpty)
        }
    }

    @available(*, deprecated) @Test func theOperationsOfSharingEndOnceWithTheSameError() throws {
        let container = TestCloud().device(user: "ada").container
        let codes = Collected<CKError.Code?>()
        let accept = CKAcceptSharesOperation(shareMetadatas: [])
        accept.acceptSharesCompletionBlock = { codes.append(($0 as? CKError)?.code) }
        let metadata = CKFetchShareMetadataOperation(shareURLs: [])
        metadata.fetchShareMetadataResultBlock = { codes.append($0.code) }
        metadata.fetchShareMetadataCompletionBlock = { _ in codes.append(nil) }
        let participants = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [])
        participants.fetchShareParticipantsResultBlock = { codes.append($0.code) }
        for operation in [accept, metadata, participants] { container.add(operation) }
        #expect(codes.all == [.serverRejectedRequest, .serverRejectedRequest, .serverRejectedRequest])
    }

    @Test func aCopyOfAShareHasParticipantsOfItsOwn() throws {
        let share = CKShare(rootRecord: CKRecord(recordType: "list"))
        let participant = CKShare.Participant.oneTimeURLParticipant()
        participant.permission = .readOnly
        share.addParticipant(participant)
        let copy = try #require(share.copy() as? CKShare)
        try #require(copy.participants.first).permission = .readWrite
        #expect(copy.participants == share.participants && share.participants.first?.permission == .readOnly)
    }
}

import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Every way to share ends once, with the error that says that there is no sharing.
@Suite struct SharingSymbolTests {
    private let container = TestCloud().device(user: "ada").container
    private let url = URL(filePath: "/share")

    private func metadata() throws -> CKShare.Metadata {
        try ArchivedClasses.fromApple(CKShare.Metadata.self) { $0.addMetadata() }
    }

    @Test func asyncFormsThrowTheErrorOfSharing() async throws {
        let metadata = try metadata()
        let user = CKRecord.ID(recordName: "_bob")
        let calls: [@Sendable () async throws -> Void] = [
            { [container] in _ = try await container.shareParticipant(forEmailAddress: "b@c.d") },
            { [container] in _ = try await container.shareParticipant(forPhoneNumber: "1") },
            { [container] in _ = try await container.shareParticipant(forUserRecordID: user) },
            { [container] in _ = try await container.shareParticipants(forEmailAddresses: ["b@c.d"]) },
            { [container] in _ = try await container.shareParticipants(forPhoneNumbers: ["1"]) },
            { [container] in _ = try await container.shareParticipants(forUserRecordIDs: [user]) },
            { [container, url] in _ = try await container.shareMetadata(for: url) },
            { [container, url] in _ = try await container.shareMetadatas(for: [url]) },
            { [container] in try await container.accept(metadata) },
            { [container] in try await container.accept([metadata]) },
        ]
        for call in calls { #expect(await codeThrown(call) == .serverRejectedRequest) }
    }

    @Test func completionFormsAreCalledOnceWithTheErrorOfSharing() throws {
        let metadata = try metadata()
        let user = CKRecord.ID(recordName: "_bob")
        let codes = Collected<CKError.Code?>()
        container.fetchShareParticipant(withEmailAddress: "b@c.d") { codes.append(Self.code($0, $1)) }
        container.fetchShareParticipant(withPhoneNumber: "1") { codes.append(Self.code($0, $1)) }
        container.fetchShareParticipant(withUserRecordID: user) { codes.append(Self.code($0, $1)) }
        container.fetchShareParticipants(forEmailAddresses: ["b@c.d"]) { codes.append($0.code) }
        container.fetchShareParticipants(forPhoneNumbers: ["1"]) { codes.append($0.code) }
        container.fetchShareParticipants(forUserRecordIDs: [user]) { codes.append($0.code) }
        container.fetchShareMetadata(with: url) { codes.append(Self.code($0, $1)) }
        container.fetchShareMetadatas(for: [url]) { codes.append($0.code) }
        container.accept(metadata) { codes.append(Self.code($0, $1)) }
        container.accept([metadata]) { codes.append($0.code) }
        #expect(codes.all == Array(repeating: .serverRejectedRequest, count: 10))
    }

    private static func code(_ value: (some Any)?, _ error: (any Error)?) -> CKError.Code? {
        value == nil ? (error as? CKError)?.code : nil
    }

    @available(*, deprecated) @Test func theOldBlocksOfTheOperationsGetTheSameError() throws {
        let codes = Collected<CKError.Code?>()
        let unexpected = Collected<String>()
        let accept = CKAcceptSharesOperation(shareMetadatas: [try metadata()])
        accept.perShareResultBlock = { _, _ in unexpected.append("a share") }
        accept.perShareCompletionBlock = { _, _, _ in unexpected.append("an old share") }
        accept.acceptSharesResultBlock = { codes.append($0.code) }
        let metadatas = CKFetchShareMetadataOperation(shareURLs: [url])
        metadatas.shouldFetchRootRecord = true
        metadatas.rootRecordDesiredKeys = ["title"]
        metadatas.perShareMetadataResultBlock = { _, _ in unexpected.append("a metadata") }
        metadatas.perShareMetadataBlock = { _, _, _ in unexpected.append("an old metadata") }
        metadatas.fetchShareMetadataCompletionBlock = { codes.append(($0 as? CKError)?.code) }
        let info = CKUserIdentity.LookupInfo(emailAddress: "b@c.d")
        let participants = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [info])
        participants.perShareParticipantResultBlock = { _, _ in unexpected.append("a participant") }
        participants.shareParticipantFetchedBlock = { _ in unexpected.append("an old participant") }
        participants.fetchShareParticipantsCompletionBlock = { codes.append(($0 as? CKError)?.code) }
        #expect(accept.shareMetadatas?.count == 1 && metadatas.shareURLs == [url])
        #expect(
            participants.userIdentityLookupInfos == [info] && metadatas.rootRecordDesiredKeys == ["title"])
        #expect(CKFetchShareMetadataOperation().shouldFetchRootRecord == false)
        for operation in [accept, metadatas, participants] { container.add(operation) }
        #expect(codes.all == [.serverRejectedRequest, .serverRejectedRequest, .serverRejectedRequest])
        #expect(unexpected.all.isEmpty)
    }

    @Test func toAskForAccessEndsWithTheErrorOfSharingOrOfACancel() {
        let codes = Collected<CKError.Code?>()
        let ask = CKShareRequestAccessOperation(shareURLs: [url])
        ask.perShareAccessRequestResultBlock = { _, _ in Issue.record("no share is asked for") }
        ask.shareAccessRequestResultBlock = { codes.append($0.code) }
        let cancelled = CKShareRequestAccessOperation()
        cancelled.shareAccessRequestResultBlock = { codes.append($0.code) }
        cancelled.cancel()
        for operation in [ask, cancelled] { container.add(operation) }
        #expect(codes.all == [.serverRejectedRequest, .operationCancelled])
        #expect(ask.shareURLs == [url] && cancelled.shareURLs == nil && ask.isFinished)
    }

    @available(*, deprecated) @Test func participantsAreAddedChangedAndRemoved() throws {
        let root = CKRecord(recordType: "list")
        let share = CKShare(rootRecord: root, shareID: CKRecord.ID(recordName: "mine"))
        #expect(share.recordID.recordName == "mine" && root.share?.recordID == share.recordID)
        #expect(share.currentUserParticipant == nil && share.owner == nil && share.url == nil)
        let participant = CKShare.Participant.oneTimeURLParticipant()
        #expect(participant.role == .privateUser && participant.acceptanceStatus == .pending)
        #expect(!participant.isApprovedRequester && participant.dateAddedToShare == nil)
        #expect(!participant.userIdentity.hasiCloudAccount && participant.type == .privateUser)
        share.addParticipant(participant)
        share.addParticipant(participant)
        #expect(share.participants == [participant])
        #expect(share.oneTimeURL(for: participant.participantID) == nil)
        participant.permission = .readWrite
        participant.type = .publicUser
        #expect(participant.role == .publicUser && share.participants.first?.permission == .readWrite)
        let copy = try #require(participant.copy() as? CKShare.Participant)
        copy.permission = .readOnly
        #expect(copy == participant && participant.permission == .readWrite && copy.hash == participant.hash)
        let copied = try #require(share.copy() as? CKShare)
        share.removeParticipant(participant)
        #expect(share.participants.isEmpty && copied.participants == [participant])
        #expect(CKShare.Participant.oneTimeURLParticipant() != participant)
    }

    @Test func accessRequestsAreNotAvailableYet() throws {
        let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "todos"))
        #expect(!share.allowsAccessRequests && share.requesters.isEmpty && share.blockedIdentities.isEmpty)
        share.allowsAccessRequests = true
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKShare.self, from: ArchivedClasses.xml(share))
        #expect(read?.allowsAccessRequests == true)
        let blocked = try ArchivedClasses.all().compactMap { $0 as? CKShare.BlockedIdentity }
        let requesters = try ArchivedClasses.all().compactMap { $0 as? CKShare.AccessRequester }
        share.denyRequesters(requesters)
        share.blockRequesters(requesters)
        share.unblockIdentities(blocked)
        #expect(share.requesters.isEmpty && share.blockedIdentities.isEmpty)
        #expect(blocked.first?.userIdentity.nameComponents?.givenName == "Ada")
        #expect(requesters.first?.participantLookupInfo.emailAddress == "a@b.c")
        #expect(requesters.first?.userIdentity.userRecordID?.recordName == "_ada")
    }
}

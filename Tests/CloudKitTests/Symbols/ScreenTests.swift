import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// What needs a screen does nothing and says so.
@Suite(.serialized) struct ScreenTests {
    private let container = TestCloud().device(user: "ada").container

    @Test func theShareSheetsPartsSayOnceThatThereIsNone() throws {
        let said = Collected<String>()
        Inert.redirect { said.append($0) }
        let provider = NSItemProvider()
        let share = CKShare(rootRecord: CKRecord(recordType: "list"))
        provider.registerCKShare(share, container: container, allowedSharingOptions: .standard)
        provider.registerCKShare(container: container) {
            Issue.record("nobody prepares a share")
            return share
        }
        let observer = CKSystemSharingUIObserver(container: container)
        observer.systemSharingUIDidSaveShareBlock = { _, _ in }
        observer.systemSharingUIDidStopSharingBlock = { _, _ in }
        let exporter: @Sendable (String) -> CKShareTransferRepresentation<String>.ExportedShare = {
            [container] _ in
            Issue.record("nobody exports")
            return .existing(share, container: container, allowedSharingOptions: .standard)
        }
        _ = CKShareTransferRepresentation<String>(exporter: exporter)
        _ = CKShareTransferRepresentation<String>.ExportedShare.prepareShare(
            container: container, allowedSharingOptions: .standard, preparationHandler: { share })
        #expect(
            said.all == [
                "CloudKit: NSItemProvider.registerCKShare does nothing on Linux: there is no share sheet.",
                "CloudKit: CKSystemSharingUIObserver does nothing on Linux: there is no share sheet.",
                "CloudKit: CKShareTransferRepresentation does nothing on Linux: there is no share sheet.",
            ])
    }

    @Test func optionsOfTheShareSheetAreValues() throws {
        let options = CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .readOnly, allowedParticipantAccessOptions: .anyoneWithLink)
        #expect(options.allowedParticipantPermissionOptions == .readOnly)
        #expect(options.allowedParticipantAccessOptions == .anyoneWithLink)
        #expect(!options.allowsParticipantsToInviteOthers && !options.allowsAccessRequests)
        let copy = try #require(options.copy() as? CKAllowedSharingOptions)
        #expect(copy == options && copy.hash == options.hash)
        copy.allowedParticipantPermissionOptions = .any
        copy.allowedParticipantAccessOptions = .specifiedRecipientsOnly
        copy.allowsAccessRequests = true
        copy.allowsParticipantsToInviteOthers = true
        #expect(copy != options && options.allowedParticipantPermissionOptions == .readOnly)
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKAllowedSharingOptions.self, from: ArchivedClasses.xml(copy))
        #expect(read == copy && read?.allowsAccessRequests == true)
        #expect(read?.allowsParticipantsToInviteOthers == true)
        #expect(CKAllowedSharingOptions.standard.allowedParticipantAccessOptions == .any)
    }
}

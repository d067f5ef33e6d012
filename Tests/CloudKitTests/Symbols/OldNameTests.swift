import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// The names of Swift 3 and of Objective-C: a warning, and what they always meant.
@Suite struct OldNameTests {
    @available(*, deprecated) @Test func namesOfTypesAreTheTypes() {
        #expect(CKRecordSavePolicy.self == CKModifyRecordsOperation.RecordSavePolicy.self)
        #expect(CKOperationGroupTransferSize.self == CKOperationGroup.TransferSize.self)
        #expect(CKApplicationPermissions.self == CKContainer.ApplicationPermissions.self)
        #expect(CKApplicationPermissionStatus.self == CKContainer.ApplicationPermissionStatus.self)
        #expect(CKContainer_Application_Permissions.self == CKContainer.ApplicationPermissions.self)
        #expect(CKContainer_Application_PermissionStatus.self == CKContainer.ApplicationPermissionStatus.self)
        #expect(CKContainer.Application.Permissions.self == CKContainer.ApplicationPermissions.self)
        #expect(CKContainer.Application.PermissionStatus.self == CKContainer.ApplicationPermissionStatus.self)
        #expect(CKDatabaseScope.self == CKDatabase.Scope.self)
        #expect(CKRecordZoneCapabilities.self == CKRecordZone.Capabilities.self)
        #expect(CKRecord_Reference_Action.self == CKRecord.ReferenceAction.self)
        #expect(CKReferenceAction.self == CKRecord.ReferenceAction.self)
        #expect(CKRecord.Reference.Action.self == CKReferenceAction.self)
        #expect(CKSubscriptionType.self == CKSubscription.SubscriptionType.self)
        #expect(CKSubscriptionOptions.self == CKQuerySubscription.Options.self)
        #expect(CKQuerySubscriptionOptions.self == CKQuerySubscription.Options.self)
        #expect(CKNotificationType.self == CKNotification.NotificationType.self)
        #expect(CKQueryNotificationReason.self == CKQueryNotification.Reason.self)
        #expect(CKFetchRecordZoneChangesOptions.self == CKFetchRecordZoneChangesConfiguration.self)
        #expect(
            CKFetchRecordZoneChangesOperation.ZoneOptions.self
                == CKFetchRecordZoneChangesOperation.ZoneConfiguration.self)
        #expect(CKShare_Participant_AcceptanceStatus.self == CKShare.ParticipantAcceptanceStatus.self)
        #expect(CKShare_Participant_Permission.self == CKShare.ParticipantPermission.self)
        #expect(CKShare_Participant_ParticipantType.self == CKShare.ParticipantType.self)
        #expect(CKShare_Participant_Role.self == CKShare.ParticipantRole.self)
    }

    @Test func namesOfClassesAreTheNestedOnes() {
        #expect(CKRecordID.self == CKRecord.ID.self && CKRecordZoneID.self == CKRecordZone.ID.self)
        #expect(CKReference.self == CKRecord.Reference.self && CKErrorCode.self == CKError.Code.self)
        #expect(CKQueryCursor.self == CKQueryOperation.Cursor.self)
        #expect(CKNotificationInfo.self == CKSubscription.NotificationInfo.self)
        #expect(CKNotificationID.self == CKNotification.ID.self)
        #expect(CKOperationConfiguration.self == CKOperation.Configuration.self)
        #expect(CKUserIdentityLookupInfo.self == CKUserIdentity.LookupInfo.self)
        #expect(CKShareMetadata.self == CKShare.Metadata.self)
        #expect(CKShareParticipant.self == CKShare.Participant.self)
        #expect(CKShareParticipantRole.self == CKShare.ParticipantRole.self)
        #expect(CKShareParticipantType.self == CKShare.ParticipantType.self)
        #expect(CKShareParticipantPermission.self == CKShare.ParticipantPermission.self)
        #expect(CKShareParticipantAcceptanceStatus.self == CKShare.ParticipantAcceptanceStatus.self)
        #expect(CKShare.Participant.Role.self == CKShare.ParticipantRole.self)
        #expect(CKShare.Participant.Permission.self == CKShare.ParticipantPermission.self)
        #expect(CKShare.Participant.AcceptanceStatus.self == CKShare.ParticipantAcceptanceStatus.self)
        #expect(CKShare.Participant.ParticipantType.self == CKShare.ParticipantType.self)
        #expect(CKShare.AccessRequester.self == CKShareAccessRequester.self)
        #expect(CKShare.BlockedIdentity.self == CKShareBlockedIdentity.self)
        let texts: [any Any.Type] = [
            CKRecord.RecordType.self, CKRecord.FieldKey.self, CKSubscription.ID.self, CKOperation.ID.self,
            CKShare.Participant.ID.self,
        ]
        #expect(texts.allSatisfy { $0 == String.self })
    }

    @available(*, deprecated) @Test func globalsHaveTheValuesOfTheirNewNames() {
        #expect(CKRecordZoneDefaultName == CKRecordZone.ID.defaultZoneName)
        #expect(CKOwnerDefaultName == CKCurrentUserDefaultName)
        #expect(CKRecordTypeUserRecord == CKRecord.SystemType.userRecord)
        #expect(CKRecordTypeShare == CKRecord.SystemType.share)
        #expect(CKRecordParentKey == CKRecord.SystemFieldKey.parent)
        #expect(CKRecordShareKey == CKRecord.SystemFieldKey.share)
        #expect(CKShareTitleKey == CKShare.SystemFieldKey.title)
        #expect(CKShareThumbnailImageDataKey == CKShare.SystemFieldKey.thumbnailImageData)
        #expect(CKShareTypeKey == CKShare.SystemFieldKey.shareType)
        #expect(CKQueryOperationMaximumResults == CKQueryOperation.maximumResults)
        #expect(CKAccountChangedNotification == .CKAccountChanged)
    }

    @available(*, deprecated) @Test func olderInitializersMakeWhatTheNewOnesMake() {
        let zoneID = CKRecordZone.ID(zoneName: "todos")
        let record = CKRecord(recordType: "todo", zoneID: zoneID)
        #expect(record.recordID.zoneID == zoneID && !record.recordID.recordName.isEmpty)
        let owner: String? = nil
        #expect(CKRecordZone.ID(zoneName: "todos", ownerName: owner) == zoneID)
        #expect(CKRecordZone.ID(zoneName: "todos", ownerName: Optional("_bob")).ownerName == "_bob")
        let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
        options.resultsLimit = 5
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], optionsByRecordZoneID: [zoneID: options])
        #expect(operation.configurationsByRecordZoneID == [zoneID: options])
        operation.optionsByRecordZoneID = nil
        #expect(operation.configurationsByRecordZoneID == nil && operation.recordZoneIDs == [zoneID])
        let query = CKQuerySubscription(recordType: "todo", predicate: NSPredicate(value: true))
        #expect(
            !query.subscriptionID.isEmpty && query.querySubscriptionOptions.contains(.firesOnRecordUpdate))
        let block: CKContainer.Application.PermissionBlock = { status, _ in #expect(status == .denied) }
        let other: CKContainer_Application_PermissionBlock = block
        let third: CKApplicationPermissionBlock = other
        third(.denied, nil)
    }

    @available(*, deprecated) @Test func aZoneThatAnAppDeletedIsNotPurged() async throws {
        let devices = try await TwoDevices()
        let before = try await devices.laptop.databaseChanges(since: nil)
        try await devices.phone.deleteRecordZone(withID: devices.zoneID)
        let after = try await devices.laptop.databaseChanges(since: before.changeToken)
        let deletion: CKDatabase.DatabaseChange.Deletion = try #require(after.deletions.first)
        #expect(deletion.zoneID == devices.zoneID && deletion.reason == .deleted && !deletion.purged)
    }
}

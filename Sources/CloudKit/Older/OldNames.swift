// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

// The names of Swift 3 and of Objective-C, which older code still uses. Apple's compiler rejects them with a fix-it;
// here the code compiles with the same fix-it. Classes in keyed archives need a name at the top level, so these are
// declared under their old names: `CKRecordID`, `CKReference`, `CKErrorCode`.

/// How a save treats a record that changed on the server.
@available(*, deprecated, renamed: "CKModifyRecordsOperation.RecordSavePolicy")
public typealias CKRecordSavePolicy = CKModifyRecordsOperation.RecordSavePolicy
/// How much is expected to be sent or fetched.
@available(*, deprecated, renamed: "CKOperationGroup.TransferSize")
public typealias CKOperationGroupTransferSize = CKOperationGroup.TransferSize
/// Permissions that an app requests from the user.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
public typealias CKApplicationPermissions = CKContainer.ApplicationPermissions
/// The state of a permission.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionStatus")
public typealias CKApplicationPermissionStatus = CKContainer.ApplicationPermissionStatus
/// Called with the user's decision.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
public typealias CKApplicationPermissionBlock = CKContainer.ApplicationPermissionBlock
/// Permissions that an app requests from the user.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
public typealias CKContainer_Application_Permissions = CKContainer.ApplicationPermissions
/// The state of a permission.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionStatus")
public typealias CKContainer_Application_PermissionStatus = CKContainer.ApplicationPermissionStatus
/// Called with the user's decision.
@available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
public typealias CKContainer_Application_PermissionBlock = CKContainer.ApplicationPermissionBlock
/// Which of a container's databases.
@available(*, deprecated, renamed: "CKDatabase.Scope")
public typealias CKDatabaseScope = CKDatabase.Scope
/// The capabilities of a zone.
@available(*, deprecated, renamed: "CKRecordZone.Capabilities")
public typealias CKRecordZoneCapabilities = CKRecordZone.Capabilities
/// What happens to a record if its target is deleted.
@available(*, deprecated, renamed: "CKRecord.ReferenceAction")
public typealias CKRecord_Reference_Action = CKRecord.ReferenceAction
/// The kind of subscription.
@available(*, deprecated, renamed: "CKSubscription.SubscriptionType")
public typealias CKSubscriptionType = CKSubscription.SubscriptionType
/// Changes that fire a query subscription, and how often.
@available(*, deprecated, renamed: "CKQuerySubscription.Options")
public typealias CKSubscriptionOptions = CKQuerySubscription.Options
/// Changes that fire a query subscription, and how often.
@available(*, deprecated, renamed: "CKQuerySubscription.Options")
public typealias CKQuerySubscriptionOptions = CKQuerySubscription.Options
/// Which kind of subscription fired.
@available(*, deprecated, renamed: "CKNotification.NotificationType")
public typealias CKNotificationType = CKNotification.NotificationType
/// The kind of change to a record that matches a query.
@available(*, deprecated, renamed: "CKQueryNotification.Reason")
public typealias CKQueryNotificationReason = CKQueryNotification.Reason
/// The state of an invitation.
@available(*, deprecated, renamed: "CKShare.ParticipantAcceptanceStatus")
public typealias CKShare_Participant_AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
/// The permission of a participant.
@available(*, deprecated, renamed: "CKShare.ParticipantPermission")
public typealias CKShare_Participant_Permission = CKShare.ParticipantPermission
/// A participant's role, in older terms.
@available(*, deprecated, renamed: "CKShare.ParticipantType")
public typealias CKShare_Participant_ParticipantType = CKShare.ParticipantType
/// A participant's role.
@available(*, deprecated, renamed: "CKShare.ParticipantRole")
public typealias CKShare_Participant_Role = CKShare.ParticipantRole

/// The name of the zone that every database has.
@available(*, deprecated, renamed: "CKRecordZone.ID.defaultZoneName")
public let CKRecordZoneDefaultName = CKRecordZone.ID.defaultZoneName
/// The owner name that means "the user of this device".
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName = CKCurrentUserDefaultName
/// The type of users' records.
@available(*, deprecated, renamed: "CKRecord.SystemType.userRecord")
public let CKRecordTypeUserRecord = CKRecord.SystemType.userRecord
/// The type of shares.
@available(*, deprecated, renamed: "CKRecord.SystemType.share")
public let CKRecordTypeShare = CKRecord.SystemType.share
/// The key of a record's parent.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.parent")
public let CKRecordParentKey = CKRecord.SystemFieldKey.parent
/// The key of a record's share.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.share")
public let CKRecordShareKey = CKRecord.SystemFieldKey.share
/// The key of the invitation's title.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.title")
public let CKShareTitleKey = CKShare.SystemFieldKey.title
/// The key of the invitation's picture.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.thumbnailImageData")
public let CKShareThumbnailImageDataKey = CKShare.SystemFieldKey.thumbnailImageData
/// The key of the kind of the shared item.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.shareType")
public let CKShareTypeKey = CKShare.SystemFieldKey.shareType
/// The `resultsLimit` of a query that leaves the number of records to the server.
@available(*, deprecated, renamed: "CKQueryOperation.maximumResults")
public let CKQueryOperationMaximumResults = CKQueryOperation.maximumResults

extension CKContainer {
    /// Permissions that an app requests from the user, under their old names.
    @available(*, deprecated, message: "the names are the container's own")
    public enum Application {
        /// Permissions that an app requests from the user.
        public typealias Permissions = CKContainer.ApplicationPermissions
        /// The state of a permission.
        public typealias PermissionStatus = CKContainer.ApplicationPermissionStatus
        /// Called with the user's decision.
        public typealias PermissionBlock = CKContainer.ApplicationPermissionBlock
    }
}

// API that Apple removed long ago and that can't work as before. The compiler reports its replacement.

/// Found users by their addresses and records.
@available(*, unavailable, renamed: "CKDiscoverUserIdentitiesOperation")
public typealias CKDiscoverUserInfosOperation = CKDiscoverUserIdentitiesOperation
/// Found the users of the address book.
@available(*, unavailable, renamed: "CKDiscoverAllUserIdentitiesOperation")
public typealias CKDiscoverAllContactsOperation = CKDiscoverAllUserIdentitiesOperation
/// A discovered user.
@available(*, unavailable, renamed: "CKUserIdentity")
public typealias CKDiscoveredUserInfo = CKUserIdentity

extension CKSubscription {
    /// Made a subscription to a query.
    @available(
        *, unavailable, message: "use CKQuerySubscription.init(recordType:predicate:subscriptionID:options:)"
    )
    public convenience init(
        recordType: CKRecord.RecordType, predicate: NSPredicate, options: CKQuerySubscription.Options
    ) {
        self.init(State(subscriptionID: "", type: .query))
    }
}

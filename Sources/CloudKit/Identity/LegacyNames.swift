// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The names of Swift 3 and of Objective-C, which older code still uses.

/// The name of the zone that every database has.
public let CKRecordZoneDefaultName = CKRecordZoneID.defaultZoneName
/// The owner name that means "the user of this device".
public let CKOwnerDefaultName = CKCurrentUserDefaultName
/// How a save treats a record that changed on the server.
public typealias CKRecordSavePolicy = CKModifyRecordsOperation.RecordSavePolicy
/// How much is expected to be sent or fetched.
public typealias CKOperationGroupTransferSize = CKOperationGroup.TransferSize
/// What an app asks the user's leave for.
public typealias CKApplicationPermissions = CKContainer.ApplicationPermissions
/// Whether the user gave leave.
public typealias CKApplicationPermissionStatus = CKContainer.ApplicationPermissionStatus
/// What is called with the user's decision.
public typealias CKApplicationPermissionBlock = CKContainer.ApplicationPermissionBlock
/// Which of a container's databases.
public typealias CKDatabaseScope = CKDatabase.Scope
/// What a zone can do.
public typealias CKRecordZoneCapabilities = CKRecordZone.Capabilities
/// What is watched.
public typealias CKSubscriptionType = CKSubscription.SubscriptionType
/// Which kind of subscription fired.
public typealias CKNotificationType = CKNotification.NotificationType
/// What happened to a record that a query finds.
public typealias CKQueryNotificationReason = CKQueryNotification.Reason
/// The `resultsLimit` of a query that leaves the number of records to the server.
public let CKQueryOperationMaximumResults = CKQueryOperation.maximumResults
/// What fires a query subscription, and how often.
public typealias CKQuerySubscriptionOptions = CKQuerySubscription.Options

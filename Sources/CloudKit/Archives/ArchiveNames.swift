import CArchiveNames
import CoreLocation
import Foundation

/// The classes whose objects lie in archives, under the names that they have in Apple's: so a blob that was written
/// there is read here. Not the other way round: Foundation on Linux writes a class under its module's name, whatever
/// `setClassName` was told.
private let archivedClasses: [(name: String, type: AnyClass)] = [
    ("CKRecord", CKRecord.self), ("CKRecordID", CKRecordID.self), ("CKRecordZone", CKRecordZone.self),
    ("CKRecordZoneID", CKRecordZoneID.self), ("CKReference", CKReference.self), ("CKAsset", CKAsset.self),
    ("CKRecordValueStore", CKRecordValueStore.self),
    ("CKEncryptedRecordValueStore", CKEncryptedRecordValueStore.self),
    ("CKServerChangeToken", CKServerChangeToken.self), ("CKQueryCursor", CKQueryCursor.self),
    ("CKQuery", CKQuery.self), ("CKLocationSortDescriptor", CKLocationSortDescriptor.self),
    ("CKDatabaseSubscription", CKDatabaseSubscription.self),
    ("CKQuerySubscription", CKQuerySubscription.self),
    ("CKRecordZoneSubscription", CKRecordZoneSubscription.self),
    ("CKNotificationInfo", CKNotificationInfo.self), ("CKNotificationID", CKNotificationID.self),
    ("CKShare", CKShare.self), ("CKShareMetadata", CKShareMetadata.self),
    ("CKShareParticipant", CKShareParticipant.self), ("CKUserIdentity", CKUserIdentity.self),
    ("CKUserIdentityLookupInfo", CKUserIdentityLookupInfo.self), ("CKOperationGroup", CKOperationGroup.self),
    ("CKContainerID", ArchivedContainerID.self), ("CKShareAccessRequester", CKShareAccessRequester.self),
    ("CKShareBlockedIdentity", CKShareBlockedIdentity.self),
    ("CKAllowedSharingOptions", CKAllowedSharingOptions.self),
    ("CKFetchRecordZoneChangesConfiguration", CKFetchRecordZoneChangesConfiguration.self),
    ("CLLocation", CLLocation.self),
]

extension NSCoder {
    /// All classes whose objects an archive of ours can hold.
    static let cloudClasses: [AnyClass] =
        archivedClasses.map(\.type) + [ArchivedSort.self, UnsupportedRecordValue.self]
}

/// Called when the program is loaded, before `main`.
@_cdecl("yap_cloudkit_register_archive_names")
func registerArchiveNames() {
    for (name, type): (String, AnyClass) in archivedClasses {
        NSKeyedUnarchiver.setClass(type, forClassName: name)
    }
}

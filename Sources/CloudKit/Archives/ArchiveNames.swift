import CArchiveNames
import CoreLocation
import Foundation

/// The archived classes, under their names in Apple's archives, so that archives from Apple's platforms can be read
/// here. The reverse isn't possible: Foundation on Linux encodes a class under its module's name, despite
/// `setClassName`.
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
    /// All classes that our archives can contain.
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

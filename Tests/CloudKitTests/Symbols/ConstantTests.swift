import CloudKit
import Foundation
import Testing

/// The numbers and texts are Apple's: they stand in archives, in payloads and in apps' own files.
@Suite struct ConstantTests {
    @Test func textsAreApples() {
        #expect(CKCurrentUserDefaultName == "__defaultOwner__")
        #expect(CKRecordNameZoneWideShare == "cloudkit.zoneshare")
        #expect(CKErrorDomain == "CKErrorDomain" && CKError.errorDomain == CKErrorDomain)
        #expect(CKErrorRetryAfterKey == "CKRetryAfter" && CKPartialErrorsByItemIDKey == "CKPartialErrors")
        #expect(CKRecordChangedErrorAncestorRecordKey == "AncestorRecord")
        #expect(CKRecordChangedErrorServerRecordKey == "ServerRecord")
        #expect(CKRecordChangedErrorClientRecordKey == "ClientRecord")
        #expect(!CKErrorUserDidResetEncryptedDataKey.isEmpty)
        #expect(Notification.Name.CKAccountChanged.rawValue == "CKAccountChangedNotification")
        #expect(CKRecordZone.ID.defaultZoneName == "_defaultZone")
        #expect(CKRecord.SystemType.userRecord == "Users" && CKRecord.SystemType.share == "cloudkit.share")
        #expect(CKShare.SystemFieldKey.title == "cloudkit.title")
        #expect(CKShare.SystemFieldKey.thumbnailImageData == "cloudkit.thumbnailImageData")
        #expect(CKShare.SystemFieldKey.shareType == "cloudkit.type")
    }

    @Test func theKeysOfSystemFieldsDifferAndNoFieldOfAnAppMayHaveThem() async throws {
        typealias Key = CKRecord.SystemFieldKey
        let keys: [CKRecord.FieldKey] = [
            Key.parent, Key.share, Key.recordID, Key.creatorUserRecordID, Key.creationDate,
            Key.lastModifiedUserRecordID, Key.modificationDate,
        ]
        #expect(Set(keys).count == 7)
        let devices = try await TwoDevices()
        for key in keys {
            let record = devices.record("42")
            record[key] = "x"
            #expect(await codeThrown { try await devices.phone.save(record) } == .invalidArguments, "\(key)")
        }
    }

    @Test func numbersOfEnumerationsAreApples() {
        #expect(
            [CKAccountStatus.couldNotDetermine, .available, .restricted, .noAccount, .temporarilyUnavailable]
                .map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect([CKDatabase.Scope.public, .private, .shared].map(\.rawValue) == [1, 2, 3])
        #expect([CKRecord.ReferenceAction.none, .deleteSelf].map(\.rawValue) == [0, 1])
        #expect(
            [CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged, .changedKeys, .allKeys]
                .map(\.rawValue) == [0, 1, 2])
        #expect(
            [CKSubscription.SubscriptionType.query, .recordZone, .database].map(\.rawValue) == [1, 2, 3])
        #expect(
            [CKNotification.NotificationType.query, .recordZone, .readNotification, .database].map(\.rawValue)
                == [1, 2, 3, 4])
        #expect(
            [CKQueryNotification.Reason.recordCreated, .recordUpdated, .recordDeleted].map(\.rawValue)
                == [1, 2, 3])
        #expect(
            [CKContainer.ApplicationPermissionStatus.initialState, .couldNotComplete, .denied, .granted]
                .map(\.rawValue) == [0, 1, 2, 3])
        #expect([CKRecordZone.EncryptionScope.perRecord, .perZone].map(\.rawValue) == [0, 1])
        let sizes: [CKOperationGroup.TransferSize] = [
            .unknown, .kilobytes, .megabytes, .tensOfMegabytes, .hundredsOfMegabytes, .gigabytes,
            .tensOfGigabytes, .hundredsOfGigabytes,
        ]
        #expect(sizes.map(\.rawValue) == Array(0...7))
    }

    @Test func numbersOfSharingAreApples() {
        #expect(
            [CKShare.ParticipantRole.unknown, .owner, .administrator, .privateUser, .publicUser]
                .map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect(
            [CKShare.ParticipantType.unknown, .owner, .privateUser, .publicUser].map(\.rawValue)
                == [0, 1, 3, 4])
        #expect(
            [CKShare.ParticipantPermission.unknown, .none, .readOnly, .readWrite].map(\.rawValue)
                == [0, 1, 2, 3])
        #expect(
            [CKShare.ParticipantAcceptanceStatus.unknown, .pending, .accepted, .removed].map(\.rawValue)
                == [0, 1, 2, 3])
    }

    @Test func aNumberThatApplesEnumerationsLackIsNone() {
        #expect(CKAccountStatus(rawValue: 5) == nil && CKDatabase.Scope(rawValue: 0) == nil)
        #expect(CKRecord.ReferenceAction(rawValue: 2) == nil && CKErrorCode(rawValue: 0) == nil)
        #expect(CKModifyRecordsOperation.RecordSavePolicy(rawValue: 3) == nil)
        #expect(CKSubscription.SubscriptionType(rawValue: 4) == nil)
        #expect(CKNotification.NotificationType(rawValue: 5) == nil)
        #expect(CKQueryNotification.Reason(rawValue: 4) == nil)
        #expect(CKContainer.ApplicationPermissionStatus(rawValue: 4) == nil)
        #expect(CKOperationGroup.TransferSize(rawValue: 8) == nil)
        #expect(
            CKRecordZone.EncryptionScope(rawValue: 2) == nil && CKShare.ParticipantType(rawValue: 2) == nil)
        #expect(
            CKShare.ParticipantRole(rawValue: 5) == nil && CKShare.ParticipantPermission(rawValue: 4) == nil)
        #expect(CKShare.ParticipantAcceptanceStatus(rawValue: 4) == nil)
    }

    @Test func bitsOfOptionSetsAreApples() {
        #expect(
            [CKRecordZone.Capabilities.fetchChanges, .atomic, .sharing, .zoneWideSharing].map(\.rawValue)
                == [1, 2, 4, 8])
        #expect(
            [
                CKQuerySubscription.Options.firesOnRecordCreation, .firesOnRecordUpdate,
                .firesOnRecordDeletion,
                .firesOnce,
            ].map(\.rawValue) == [1, 2, 4, 8])
        #expect(CKContainer.ApplicationPermissions.userDiscoverability.rawValue == 1)
        #expect(
            [CKSharingParticipantAccessOption.anyoneWithLink, .specifiedRecipientsOnly, .any].map(\.rawValue)
                == [1, 2, 3])
        #expect(
            [CKSharingParticipantPermissionOption.readOnly, .readWrite, .any].map(\.rawValue) == [1, 2, 3])
        #expect(CKRecordZone.Capabilities(rawValue: 3) == [.fetchChanges, .atomic])
        #expect(CKQuerySubscription.Options(rawValue: 8) == .firesOnce)
        #expect(CKContainer.ApplicationPermissions(rawValue: 1) == .userDiscoverability)
        #expect(CKSharingParticipantAccessOption(rawValue: 1) == .anyoneWithLink)
        #expect(CKSharingParticipantPermissionOption(rawValue: 2) == .readWrite)
    }

    @available(*, deprecated) @Test func everyErrorCodeHasItsNumberItsConstantAndItsPattern() throws {
        let codes: [CKError.Code] = [
            .internalError, .partialFailure, .networkUnavailable, .networkFailure, .badContainer,
            .serviceUnavailable, .requestRateLimited, .missingEntitlement, .notAuthenticated,
            .permissionFailure, .unknownItem, .invalidArguments, .resultsTruncated, .serverRecordChanged,
            .serverRejectedRequest, .assetFileNotFound, .assetFileModified, .incompatibleVersion,
            .constraintViolation, .operationCancelled, .changeTokenExpired, .batchRequestFailed, .zoneBusy,
            .badDatabase, .quotaExceeded, .zoneNotFound, .limitExceeded, .userDeletedZone,
            .tooManyParticipants, .alreadyShared, .referenceViolation, .managedAccountRestricted,
            .participantMayNeedVerification, .serverResponseLost, .assetNotAvailable,
            .accountTemporarilyUnavailable, .participantAlreadyInvited,
        ]
        #expect(codes.map(\.rawValue) == Array(1...37))
        let constants: [CKError.Code] = [
            CKError.internalError, CKError.partialFailure, CKError.networkUnavailable, CKError.networkFailure,
            CKError.badContainer, CKError.serviceUnavailable, CKError.requestRateLimited,
            CKError.missingEntitlement, CKError.notAuthenticated, CKError.permissionFailure,
            CKError.unknownItem, CKError.invalidArguments, CKError.resultsTruncated,
            CKError.serverRecordChanged, CKError.serverRejectedRequest, CKError.assetFileNotFound,
            CKError.assetFileModified, CKError.incompatibleVersion, CKError.constraintViolation,
            CKError.operationCancelled, CKError.changeTokenExpired, CKError.batchRequestFailed,
            CKError.zoneBusy, CKError.badDatabase, CKError.quotaExceeded, CKError.zoneNotFound,
            CKError.limitExceeded, CKError.userDeletedZone, CKError.tooManyParticipants,
            CKError.alreadyShared, CKError.referenceViolation, CKError.managedAccountRestricted,
            CKError.participantMayNeedVerification, CKError.serverResponseLost, CKError.assetNotAvailable,
            CKError.accountTemporarilyUnavailable, CKError.participantAlreadyInvited,
        ]
        #expect(constants == codes)
        for code in codes {
            let error = CKError(code)
            #expect(error.errorCode == code.rawValue && code ~= error && error.errorUserInfo.isEmpty)
            #expect(
                !error.localizedDescription.isEmpty && error.debugDescription.contains("(\(code.rawValue))"))
        }
    }
}

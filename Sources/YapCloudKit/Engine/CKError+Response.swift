internal import CloudKit

extension CKError {
    /// The keys of values that only a server sends: the name of the request, and the server's description.
    private static let serverKeys = ["RequestUUID", "ServerErrorDescription"]

    /// Whether the server sent the error. Errors that CloudKit also creates on the device, for example when no user is
    /// signed in, count only with a value that the server sent.
    var isServerResponse: Bool {
        switch code {
        case .networkUnavailable, .networkFailure, .serverResponseLost: false
        case .partialFailure:
            partialErrorsByItemID?.values.contains { ($0 as? CKError)?.isServerResponse == true } ?? false
        case .notAuthenticated, .accountTemporarilyUnavailable, .badContainer, .badDatabase,
            .missingEntitlement,
            .requestRateLimited, .operationCancelled, .internalError, .invalidArguments, .limitExceeded,
            .batchRequestFailed, .assetFileNotFound, .assetFileModified, .assetNotAvailable:
            Self.serverKeys.contains { userInfo[$0] != nil }
        case .serviceUnavailable, .zoneBusy, .resultsTruncated, .managedAccountRestricted, .userDeletedZone,
            .quotaExceeded, .serverRecordChanged, .unknownItem, .zoneNotFound, .changeTokenExpired,
            .referenceViolation, .permissionFailure, .serverRejectedRequest, .incompatibleVersion,
            .constraintViolation, .tooManyParticipants, .alreadyShared,
            .participantMayNeedVerification, .participantAlreadyInvited:
            true
        }
    }
}

extension SendReply {
    /// Whether the server responded: with the result of an item, or with an error.
    var isServerResponse: Bool {
        items.contains { _, outcome in
            if case .failed(let error) = outcome { error.isServerResponse } else { true }
        } || error?.isServerResponse == true
    }
}

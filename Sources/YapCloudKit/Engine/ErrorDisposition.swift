package import CloudKit

/// What the engine does about an error: one row for each code of CloudKit and each thing that was tried.
package enum ErrorDisposition: Hashable, Sendable {
    /// Keep everything and try again: after the time that the server names, else after a growing pause.
    case retry
    /// Look at each item's own error.
    case eachItem
    /// Another item of the batch is to blame: send this one again with the next.
    case withNextBatch
    /// It refers to what the server doesn't have: let the others go first, then try again once.
    case afterOthers
    /// Send less at a time; what can't be made smaller is refused.
    case split
    /// The server lost an upload before the record was saved: upload and send again, three times at most.
    case uploadAgain
    /// Merge with the server's record, then send again.
    case merge
    /// What was wanted is so already.
    case done
    /// The record was deleted by another device: the edit wins, the record is made again.
    case recreate
    /// Make the zone, then try again.
    case createZone
    /// Forget the change token and fetch everything.
    case dropToken
    /// Nothing more can be saved before storage is free; deletions and fetches go on.
    case stopSaves
    /// Nothing more can be sent or fetched before the app or the user has done something.
    case stop
    /// The server will never take this change: put it aside, tell the app, go on with the others.
    case quarantine

    /// What was tried.
    package enum Attempt: CaseIterable, Sendable {
        case save, delete, fetch, createZone, subscribe
    }

    /// The table.
    package static func of(_ code: CKError.Code, in attempt: Attempt) -> ErrorDisposition {
        let isWrite = attempt == .save || attempt == .delete
        let isSubscribe = attempt == .subscribe
        switch code {
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
            .internalError, .operationCancelled, .serverResponseLost, .resultsTruncated:
            return .retry
        case .notAuthenticated, .accountTemporarilyUnavailable, .managedAccountRestricted, .badContainer,
            .badDatabase, .missingEntitlement, .userDeletedZone:
            return .stop
        case .quotaExceeded:
            return isWrite ? .stopSaves : .stop
        case .partialFailure:
            return .eachItem
        case .batchRequestFailed:
            return isWrite ? .withNextBatch : .retry
        case .limitExceeded:
            return isWrite ? .split : .retry
        case .serverRecordChanged:
            return attempt == .save ? .merge : attempt == .createZone || isSubscribe ? .done : .retry
        case .unknownItem:
            return attempt == .delete
                ? .done : attempt == .save ? .recreate : isSubscribe ? .quarantine : .stop
        case .zoneNotFound:
            return attempt == .createZone ? .stop : isSubscribe ? .quarantine : .createZone
        case .changeTokenExpired:
            return attempt == .fetch ? .dropToken : .retry
        case .referenceViolation:
            return isWrite ? .afterOthers : isSubscribe ? .quarantine : .stop
        case .assetNotAvailable:
            return attempt == .save ? .uploadAgain : isWrite || isSubscribe ? .quarantine : .stop
        case .permissionFailure, .invalidArguments, .serverRejectedRequest, .incompatibleVersion,
            .assetFileNotFound, .assetFileModified, .constraintViolation,
            .tooManyParticipants, .alreadyShared, .participantMayNeedVerification,
            .participantAlreadyInvited:
            return isWrite || isSubscribe ? .quarantine : .stop
        }
    }
}

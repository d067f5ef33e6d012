package import CloudKit

/// What the engine does about an error: one row for each code of CloudKit and each kind of request.
package enum ErrorDisposition: Hashable, Sendable {
    /// Keep everything and try again: after the time that the server names, else after a growing pause.
    case retry
    /// Handle each item's own error.
    case eachItem
    /// Another item of the batch caused the error: send this one again with the next batch.
    case withNextBatch
    /// It refers to a record that the server doesn't have: send the others first, then try once more.
    case afterOthers
    /// Send smaller batches. A single item that is too large is quarantined.
    case split
    /// The server lost a file before the record was saved: upload and send again, up to three times.
    case uploadAgain
    /// Merge with the server's record, then send again.
    case merge
    /// The server already has the requested state.
    case done
    /// Another device deleted the record: the edit wins, and the record is created again.
    case recreate
    /// Create the zone, then try again.
    case createZone
    /// Drop the change token and fetch everything.
    case dropToken
    /// Save nothing until storage is free. Deletions and fetches go on.
    case stopSaves
    /// Send and fetch nothing until the app or the user solves the problem.
    case stop
    /// The server will never accept this change: quarantine it, report it to the app, and send the others.
    case quarantine

    /// The kind of request.
    package enum Attempt: CaseIterable, Sendable {
        case save, delete, fetch, createZone, subscribe
    }

    /// Returns the row of the table.
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

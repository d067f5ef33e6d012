extension CKErrorCode {
    /// The remedy, for an app that calls CloudKit directly and for one that uses the sync.
    ///
    /// `docs/WHEN_SYNC_GOES_WRONG.md` has the same texts, and a test compares them.
    var remedy: String {
        switch self {
        case .internalError: "Try again later; a sync does. If the error persists, read the server's log."
        case .partialFailure: "Handle each item's error in `partialErrorsByItemID`; a sync does."
        case .networkUnavailable:
            "Check the network, and that the server runs at its URL. A sync tries again; "
                + "`networkMayBeBack()` ends its wait."
        case .networkFailure:
            "Try again; a sync does. A write that the server has executed isn't executed twice."
        case .badContainer:
            "Correct the configuration that the message names: CLOUDKIT_SERVER and CLOUDKIT_CONTAINER, or "
                + "cloudkit.json, name the server and the container. `yap init --container ID` creates a "
                + "container. Then call `retry()` of a sync."
        case .serviceUnavailable: "Wait, then try again; a sync does. If the server is yours, start it."
        case .requestRateLimited: "Wait for `retryAfterSeconds`, then try again; a sync does."
        case .missingEntitlement:
            "Give the app an API token of the container (CLOUDKIT_API_TOKEN, or `apiToken` in "
                + "cloudkit.json), then call `retry()` of a sync. On Apple's systems, give the app the "
                + "entitlement."
        case .notAuthenticated:
            "Sign in (`yap login`, or `signIn` of CloudKitAdditions), then call `accountMayHaveChanged()` of "
                + "a sync."
        case .permissionFailure:
            "Change or delete the record, or get the permission; then call `retry()` of a sync."
        case .unknownItem:
            "Fetch again: the record was deleted, or never existed. In a sync an edit wins over a deletion, "
                + "so nothing needs to be done."
        case .invalidArguments:
            "Read the server's message, which names the field. If production lacks a type or field, deploy "
                + "the schema (`yap schema deploy`); a sync tries again at its start and at `syncNow()`. If "
                + "a value isn't valid (a name, a size, a type), correct the model, then change the record."
        case .resultsTruncated: "Nothing: servers no longer send it."
        case .serverRecordChanged:
            "Apply the change to `serverRecord`, and save that; a sync merges, and `mergeLog` lists the "
                + "dropped values. The same conflict three times is `stuck`."
        case .serverRejectedRequest:
            "Read the message, which names the server's rule. Then change the record, or call `retry()` of a "
                + "sync."
        case .assetFileNotFound: "Set the asset again: its file was removed."
        case .assetFileModified: "Set the asset again, to a file that doesn't change."
        case .incompatibleVersion: "Update the app."
        case .constraintViolation: "Change the value that must be unique."
        case .operationCancelled: "Nothing; a sync tries again."
        case .changeTokenExpired:
            "Fetch everything again, without the token; a sync does, and removes what was deleted on the "
                + "server."
        case .batchRequestFailed:
            "Handle the errors of the other items. A sync sends this one with the next batch."
        case .zoneBusy: "Wait for `retryAfterSeconds`, then try again; a sync does."
        case .badDatabase:
            "Use the private database for custom zones. An extension names it in the databaseIdentifierBlock."
        case .quotaExceeded:
            "Delete something, or get more storage; then call `retry()` of a sync. Its deletions and fetches "
                + "continue."
        case .zoneNotFound: "Create the zone; a sync does, and sends its records again."
        case .limitExceeded:
            "Send less at a time; a sync does. If one record is too large, make it smaller."
        case .userDeletedZone: "Ask the user, then call `answerDeletedZone(zoneName:_:)` of a sync."
        case .tooManyParticipants: "Share with fewer participants."
        case .alreadyShared: "Use the existing share."
        case .referenceViolation:
            "Save the target first, or set the reference to nil. A sync saves the target first if it is in "
                + "its queue."
        case .managedAccountRestricted: "Contact the administrator of the account."
        case .participantMayNeedVerification: "Let the participant verify their identity."
        case .serverResponseLost:
            "Try again; a sync does. A write that the server has executed isn't executed twice."
        case .assetNotAvailable: "Try again later (`retry()` of a sync), or set the asset again."
        case .accountTemporarilyUnavailable:
            "Sign in again in the system's settings, then call `accountMayHaveChanged()` of a sync."
        case .participantAlreadyInvited: "Nothing: the participant is already invited."
        }
    }
}

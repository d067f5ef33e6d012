extension CKErrorCode {
    /// What to do about it, for an app that calls CloudKit itself and for one that leaves it to a sync.
    ///
    /// `docs/WHEN_SYNC_GOES_WRONG.md` has the same texts, and a test compares them.
    var remedy: String {
        switch self {
        case .internalError: "Try again later; a sync does. If it stays, look into the server's log."
        case .partialFailure: "Look at each item's own error in `partialErrorsByItemID`; a sync does."
        case .networkUnavailable:
            "Look whether there is a network, and whether the server runs at its address. A sync tries again; "
                + "`networkMayBeBack()` ends its wait."
        case .networkFailure: "Try again; a sync does, and a write that the server got is not done twice."
        case .badContainer:
            "Mend what the message names: CLOUDKIT_SERVER and CLOUDKIT_CONTAINER, or cloudkit.json, say where the "
                + "container is, and `yap init --container ID` makes one. Then `retry()` a sync."
        case .serviceUnavailable: "Wait, then try again; a sync does. Start the server if it is yours."
        case .requestRateLimited: "Wait for `retryAfterSeconds`, then try again; a sync does."
        case .missingEntitlement:
            "Give the app an API token of the container (CLOUDKIT_API_TOKEN, or `apiToken` in cloudkit.json), then "
                + "`retry()` a sync. On Apple's systems: give the app the entitlement."
        case .notAuthenticated:
            "Sign in (`yap login`, or `signIn` of CloudKitAdditions), then tell a sync by "
                + "`accountMayHaveChanged()`."
        case .permissionFailure:
            "Change the record, remove it, or get the permission; then `retry()` a sync."
        case .unknownItem:
            "Fetch anew: it is gone, or never was. In a sync an edit beats a deletion, and nothing is to be done."
        case .invalidArguments:
            "Read the server's words, which name the field. What production lacks: deploy the schema "
                + "(`yap schema deploy`); a sync tries again at its start and at `syncNow()`. A value that can't be (a "
                + "name, a size, a type): mend the model, then change the record."
        case .resultsTruncated: "Nothing: no server sends it any more."
        case .serverRecordChanged:
            "Put the change into `serverRecord`, and save that; a sync merges, and `mergeLog` says what was dropped. "
                + "Three times the same conflict is `stuck`."
        case .serverRejectedRequest:
            "Read the message: the server has a rule that this breaks. Then change the record, or `retry()` a sync."
        case .assetFileNotFound: "Set the asset again: its file was removed."
        case .assetFileModified: "Set the asset again, to a file that nobody changes."
        case .incompatibleVersion: "Update the app."
        case .constraintViolation: "Change the value that must be unique."
        case .operationCancelled: "Nothing; what a sync wanted it tries again."
        case .changeTokenExpired:
            "Fetch everything again, without the token; a sync does, and what is gone on the server goes here."
        case .batchRequestFailed:
            "Look at the other items: one of them is to blame. A sync sends this one with the next."
        case .zoneBusy: "Wait for `retryAfterSeconds`, then try again; a sync does."
        case .badDatabase:
            "Custom zones belong into the private database: name the right one (of an extension in the "
                + "databaseIdentifierBlock)."
        case .quotaExceeded:
            "Delete something, or get more storage; then `retry()` a sync. Its deletions and fetches go on."
        case .zoneNotFound: "Make the zone; a sync does, and sends again what is here."
        case .limitExceeded:
            "Send less at a time; a sync does. Make a record smaller that is too large alone."
        case .userDeletedZone: "Ask the person, then tell a sync by `answerDeletedZone(zoneName:_:)`."
        case .tooManyParticipants: "Share with fewer."
        case .alreadyShared: "Take the share that there is."
        case .referenceViolation:
            "Save the target first, or set the reference to nil; a sync does the first when the target is in its "
                + "queue."
        case .managedAccountRestricted: "Ask whoever administers the account."
        case .participantMayNeedVerification: "Let the participant confirm who they are."
        case .serverResponseLost: "Try again; a sync does, and a write that the server got is not done twice."
        case .assetNotAvailable: "Try again later (`retry()` of a sync), or set the asset again."
        case .accountTemporarilyUnavailable:
            "Sign in again in the system's settings, then tell a sync by `accountMayHaveChanged()`."
        case .participantAlreadyInvited: "Nothing: they were invited."
        }
    }
}

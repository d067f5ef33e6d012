// `catch CKError.zoneNotFound` and `error.code == CKError.zoneNotFound`, as on Apple's platforms.
extension CKError {
    /// Something that has no code of its own.
    public static var internalError: Code { .internalError }
    /// Some items failed; `partialErrorsByItemID` says which.
    public static var partialFailure: Code { .partialFailure }
    /// There is no network.
    public static var networkUnavailable: Code { .networkUnavailable }
    /// The network failed on the way; whether the server got the request isn't known.
    public static var networkFailure: Code { .networkFailure }
    /// The container isn't known or not configured.
    public static var badContainer: Code { .badContainer }
    /// The service is down for a while.
    public static var serviceUnavailable: Code { .serviceUnavailable }
    /// Too many requests; wait `retryAfterSeconds`.
    public static var requestRateLimited: Code { .requestRateLimited }
    /// The server doesn't take the app: of ours, it doesn't know its API token.
    public static var missingEntitlement: Code { .missingEntitlement }
    /// Nobody is signed in, or the sign-in isn't valid.
    public static var notAuthenticated: Code { .notAuthenticated }
    /// The user may not do this.
    public static var permissionFailure: Code { .permissionFailure }
    /// The record isn't there.
    public static var unknownItem: Code { .unknownItem }
    /// The server can't take the request, or a value in it.
    public static var invalidArguments: Code { .invalidArguments }
    /// Answers were left out. No longer used.
    @available(*, deprecated)
    public static var resultsTruncated: Code { .resultsTruncated }
    /// The record on the server is another version than the client's; three records come with it.
    public static var serverRecordChanged: Code { .serverRecordChanged }
    /// The server refused it.
    public static var serverRejectedRequest: Code { .serverRejectedRequest }
    /// An asset's file isn't there.
    public static var assetFileNotFound: Code { .assetFileNotFound }
    /// An asset's file changed while it was sent.
    public static var assetFileModified: Code { .assetFileModified }
    /// The app is too old.
    public static var incompatibleVersion: Code { .incompatibleVersion }
    /// A unique field's value is taken.
    public static var constraintViolation: Code { .constraintViolation }
    /// The operation was cancelled.
    public static var operationCancelled: Code { .operationCancelled }
    /// The change token is no longer good: fetch everything again.
    public static var changeTokenExpired: Code { .changeTokenExpired }
    /// Another item of the same atomic batch failed.
    public static var batchRequestFailed: Code { .batchRequestFailed }
    /// The zone is busy; wait `retryAfterSeconds`.
    public static var zoneBusy: Code { .zoneBusy }
    /// The operation doesn't fit the database.
    public static var badDatabase: Code { .badDatabase }
    /// The user's storage is full.
    public static var quotaExceeded: Code { .quotaExceeded }
    /// The zone isn't there.
    public static var zoneNotFound: Code { .zoneNotFound }
    /// The request is larger than a limit: send less at a time.
    public static var limitExceeded: Code { .limitExceeded }
    /// The user deleted the zone by hand: don't make it again unasked.
    public static var userDeletedZone: Code { .userDeletedZone }
    /// A share has too many participants.
    public static var tooManyParticipants: Code { .tooManyParticipants }
    /// The record is shared already.
    public static var alreadyShared: Code { .alreadyShared }
    /// A reference's target isn't there, or is still referred to.
    public static var referenceViolation: Code { .referenceViolation }
    /// The account's administrator doesn't allow it.
    public static var managedAccountRestricted: Code { .managedAccountRestricted }
    /// The participant has to confirm who they are.
    public static var participantMayNeedVerification: Code { .participantMayNeedVerification }
    /// The server may have done it, but its answer is lost.
    public static var serverResponseLost: Code { .serverResponseLost }
    /// An asset can't be reached.
    public static var assetNotAvailable: Code { .assetNotAvailable }
    /// The account can't be used for a while.
    public static var accountTemporarilyUnavailable: Code { .accountTemporarilyUnavailable }
    /// The participant was invited before.
    public static var participantAlreadyInvited: Code { .participantAlreadyInvited }
}

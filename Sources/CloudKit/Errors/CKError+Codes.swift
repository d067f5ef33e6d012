// `catch CKError.zoneNotFound` and `error.code == CKError.zoneNotFound`, as on Apple's platforms.
extension CKError {
    /// An error without a code of its own.
    public static var internalError: Code { .internalError }
    /// Some items failed; `partialErrorsByItemID` says which.
    public static var partialFailure: Code { .partialFailure }
    /// There is no network.
    public static var networkUnavailable: Code { .networkUnavailable }
    /// The network failed. The server may have got the request.
    public static var networkFailure: Code { .networkFailure }
    /// The container is unknown or not configured.
    public static var badContainer: Code { .badContainer }
    /// The service is temporarily unavailable.
    public static var serviceUnavailable: Code { .serviceUnavailable }
    /// Too many requests; wait `retryAfterSeconds`.
    public static var requestRateLimited: Code { .requestRateLimited }
    /// The server rejects the app. Our server doesn't know its API token.
    public static var missingEntitlement: Code { .missingEntitlement }
    /// No user is signed in, or the sign-in isn't valid.
    public static var notAuthenticated: Code { .notAuthenticated }
    /// The user may not do this.
    public static var permissionFailure: Code { .permissionFailure }
    /// The record doesn't exist.
    public static var unknownItem: Code { .unknownItem }
    /// The server can't process the request, or a value in it.
    public static var invalidArguments: Code { .invalidArguments }
    /// The results are incomplete. No longer used.
    @available(*, deprecated)
    public static var resultsTruncated: Code { .resultsTruncated }
    /// The record has changed on the server. The error has the three versions.
    public static var serverRecordChanged: Code { .serverRecordChanged }
    /// The server rejected the request.
    public static var serverRejectedRequest: Code { .serverRejectedRequest }
    /// An asset's file doesn't exist.
    public static var assetFileNotFound: Code { .assetFileNotFound }
    /// An asset's file changed during the upload.
    public static var assetFileModified: Code { .assetFileModified }
    /// The app is too old.
    public static var incompatibleVersion: Code { .incompatibleVersion }
    /// The value of a unique field is already used.
    public static var constraintViolation: Code { .constraintViolation }
    /// The operation was cancelled.
    public static var operationCancelled: Code { .operationCancelled }
    /// The change token has expired: fetch everything again.
    public static var changeTokenExpired: Code { .changeTokenExpired }
    /// Another item of the same atomic batch failed.
    public static var batchRequestFailed: Code { .batchRequestFailed }
    /// The zone is busy; wait `retryAfterSeconds`.
    public static var zoneBusy: Code { .zoneBusy }
    /// The database doesn't support the operation.
    public static var badDatabase: Code { .badDatabase }
    /// The user's storage is full.
    public static var quotaExceeded: Code { .quotaExceeded }
    /// The zone doesn't exist.
    public static var zoneNotFound: Code { .zoneNotFound }
    /// The request is larger than a limit: send less at a time.
    public static var limitExceeded: Code { .limitExceeded }
    /// The user deleted the zone manually. Don't create it again without the user's consent.
    public static var userDeletedZone: Code { .userDeletedZone }
    /// A share has too many participants.
    public static var tooManyParticipants: Code { .tooManyParticipants }
    /// The record is shared already.
    public static var alreadyShared: Code { .alreadyShared }
    /// A reference's target doesn't exist, or is still referenced.
    public static var referenceViolation: Code { .referenceViolation }
    /// The account's administrator doesn't allow it.
    public static var managedAccountRestricted: Code { .managedAccountRestricted }
    /// The participant must verify their identity.
    public static var participantMayNeedVerification: Code { .participantMayNeedVerification }
    /// The server may have executed the request, but the response is lost.
    public static var serverResponseLost: Code { .serverResponseLost }
    /// An asset can't be reached.
    public static var assetNotAvailable: Code { .assetNotAvailable }
    /// The account can't be used temporarily.
    public static var accountTemporarilyUnavailable: Code { .accountTemporarilyUnavailable }
    /// The participant is already invited.
    public static var participantAlreadyInvited: Code { .participantAlreadyInvited }
}

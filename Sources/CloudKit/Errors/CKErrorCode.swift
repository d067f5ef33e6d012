public import Foundation

/// The kinds of errors, with Apple's numbers.
public enum CKErrorCode: Int, Sendable, CaseIterable, _ErrorCodeProtocol {
    /// The error that carries these codes.
    public typealias _ErrorType = CKError

    /// An error without a code of its own.
    case internalError = 1
    /// Some items failed; `partialErrorsByItemID` says which.
    case partialFailure = 2
    /// There is no network.
    case networkUnavailable = 3
    /// The network failed. The server may have got the request.
    case networkFailure = 4
    /// The container is unknown or not configured.
    case badContainer = 5
    /// The service is temporarily unavailable.
    case serviceUnavailable = 6
    /// Too many requests; wait `retryAfterSeconds`.
    case requestRateLimited = 7
    /// The server rejects the app. Our server doesn't know its API token.
    case missingEntitlement = 8
    /// No user is signed in, or the sign-in isn't valid.
    case notAuthenticated = 9
    /// The user may not do this.
    case permissionFailure = 10
    /// The record doesn't exist.
    case unknownItem = 11
    /// The server can't process the request, or a value in it.
    case invalidArguments = 12
    /// The results are incomplete. No longer used.
    case resultsTruncated = 13
    /// The record has changed on the server. The error has the three versions.
    case serverRecordChanged = 14
    /// The server rejected the request.
    case serverRejectedRequest = 15
    /// An asset's file doesn't exist.
    case assetFileNotFound = 16
    /// An asset's file changed during the upload.
    case assetFileModified = 17
    /// The app is too old.
    case incompatibleVersion = 18
    /// The value of a unique field is already used.
    case constraintViolation = 19
    /// The operation was cancelled.
    case operationCancelled = 20
    /// The change token has expired: fetch everything again.
    case changeTokenExpired = 21
    /// Another item of the same atomic batch failed.
    case batchRequestFailed = 22
    /// The zone is busy; wait `retryAfterSeconds`.
    case zoneBusy = 23
    /// The database doesn't support the operation.
    case badDatabase = 24
    /// The user's storage is full.
    case quotaExceeded = 25
    /// The zone doesn't exist.
    case zoneNotFound = 26
    /// The request is larger than a limit: send less at a time.
    case limitExceeded = 27
    /// The user deleted the zone manually. Don't create it again without the user's consent.
    case userDeletedZone = 28
    /// A share has too many participants.
    case tooManyParticipants = 29
    /// The record is shared already.
    case alreadyShared = 30
    /// A reference's target doesn't exist, or is still referenced.
    case referenceViolation = 31
    /// The account's administrator doesn't allow it.
    case managedAccountRestricted = 32
    /// The participant must verify their identity.
    case participantMayNeedVerification = 33
    /// The server may have executed the request, but the response is lost.
    case serverResponseLost = 34
    /// An asset can't be reached.
    case assetNotAvailable = 35
    /// The account can't be used temporarily.
    case accountTemporarilyUnavailable = 36
    /// The participant is already invited.
    case participantAlreadyInvited = 37
}

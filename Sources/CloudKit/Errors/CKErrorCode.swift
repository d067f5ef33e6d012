public import Foundation

/// What went wrong, with Apple's numbers.
public enum CKErrorCode: Int, Sendable, CaseIterable, _ErrorCodeProtocol {
    /// The error that carries these codes.
    public typealias _ErrorType = CKError

    /// Something that has no code of its own.
    case internalError = 1
    /// Some items failed; `partialErrorsByItemID` says which.
    case partialFailure = 2
    /// There is no network.
    case networkUnavailable = 3
    /// The network failed on the way; whether the server got the request isn't known.
    case networkFailure = 4
    /// The container isn't known or not configured.
    case badContainer = 5
    /// The service is down for a while.
    case serviceUnavailable = 6
    /// Too many requests; wait `retryAfterSeconds`.
    case requestRateLimited = 7
    /// The server doesn't take the app: of ours, it doesn't know its API token.
    case missingEntitlement = 8
    /// Nobody is signed in, or the sign-in isn't valid.
    case notAuthenticated = 9
    /// The user may not do this.
    case permissionFailure = 10
    /// The record isn't there.
    case unknownItem = 11
    /// The server can't take the request, or a value in it.
    case invalidArguments = 12
    /// Answers were left out. No longer used.
    case resultsTruncated = 13
    /// The record on the server is another version than the client's; three records come with it.
    case serverRecordChanged = 14
    /// The server refused it.
    case serverRejectedRequest = 15
    /// An asset's file isn't there.
    case assetFileNotFound = 16
    /// An asset's file changed while it was sent.
    case assetFileModified = 17
    /// The app is too old.
    case incompatibleVersion = 18
    /// A unique field's value is taken.
    case constraintViolation = 19
    /// The operation was cancelled.
    case operationCancelled = 20
    /// The change token is no longer good: fetch everything again.
    case changeTokenExpired = 21
    /// Another item of the same atomic batch failed.
    case batchRequestFailed = 22
    /// The zone is busy; wait `retryAfterSeconds`.
    case zoneBusy = 23
    /// The operation doesn't fit the database.
    case badDatabase = 24
    /// The user's storage is full.
    case quotaExceeded = 25
    /// The zone isn't there.
    case zoneNotFound = 26
    /// The request is larger than a limit: send less at a time.
    case limitExceeded = 27
    /// The user deleted the zone by hand: don't make it again unasked.
    case userDeletedZone = 28
    /// A share has too many participants.
    case tooManyParticipants = 29
    /// The record is shared already.
    case alreadyShared = 30
    /// A reference's target isn't there, or is still referred to.
    case referenceViolation = 31
    /// The account's administrator doesn't allow it.
    case managedAccountRestricted = 32
    /// The participant has to confirm who they are.
    case participantMayNeedVerification = 33
    /// The server may have done it, but its answer is lost.
    case serverResponseLost = 34
    /// An asset can't be reached.
    case assetNotAvailable = 35
    /// The account can't be used for a while.
    case accountTemporarilyUnavailable = 36
    /// The participant was invited before.
    case participantAlreadyInvited = 37
}

/// An error code of the server. The raw value is the name on the wire. Unknown codes are kept.
package struct ServerErrorCode: RawRepresentable, Hashable, Sendable {
    /// The name on the wire.
    package var rawValue: String

    /// Makes a code from its name on the wire.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// No permission for the endpoint, record, zone or database.
    package static let accessDenied = ServerErrorCode(rawValue: "ACCESS_DENIED")
    /// The atomic batch failed because of another of its items.
    package static let atomicError = ServerErrorCode(rawValue: "ATOMIC_ERROR")
    /// The credentials were rejected.
    package static let authenticationFailed = ServerErrorCode(rawValue: "AUTHENTICATION_FAILED")
    /// A user must sign in first.
    package static let authenticationRequired = ServerErrorCode(rawValue: "AUTHENTICATION_REQUIRED")
    /// The request isn't valid.
    package static let badRequest = ServerErrorCode(rawValue: "BAD_REQUEST")
    /// The change tag is out of date, or the record to create exists.
    package static let conflict = ServerErrorCode(rawValue: "CONFLICT")
    /// The item to be created exists already.
    package static let exists = ServerErrorCode(rawValue: "EXISTS")
    /// The server failed.
    package static let internalError = ServerErrorCode(rawValue: "INTERNAL_ERROR")
    /// The record or other item doesn't exist.
    package static let notFound = ServerErrorCode(rawValue: "NOT_FOUND")
    /// The quota of the user or the app is exhausted.
    package static let quotaExceeded = ServerErrorCode(rawValue: "QUOTA_EXCEEDED")
    /// Too many requests: wait `retryAfter` seconds.
    package static let throttled = ServerErrorCode(rawValue: "THROTTLED")
    /// The server can't execute the request now. Retry later.
    package static let tryAgainLater = ServerErrorCode(rawValue: "TRY_AGAIN_LATER")
    /// A validating reference prevents the change.
    package static let validatingReferenceError = ServerErrorCode(rawValue: "VALIDATING_REFERENCE_ERROR")
    /// The zone doesn't exist.
    package static let zoneNotFound = ServerErrorCode(rawValue: "ZONE_NOT_FOUND")
    /// Another record has this value of a unique field.
    package static let uniqueFieldError = ServerErrorCode(rawValue: "UNIQUE_FIELD_ERROR")
    /// The zone is busy. Retry later.
    package static let zoneBusy = ServerErrorCode(rawValue: "ZONE_BUSY")
    /// The record has changed on the server. Some of Apple's services return it instead of `conflict`.
    package static let serverRecordChanged = ServerErrorCode(rawValue: "SERVER_RECORD_CHANGED")

    /// The HTTP status of a response with this error for the whole request. Apple specifies none for the last
    /// three codes, which have the status of the most similar code. An unknown code has the status of a
    /// server error.
    package var httpStatus: Int {
        switch self {
        case .atomicError, .badRequest: 400
        case .authenticationFailed: 401
        case .accessDenied: 403
        case .notFound, .zoneNotFound: 404
        case .conflict, .exists, .uniqueFieldError, .serverRecordChanged: 409
        case .validatingReferenceError: 412
        case .quotaExceeded: 413
        case .authenticationRequired: 421
        case .throttled: 429
        case .tryAgainLater, .zoneBusy: 503
        default: 500
        }
    }
}

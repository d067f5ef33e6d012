public import Foundation

/// An error of CloudKit: a code, and its details in `userInfo`.
public struct CKError: _BridgedStoredNSError, Sendable {
    /// The codes.
    public typealias Code = CKErrorCode

    /// The same error as Foundation's class.
    public let _nsError: NSError

    /// The domain of CloudKit's errors.
    public static var errorDomain: String { CKErrorDomain }
    /// The domain of CloudKit's errors, for Foundation.
    public static var _nsErrorDomain: String { CKErrorDomain }

    /// Converts an error of CloudKit's domain.
    public init(_nsError error: NSError) {
        precondition(error.domain == CKErrorDomain, "an error of \(error.domain) is no CKError")
        _nsError = error
    }

    /// Makes an error. Its description and recovery suggestion are filled in if `userInfo` lacks them. An empty
    /// `userInfo` stays empty, as in Apple's framework.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        if !userInfo.isEmpty {
            let texts = [
                NSLocalizedDescriptionKey: code.summary, NSLocalizedRecoverySuggestionErrorKey: code.remedy,
            ]
            userInfo.merge(texts) { given, _ in given }
        }
        _nsError = NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    package init(
        _ code: Code, _ message: String, retryAfterSeconds: Double? = nil, userInfo: [String: Any] = [:]
    ) {
        var userInfo = userInfo
        userInfo[ErrorKey.description] = message
        userInfo[NSLocalizedDescriptionKey] = Self.message(message, userInfo)
        // Foundation on Linux prints this member.
        userInfo[NSLocalizedFailureReasonErrorKey] = userInfo[NSLocalizedDescriptionKey]
        if let retryAfterSeconds { userInfo[CKErrorRetryAfterKey] = NSNumber(value: retryAfterSeconds) }
        self.init(code, userInfo: userInfo)
    }

    /// The kind of error.
    public var code: Code { Code(rawValue: _nsError.code) ?? .internalError }
    /// The code's number.
    public var errorCode: Int { _nsError.code }
    /// The error's details, by the keys that begin with CK.
    public var userInfo: [String: Any] { _nsError.userInfo }
    /// The error's details, for Foundation.
    public var errorUserInfo: [String: Any] { _nsError.userInfo }
    /// A description of the error.
    public var localizedDescription: String {
        userInfo[NSLocalizedDescriptionKey] as? String ?? code.summary
    }
    /// The remedy. Apps read it as `localizedRecoverySuggestion` of the `NSError`.
    var remedy: String { _nsError.localizedRecoverySuggestion ?? code.remedy }

    /// The errors of the single items, by record ID or zone ID; nil unless the code is `partialFailure`.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    /// The record as the client last received it from the server, before its changes; nil if it never did.
    public var ancestorRecord: CKRecord? { userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord }
    /// The server's current record.
    public var serverRecord: CKRecord? { userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord }
    /// The record as the client tried to save it.
    public var clientRecord: CKRecord? { userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord }

    /// Seconds after which to retry the request; nil if the server named none.
    public var retryAfterSeconds: Double? {
        (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue
    }
}

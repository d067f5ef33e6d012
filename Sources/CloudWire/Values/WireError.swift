/// An error on the wire, of one item in a response or of a whole request.
///
/// Public because `SignInAnswer` of `CloudServer` contains one.
public struct WireError: Error, Hashable, Sendable {
    /// Reason a change token was rejected. Our own key; Apple's protocol has one code for both.
    package enum TokenRefusal: String, Hashable, Sendable {
        /// The token is too old. A record that is missing from a full fetch was deleted.
        case expired
        /// The zone was restored or reset. A record that is missing from a full fetch may not have been deleted.
        case reset
    }

    /// The error code.
    package var serverErrorCode: ServerErrorCode
    /// Human-readable reason.
    package var reason: String?
    /// The record that failed.
    package var recordName: String?
    /// The zone that failed.
    package var zoneID: ZoneID?
    /// The subscription that failed.
    package var subscriptionID: String?
    /// Seconds to wait before a retry.
    package var retryAfterSeconds: Double?
    /// The request's name in the server's log.
    package var uuid: String?
    /// URL of the sign-in page.
    package var redirectURL: String?

    /// The code of Apple's `CKError`. Only for our own clients, as the properties below.
    package var ckErrorCode: Int?
    /// The server's record in a conflict.
    package var serverRecord: WireRecord? {
        get { boxedServerRecord.first }
        set { boxedServerRecord = newValue.map { [$0] } ?? [] }
    }
    /// Reason a change token was rejected.
    package var tokenRefusal: TokenRefusal?
    /// True if the token's zone was deleted and created again after the token was issued.
    package var zoneWasDeleted = false
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    // In an array, so that a result of a record doesn't need the memory of two records.
    private var boxedServerRecord: [WireRecord] = []

    /// Makes an error.
    package init(
        _ serverErrorCode: ServerErrorCode, reason: String? = nil, recordName: String? = nil,
        zoneID: ZoneID? = nil, subscriptionID: String? = nil, retryAfterSeconds: Double? = nil,
        uuid: String? = nil, redirectURL: String? = nil, ckErrorCode: Int? = nil,
        serverRecord: WireRecord? = nil, tokenRefusal: TokenRefusal? = nil
    ) {
        self.serverErrorCode = serverErrorCode
        self.reason = reason
        self.recordName = recordName
        self.zoneID = zoneID
        self.subscriptionID = subscriptionID
        self.retryAfterSeconds = retryAfterSeconds
        self.uuid = uuid
        self.redirectURL = redirectURL
        self.ckErrorCode = ckErrorCode
        self.tokenRefusal = tokenRefusal
        self.serverRecord = serverRecord
    }
}

/// An error on the wire, of one item in a response or of a whole request.
///
/// Public because `SignInAnswer` of `CloudServer` contains one.
public struct WireError: Error, Hashable, Sendable {
    /// Which kind of refusal a change token met. An extra key: Apple's protocol has one code for both.
    package enum TokenRefusal: String, Hashable, Sendable {
        /// The token is too old: what is absent from a full fetch was deleted.
        case expired
        /// The zone was restored or reset: what is absent from a full fetch is not known to be deleted.
        case reset
    }

    /// What went wrong.
    package var serverErrorCode: ServerErrorCode
    /// What went wrong, in words.
    package var reason: String?
    /// The record it concerns.
    package var recordName: String?
    /// The zone it concerns.
    package var zoneID: ZoneID?
    /// The subscription it concerns.
    package var subscriptionID: String?
    /// Seconds to wait before trying again.
    package var retryAfterSeconds: Double?
    /// Names the request in the server's log.
    package var uuid: String?
    /// Where the user can sign in.
    package var redirectURL: String?

    /// The code of Apple's `CKError`. Travels to our own clients only, as the four below.
    package var ckErrorCode: Int?
    /// The server's record in a conflict.
    package var serverRecord: WireRecord? {
        get { boxedServerRecord.first }
        set { boxedServerRecord = newValue.map { [$0] } ?? [] }
    }
    /// Why a change token was refused.
    package var tokenRefusal: TokenRefusal?
    /// True if the token's zone was deleted and made again since the token was issued.
    package var zoneWasDeleted = false
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    // In an array, so that a result of a record is not as large as two records.
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

internal import CloudKit

/// Why a change token is no longer valid. Local changes that wait are treated differently for each reason.
package enum TokenRefusal: String, Sendable {
    /// The server no longer knows what was deleted since: what a full fetch doesn't show was deleted.
    case expired
    /// The zone was restored or made anew: what a full fetch doesn't show may be only here.
    case reset
    /// This version of the app has fields that the one before left out of what it fetched. What a full fetch doesn't
    /// show was deleted.
    case upgrade

    /// Where a server of ours says it, in the error's `userInfo`.
    package static let userInfoKey = "YapChangeTokenRefusal"

    /// What the error says. A server that says nothing, as Apple's, means *expired*.
    init(_ error: CKError) {
        let text = error.userInfo[Self.userInfoKey] as? String
        self = text == Self.reset.rawValue ? .reset : .expired
    }
}

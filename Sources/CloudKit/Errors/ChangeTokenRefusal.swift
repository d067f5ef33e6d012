/// The reason that the server rejected a change token. For an app both are `CKError.changeTokenExpired`; code that
/// keeps local changes must distinguish them.
package enum ChangeTokenRefusal: String, Sendable {
    /// The server no longer knows what was deleted since: what a full fetch doesn't show was deleted.
    case expired
    /// The zone was restored or created again, so data that a full fetch lacks may exist only on this device.
    case reset

    /// Where it stands in the error's `userInfo`.
    package static let userInfoKey = "YapChangeTokenRefusal"
    /// Where the error says `true` if the zone was deleted and made again since the token was issued.
    package static let zoneWasDeletedKey = "YapZoneWasDeleted"
}

extension CKError {
    /// Why the token was refused; nil for other errors, and for a server that doesn't say.
    package var changeTokenRefusal: ChangeTokenRefusal? {
        (userInfo[ChangeTokenRefusal.userInfoKey] as? String).flatMap { ChangeTokenRefusal(rawValue: $0) }
    }
}

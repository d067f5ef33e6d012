/// The reason that the server rejected a change token. For an app both are `CKError.changeTokenExpired`; code that
/// keeps local changes must distinguish them.
package enum ChangeTokenRefusal: String, Sendable {
    /// The server has discarded older deletions, so records that are missing from a full fetch were deleted.
    case expired
    /// The zone was restored or created again, so data that a full fetch lacks may exist only on this device.
    case reset

    /// Its key in the error's `userInfo`.
    package static let userInfoKey = "YapChangeTokenRefusal"
    /// Where the error says `true` if the zone was deleted and made again since the token was issued.
    package static let zoneWasDeletedKey = "YapZoneWasDeleted"
}

extension CKError {
    /// The reason that the token was rejected; nil for other errors, and if the server doesn't report it.
    package var changeTokenRefusal: ChangeTokenRefusal? {
        (userInfo[ChangeTokenRefusal.userInfoKey] as? String).flatMap { ChangeTokenRefusal(rawValue: $0) }
    }
}

internal import CloudKit

/// Why records of a zone are fetched that its change token doesn't bring. It decides how pending local changes are
/// treated.
package enum FullFetchReason: String, Sendable {
    /// The server no longer knows which records were deleted since. A record that a full fetch doesn't show was
    /// deleted.
    case expired
    /// The zone was restored, or was deleted and created again. A record that a full fetch doesn't show may exist only
    /// here.
    case reset
    /// This version of the app has fields that the previous one didn't store. A record that a full fetch doesn't show
    /// was deleted.
    case upgrade
    /// This version of the app has fields that the previous one didn't store, and the records that have them are known.
    /// They are fetched by name. The token stays valid.
    case newFields

    /// Key of the reason in an error's `userInfo`. Only our servers send it.
    package static let userInfoKey = "YapChangeTokenRefusal"

    /// Key in an error's `userInfo` that marks a zone as deleted and created again.
    package static let zoneWasDeletedKey = "YapZoneWasDeleted"

    /// Reads the reason of an error. Without one, as from Apple's servers, it is *expired*.
    ///
    /// - Parameter rule: What happens to the objects of a zone that was deleted and created again.
    init(_ error: CKError, objectsOfDeletedZones rule: CloudSync.DeletedZonesObjects) {
        let isReset = error.userInfo[Self.userInfoKey] as? String == Self.reset.rawValue
        let wasDeleted = error.userInfo[Self.zoneWasDeletedKey] as? Bool ?? false
        self = isReset && !(wasDeleted && rule == .remove) ? .reset : .expired
    }
}

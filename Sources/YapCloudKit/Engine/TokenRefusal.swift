internal import CloudKit

/// Why records of a zone are fetched that its change token doesn't bring. Pending local changes are treated differently
/// for each reason.
package enum TokenRefusal: String, Sendable {
    /// The server no longer knows what was deleted since: what a full fetch doesn't show was deleted.
    case expired
    /// The zone was restored, or was deleted and made again: what a full fetch doesn't show may be only here.
    case reset
    /// This version of the app has fields that the one before left out of what it fetched. What a full fetch doesn't
    /// show was deleted.
    case upgrade
    /// This version of the app has fields that the one before left out, and the records that have them are known. They
    /// are fetched by their names. The token stays valid.
    case newFields

    /// Where a server of ours says it, in the error's `userInfo`.
    package static let userInfoKey = "YapChangeTokenRefusal"

    /// Where it says that the zone was deleted and made again.
    package static let zoneWasDeletedKey = "YapZoneWasDeleted"

    /// What the error says. A server that says nothing, as Apple's, means *expired*.
    ///
    /// - Parameter rule: What happens to the objects of a zone that was deleted and made again.
    init(_ error: CKError, objectsOfDeletedZones rule: CloudSync.DeletedZonesObjects) {
        let isReset = error.userInfo[Self.userInfoKey] as? String == Self.reset.rawValue
        let wasDeleted = error.userInfo[Self.zoneWasDeletedKey] as? Bool ?? false
        self = isReset && !(wasDeleted && rule == .remove) ? .reset : .expired
    }
}

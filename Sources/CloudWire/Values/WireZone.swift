/// A zone on the wire.
package struct WireZone: Hashable, Sendable {
    /// Reason the zone was deleted. Our own key; Apple's protocol reports the deletion only.
    package enum DeletionReason: String, Hashable, Sendable {
        /// A client deleted it.
        case deleted
        /// The user purged the app's data in the settings.
        case purged
        /// The user lost the keys of the encrypted data.
        case encryptedDataReset
    }

    /// The zone's name.
    package var zoneID: ZoneID
    /// The zone's current change token.
    package var syncToken: String?
    /// True if it supports atomic writes.
    package var atomic: Bool?
    /// True if the zone was deleted.
    package var deleted: Bool?
    /// Reason it was deleted. Only for our own clients.
    package var deletionReason: DeletionReason?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a zone.
    package init(
        zoneID: ZoneID, syncToken: String? = nil, atomic: Bool? = nil, deleted: Bool? = nil,
        deletionReason: DeletionReason? = nil
    ) {
        self.zoneID = zoneID
        self.syncToken = syncToken
        self.atomic = atomic
        self.deleted = deleted
        self.deletionReason = deletionReason
    }
}

/// An element of a `zones` array: a zone or an error.
package enum ZoneResult: Hashable, Sendable {
    /// A zone.
    case zone(WireZone)
    /// The zone's error.
    case error(WireError)
}

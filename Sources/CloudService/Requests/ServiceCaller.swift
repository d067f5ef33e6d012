import CloudStore
import CloudWire

/// The caller of a request and the database: all that a handler knows besides the body.
struct ServiceCaller {
    /// The framework's placeholder for the signed-in user's own name.
    static let ownName = "__defaultOwner__"
    private static let deviceIDBytesMax = 255

    let user: ServiceUser?
    /// True for a program with a server-to-server key, which may do everything in the public database.
    let isServerKey: Bool
    let scope: DatabaseScope
    /// True if the client understands our additional keys.
    let wantsExtras: Bool
    /// True if the client wants the zone's change token with its records, as Apple's own web apps do.
    let wantsSyncToken: Bool
    /// The client's own name for the device, stored in the record's stamps.
    let deviceID: String
    /// The device, if the client named it.
    let device: DeviceKey?
    /// Collects details for the request history. Nil if the request isn't traced.
    var trace: RequestTrace?

    init(user: ServiceUser?, isServerKey: Bool = false, scope: DatabaseScope, request: WireRequest) {
        self.user = user
        self.isServerKey = isServerKey
        self.scope = scope
        wantsExtras = request.wantsExtras
        wantsSyncToken = request.flag("getCurrentSyncToken")
        let clientID = Self.checked(request.queryItem(WireHeader.clientIDItem))
        deviceID = clientID ?? "1"
        device = user.flatMap { user in
            clientID.map { DeviceKey(user: user.userRecordName, device: $0) }
        }
    }

    /// Returns the device's name, or nil if it is invalid.
    static func checked(_ clientID: String?) -> String? {
        guard let clientID, !clientID.isEmpty, clientID.utf8.count <= deviceIDBytesMax else { return nil }
        return clientID
    }

    /// The requested database, or nil for the shared one, which doesn't exist until records can be shared.
    var database: StoredDatabaseKey? {
        switch scope {
        case .public: .publicDatabase
        case .private: user.map { .privateDatabase(of: $0.userRecordName) }
        case .shared: nil
        }
    }

    /// Returns the key of a zone, which may or may not exist.
    ///
    /// Another user's zone doesn't exist in the caller's private database.
    func key(of zoneID: ZoneID?) throws(WireError) -> ZoneKey {
        let zoneID = zoneID ?? ZoneID()
        trace?.asked(for: zoneID)
        guard let database else { throw ServiceError.zoneNotFound(zoneID) }
        if scope == .public {
            guard zoneID.isDefault else { throw ServiceError.zoneNotFound(zoneID) }
        } else if let owner = zoneID.ownerRecordName, !owner.isEmpty, owner != Self.ownName {
            guard owner == user?.userRecordName else { throw ServiceError.zoneNotFound(zoneID) }
        }
        return ZoneKey(database: database, zoneName: zoneID.zoneName)
    }
}

extension ZoneKey {
    /// Default zones always exist, have no feed, and so have no row.
    var isDefault: Bool { zoneName == ZoneID.defaultZoneName }

    /// The zone's name on the wire.
    var zoneID: ZoneID {
        ZoneID(zoneName: zoneName, ownerRecordName: database.scope == .privateDatabase ? database.owner : nil)
    }

    /// Returns the zone in a response about zones, with its token if `row` exists. Default zones have no feed.
    func wireZone(_ row: ZoneRow?, scope: DatabaseScope = .private) -> WireZone {
        var zoneID = zoneID
        zoneID.zoneType = zoneType
        return WireZone(
            zoneID: zoneID, syncToken: row?.syncToken(in: scope), atomic: !isDefault, deleted: false)
    }
}

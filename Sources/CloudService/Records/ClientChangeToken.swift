import CloudStore
import CloudWire

/// A token that a device sends with a write to a zone and receives with the zone's next changes. From it the
/// device learns whether its last write was executed.
///
/// It is stored with the kept answers and expires with them. The device needs it until its next fetch.
struct ClientChangeToken {
    /// Maximum bytes of a token.
    static let bytesMax = 4_096

    let zone: ZoneKey
    let device: DeviceKey
    let bytes: [UInt8]

    /// The token of `request`. Nil if it has none, the device is unnamed, or the zone has no feed.
    init?(_ request: RecordsModifyRequest, _ caller: ServiceCaller) throws {
        guard caller.wantsExtras, let bytes = request.clientChangeToken, let device = caller.device,
            let zone = try? caller.key(of: request.zoneID), !zone.isDefault
        else { return nil }
        guard bytes.count <= Self.bytesMax else {
            throw ServiceError.limitExceeded(
                "clientChangeToken has \(bytes.count) bytes; \(Self.bytesMax) are allowed")
        }
        self.zone = zone
        self.device = device
        self.bytes = bytes
    }

    /// Returns the row that stores the token.
    func row(in zone: ZoneRow, nowMilliseconds: Int64) -> KeptAnswerRow {
        KeptAnswerRow(
            key: Self.key(zone, device), requestHash: [], atMilliseconds: nowMilliseconds, answer: bytes)
    }

    /// A client's operation id contains no space, so the keys can't collide. A recreated zone has another
    /// epoch.
    static func key(_ zone: ZoneRow, _ device: DeviceKey) -> OperationKey {
        OperationKey(
            database: zone.key.database, user: device.user,
            operationID: "client token \(zone.epoch) \(zone.key.zoneName) \(device.device)")
    }
}

import CloudStore
import CloudWire

/// What a device sends along with a write into a zone and gets back with the zone's next changes: so it learns whether
/// the service has done the write that it last asked for.
///
/// It is kept with the answers to named writes, and as long as they: it is of use until the device has fetched.
struct ClientChangeToken {
    /// Bytes that one may have.
    static let bytesMax = 4_096

    let zone: ZoneKey
    let device: DeviceKey
    let bytes: [UInt8]

    /// What `request` brings along; nil when that is nothing, nobody knows which device asks, or the zone has no
    /// changes to fetch.
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

    /// The row that keeps it.
    func row(in zone: ZoneRow, nowMilliseconds: Int64) -> KeptAnswerRow {
        KeptAnswerRow(
            key: Self.key(zone, device), requestHash: [], atMilliseconds: nowMilliseconds, answer: bytes)
    }

    /// A client's name for a write has no space, so it is none of those. A zone that was deleted and made again has
    /// another epoch.
    static func key(_ zone: ZoneRow, _ device: DeviceKey) -> OperationKey {
        OperationKey(
            database: zone.key.database, user: device.user,
            operationID: "client token \(zone.epoch) \(zone.key.zoneName) \(device.device)")
    }
}

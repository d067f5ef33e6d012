import CloudService
import CloudStore
import CloudWire
import Testing

@Suite struct ClientChangeTokenTests {
    let cloud: TestService

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
    }

    private func asked(_ endpoint: String, _ message: some JSONMessage, device: String?, extras: Bool) throws
        -> WireResponse
    {
        var request = cloud.request(endpoint, try message.json(extras: true), extras: extras)
        if let device { request.query.append((WireHeader.clientIDItem, device)) }
        return cloud.service.respond(to: request)
    }

    @discardableResult
    private func write(
        _ operations: [RecordOperation], _ token: [UInt8], device: String? = "phone",
        zone: ZoneID = TestService.zone,
        atomic: Bool? = nil
    ) throws -> WireResponse {
        let message = RecordsModifyRequest(
            operations: operations, zoneID: zone, atomic: atomic, clientChangeToken: token)
        return try asked("records/modify", message, device: device, extras: true)
    }

    private func told(device: String? = "phone", extras: Bool = true) throws -> [UInt8]? {
        let message = ChangesZoneRequest(zones: [.init(zoneID: TestService.zone)])
        let response = try asked("changes/zone", message, device: device, extras: extras)
        let answer = try cloud.read(response, as: ChangesZoneResponse.self)
        guard case .changes(let changes)? = answer.zones.first else { throw Missing() }
        return changes.clientChangeToken
    }

    private struct Missing: Error {}

    @Test func aFetchHandsBackWhatThisDevicesLastWriteBroughtAlong() throws {
        #expect(try told() == nil)
        try write([operation(.create, "a")], [1])
        #expect(try told() == [1])
        try write([operation(.create, "b")], [2])
        try write([operation(.create, "c")], [9], device: "laptop")
        #expect(try told() == [2])
        #expect(try told(device: "laptop") == [9])
        #expect(try told(device: "watch") == nil)
        try write([operation(.create, "d")], [7], device: nil)
        #expect(try told(device: nil) == nil, "of devices without a name nobody knows which it was")
    }

    @Test func aWriteThatWasRefusedBringsNothingAlong() throws {
        try write([operation(.create, "a")], [1])
        try write([operation(.create, "a"), operation(.create, "b")], [2], atomic: true)
        #expect(try told() == [1])
        try write([operation(.create, "a"), operation(.create, "b")], [3], atomic: false)
        #expect(try told() == [3], "one of the two was done")
        let refused = try write([operation(.create, "c")], Array(repeating: 0, count: 4_097))
        #expect(refused.status == 400)
        #expect(
            try told() == [3]
                && cloud.lookup(["c"]).contains { if case .record = $0 { true } else { false } } == false)
    }

    @Test func aClientOfApplesKeysAloneGetsNone() throws {
        try write([operation(.create, "a")], [1])
        #expect(try told(extras: false) == nil)
    }

    @Test func aZoneThatWasMadeAgainKnowsOfNoWrite() throws {
        try write([operation(.create, "a")], [1])
        try cloud.zones(.delete)
        try cloud.zones(.create)
        #expect(try told() == nil)
    }
}

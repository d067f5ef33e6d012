import CloudKit
import CloudKitTesting
import Testing

@Suite struct DisconnectTests {
    @Test(arguments: Cloud.allCases) func aDisconnectedDeviceReachesNothingUntilItIsConnected(way: Cloud)
        async throws
    {
        let cloud = try way.cloud()
        let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
        let zone = CKRecordZone(zoneName: "todos")
        cloud.disconnect(phone)
        let error = await #expect(throws: CKError.self) {
            try await phone.container.privateCloudDatabase.save(zone)
        }
        #expect(error?.code == .networkUnavailable)
        #expect(cloud.requestCount() == 0)
        try await laptop.container.privateCloudDatabase.save(zone)
        cloud.connect(phone)
        let zones = try await phone.container.privateCloudDatabase.allRecordZones()
        #expect(zones.contains { $0.zoneID == zone.zoneID })
    }
}

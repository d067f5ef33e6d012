import CloudKit
import CloudKitTesting
import Testing
import Yap

@testable import YapCloudKit

@Suite struct TwoDevicesTests {
    let cloud = TestCloud()
    let phone: SyncedDevice
    let laptop: SyncedDevice

    init() throws {
        phone = try SyncedDevice(cloud)
        laptop = try SyncedDevice(cloud)
    }

    private func syncAll() {
        for device in [phone, laptop, phone, laptop] { device.syncNow() }
    }

    @Test func whatOneDeviceWritesTheOtherGets() throws {
        try phone.set(Todo(title: "eggs", priority: 2, note: "six"), "1")
        #expect(phone.syncNow() == .idle)
        #expect(try phone.queue().isEmpty)
        #expect(laptop.syncNow() == .idle)
        #expect(try laptop.todo("1") == Todo(title: "eggs", priority: 2, note: "six"))
        #expect(try laptop.queue().isEmpty)
    }
}

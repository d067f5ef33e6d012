import CloudKit
import CloudKitTesting
import Seams
import Testing
import Yap

@testable import YapCloudKit

/// Answers to saves whose record is gone on the server, or about which more is known by now.
@Suite struct GoneRecordTests {
    typealias Mode = YapDatabaseCloudKit.FailureHandling
    let cloud = TestCloud()

    @Test(
        "125 (both). what waits of a record deleted here and gone on the server leaves the queue, and is no failure",
        arguments: Mode.allCases, YapDatabaseCloudKit.QueueStorage.allCases)
    func aSaveOfWhatIsGone(mode: Mode, storage: YapDatabaseCloudKit.QueueStorage) throws {
        let device = try HandledDevice(cloud, storage: storage, failures: mode)
        try device.uploaded(Todo(title: "a"), "1")
        device.deleteOnServer("1")
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "b" }
        try device.remove("1")
        device.cloudKit.resume()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .idle)
        #expect(try device.queue().isEmpty)
        #expect(device.seen.errors.isEmpty)
        let known = try device.read { _, ext in
            try ext.recordChangeTag(forRecordID: device.id("1"), databaseIdentifier: nil)
        }
        #expect(!known.hasPendingModifications && !known.hasPendingDelete)
    }

    @Test(
        "125 (both). what was made again under the name of a record that is gone goes as a new one",
        arguments: Mode.allCases)
    func whatWasMadeAgainGoesAsANewOne(mode: Mode) throws {
        let device = try HandledDevice(cloud, failures: mode)
        try device.uploaded(Todo(title: "a"), "1")
        device.deleteOnServer("1")
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "b" }
        try device.remove("1")
        try device.set(Todo(title: "c"), "1")
        device.cloudKit.resume()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .idle)
        #expect(try device.queue().isEmpty)
        #expect(device.server("1")?["title"] == "c")
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }
}

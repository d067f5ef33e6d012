import CloudKit
import CloudKitTesting
import System
import Testing
import Yap

@testable import YapCloudKit

/// The stored merge log can't be read for a while: its decisions are delivered later, and none is removed before.
@Suite struct UnreadableLogTests {
    @Test func decisionsThatCouldNotBeReadAreDeliveredBeforeLaterOnes() throws {
        let device = try HandledDevice(TestCloud())
        try device.uploaded(Todo(title: "a"), "1")
        device.behave { $0.listensToLog = false }
        try log("a", on: device)
        try device.write { _, ext in
            try ext.tables.run("UPDATE cloudKit_log_ck SET rule = 'x' || rule")
        }
        device.behave { $0.listensToLog = true }
        device.cloudKit.runner.needStoredLog()
        device.scheduler.runUntilQuiet()
        #expect(device.seen.errors.map(\.code) == [.internalError])
        try log("b", on: device)
        // The sync's next write removes the decisions that were delivered.
        try device.uploaded(Todo(title: "c"), "2")
        #expect(device.seen.logged.isEmpty)
        try device.write { _, ext in
            try ext.tables.run("UPDATE cloudKit_log_ck SET rule = substr(rule, 2) WHERE rule LIKE 'x%'")
        }
        try device.uploaded(Todo(title: "d"), "3")
        #expect(device.seen.logged.map(\.field) == ["a", "b"])
        try device.uploaded(Todo(title: "e"), "4")
        #expect(try device.read { _, ext in try ext.tables.log.logEntries() }.isEmpty)
    }

    private func log(_ field: String, on device: HandledDevice) throws {
        try device.write { _, ext in
            let rows = try ext.tables.records.records(device.id("1"), DatabaseKey(nil))
            ext.log.note(try #require(rows.first), field, .superseded, dropped: nil, kept: nil)
        }
        device.scheduler.runUntilQuiet()
    }
}

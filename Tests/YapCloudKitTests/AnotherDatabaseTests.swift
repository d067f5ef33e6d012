import CloudKit
import CloudKitTesting
import CloudWire
import System
import Testing
import Yap

@testable import YapCloudKit

/// The extension of a closed database is registered in another one. Its numbers begin anew there.
@Suite struct AnotherDatabaseTests {
    let cloud = TestCloud()

    /// Writes decisions about these fields of a record into the merge log of the device's database.
    private func log(_ fields: [String], of name: String, on device: HandledDevice) throws {
        try device.write { _, ext in
            let rows = try ext.tables.records.records(device.id(name), DatabaseKey(nil))
            let row = try #require(rows.first)
            for field in fields { ext.log.note(row, field, .superseded, dropped: nil, kept: nil) }
        }
        device.scheduler.runUntilQuiet()
    }

    @Test func decisionsOfTheSecondDatabaseAreDeliveredAlthoughTheFirstHadMore() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try log(["a", "b", "c"], of: "1", on: device)
        try device.moveToNewDatabase()
        try device.uploaded(Todo(title: "b"), "2")
        try log(["d"], of: "2", on: device)
        #expect(device.seen.logged.map(\.field) == ["a", "b", "c", "d"])
    }

    @Test func decisionsOfTheSecondDatabaseStayStoredUntilTheyAreDelivered() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try log(["a", "b", "c"], of: "1", on: device)
        try device.moveToNewDatabase()
        device.behave { $0.listensToLog = false }
        try device.uploaded(Todo(title: "b"), "2")
        try log(["d"], of: "2", on: device)
        // The sync's next write removes the decisions that were delivered.
        try device.uploaded(Todo(title: "c"), "3")
        #expect(try device.read { _, ext in try ext.tables.log.logEntries() }.map(\.field) == ["d"])
    }

    @Test func aLateResponseForTheFirstDatabaseIsNotWrittenToTheSecond() throws {
        let device = try HandledDevice(cloud)
        device.scheduler.runUntilQuiet()
        let held = HeldAnswers(cloud)
        try device.set(Todo(title: "first"), "1")
        device.scheduler.runUntilQuiet()
        #expect(held.count == 1)
        try device.moveToNewDatabase()
        // Its record and its change have the numbers of those whose response is late.
        try device.set(Todo(title: "second"), "2")
        held.release()
        device.scheduler.runUntilQuiet()
        #expect(try device.queue() == ["S2{done=0,priority=0,title=second}"])
        #expect(try device.tag("2") == nil)
        while held.count > 0 {
            held.release()
            device.scheduler.runUntilQuiet()
        }
        #expect(device.server("2")?["title"] == "second")
        #expect(try device.tag("2") == device.server("2")?.recordChangeTag)
        #expect(device.cloudKit.status.state == .idle && device.seen.errors.isEmpty)
    }

    @Test func aResponseThatNeverComesToTheFirstDatabaseDoesNotHoldUpTheSecond() throws {
        let device = try HandledDevice(cloud)
        device.scheduler.runUntilQuiet()
        let held = HeldAnswers(cloud)
        try device.set(Todo(title: "first"), "1")
        device.scheduler.runUntilQuiet()
        #expect(held.count == 1)
        try device.moveToNewDatabase()
        try device.set(Todo(title: "second"), "2")
        device.scheduler.runUntilQuiet()
        #expect(held.count == 2)
        #expect(device.server("2")?["title"] == "second")
    }

    @Test func aDecisionThatTheFirstDatabaseCommitsLateDoesNotCountForTheSecond() throws {
        let (device, second) = (try HandledDevice(cloud), try HandledDevice(cloud, registers: false))
        try device.uploaded(Todo(title: "a"), "1")
        try device.write { _, ext in
            let rows = try ext.tables.records.records(device.id("1"), DatabaseKey(nil))
            ext.log.note(try #require(rows.first), "late", .superseded, dropped: nil, kept: nil)
            try second.database.blocking.register(device.cloudKit, withName: "ck")
        }
        device.scheduler.runUntilQuiet()
        #expect(device.seen.logged.isEmpty)
        #expect(try device.read { _, ext in try ext.tables.log.logEntries() }.map(\.field) == ["late"])
        try second.set(Todo(title: "b"), "2")
        device.scheduler.runUntilQuiet()
        // It has the number of the late one.
        try log(["b"], of: "2", on: second)
        device.scheduler.runUntilQuiet()
        #expect(device.seen.logged.map(\.field) == ["b"])
    }
}

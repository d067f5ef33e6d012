import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// What is under way: order, counts, events, deadlines, and a device's disk that fails. Both failure modes.
@Suite struct UploadFlightTests {
    typealias Mode = YapDatabaseCloudKit.FailureHandling
    let cloud = TestCloud()

    @Test(
        "89, 90, 100 (both). change-sets are sent one at a time and in order, databases in parallel",
        arguments: Mode.allCases)
    func oneAtATimeAndInOrder(mode: Mode) throws {
        let device = try HandledDevice(cloud, suspended: true, storage: .keysOnly, failures: mode)
        for title in ["a", "b", "c"] { try device.set(Todo(title: title), "1") }
        try device.set(Todo(title: "x"), "9", in: "shared")
        let held = HeldAnswers(cloud)
        device.cloudKit.resume()
        var tags: [String?] = []
        for left in [3, 2, 1] {
            device.scheduler.runUntilQuiet()
            #expect(held.count == (left == 3 ? 2 : 1), "one of each database")
            #expect(device.server("1")?["title"] == ["c", "b", "a"][left - 1])
            let other = left == 3 ? 1 : 0
            #expect(try device.counts() == HandledDevice.Counts(inFlight: 1 + other, queued: left - 1))
            held.release()
            if left == 3 {
                held.release()
                #expect(device.server("9")?["title"] == "x")
            }
            device.scheduler.runUntilQuiet()
            tags.append(try device.tag("1"))
        }
        #expect(Set(tags).count == 3 && tags.last == device.server("1")?.recordChangeTag)
        #expect(try device.counts() == HandledDevice.Counts(inFlight: 0, queued: 0))
        #expect(device.cloudKit.status.state == .idle && device.seen.errors.isEmpty)
    }

    @Test(
        "91 (both). a change while its record is in flight is sent second, on the first one's tag",
        arguments: Mode.allCases)
    func aChangeWhileInFlight(mode: Mode) throws {
        let device = try HandledDevice(cloud, storage: .keysOnly, failures: mode, folds: true)
        try device.uploaded(Todo(title: "a"), "1")
        let held = HeldAnswers(cloud)
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        try device.edit("1") { $0.title = "c" }
        device.scheduler.runUntilQuiet()
        #expect(try device.queue() == ["S1{title=b}", "S1{title=c}"], "also with folding")
        #expect(device.server("1")?["title"] == "b" && held.count == 1)
        held.release()
        device.scheduler.runUntilQuiet()
        #expect(device.server("1")?["title"] == "c")
        held.release()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle && device.seen.errors.isEmpty)
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }

    @Test("97 (both). resuming too often starts nothing twice, and is reported", arguments: Mode.allCases)
    func resumingTooOften(mode: Mode) async throws {
        let device = try HandledDevice(cloud, failures: mode)
        let events = device.cloudKit.events
        let held = HeldAnswers(cloud)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.resume() == 0 && device.cloudKit.suspend(count: 0) == 0)
        device.scheduler.runUntilQuiet()
        #expect(device.modifyRequests == 1)
        held.release()
        device.scheduler.runUntilQuiet()
        #expect(await device.seenEvents(events) == ["flies S1", "too often", "done S1 next no"])
        #expect(device.cloudKit.suspend(count: .max) == .max && device.cloudKit.suspend() == .max)
    }

    @Test(
        "98, 99 (both). suspended in flight: the running one completes, the next waits, changes are recorded",
        arguments: Mode.allCases)
    func suspendedInFlight(mode: Mode) throws {
        let device = try HandledDevice(cloud, storage: .keysOnly, failures: mode)
        let held = HeldAnswers(cloud)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        device.cloudKit.suspend()
        try device.set(Todo(title: "b"), "2")
        device.scheduler.runUntilQuiet()
        #expect(try device.counts() == HandledDevice.Counts(inFlight: 1, queued: 1))
        held.release()
        device.scheduler.runUntilQuiet()
        #expect(try device.tag("1") != nil)
        #expect(try device.counts() == HandledDevice.Counts(inFlight: 0, queued: 1))
        for key in ["3", "4"] { try device.set(Todo(title: "c"), key) }
        device.scheduler.runUntilQuiet()
        #expect(try device.counts() == HandledDevice.Counts(inFlight: 0, queued: 3))
        #expect(device.modifyRequests == 1)
        #expect(device.cloudKit.status.waits(for: .suspended))
    }

    @Test(
        "101 (both). each upload reports its begin and its end, with its saves and deletions",
        arguments: Mode.allCases)
    func eachUploadReportsItsBeginAndItsEnd(mode: Mode) async throws {
        let device = try HandledDevice(cloud, suspended: true, failures: mode)
        for key in ["1", "2"] { try device.uploaded(Todo(title: "a"), key) }
        device.scheduler.runUntilQuiet()
        let events = device.cloudKit.events
        try device.write { transaction, _ in
            try transaction.edit("1") { $0.title = "b" }
            try transaction.removeObject(forKey: "2", inCollection: "todos")
        }
        try device.set(Todo(title: "c"), "3")
        try device.set(Todo(title: "d"), "4", in: "shared")
        device.upload()
        let seen = await device.seenEvents(events)
        #expect(
            seen.filter { !$0.hasSuffix("in public") && !$0.contains("S4") } == [
                "count 0", "flies S1 D2", "done S1 D2 next yes", "flies S3", "done S3 next no",
            ])
        #expect(seen.contains("flies S4 in public") && seen.contains("done S4 in public next no"))
    }

    @Test(
        "40 (both). changes in flight when the process died are pending after a relaunch, and sent again",
        arguments: Mode.allCases)
    func whatWasInFlightWhenTheProcessDied(mode: Mode) throws {
        let device = try HandledDevice(cloud, storage: .keysOnly, failures: mode)
        let held = HeldAnswers(cloud)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(try device.counts() == HandledDevice.Counts(inFlight: 1, queued: 0))
        let uuids = try device.uuids()
        cloud.carrier = nil
        try device.relaunch()
        device.cloudKit.suspend()
        device.scheduler.runUntilQuiet()
        #expect(try device.counts() == HandledDevice.Counts(inFlight: 0, queued: 1))
        #expect(try device.uuids() == uuids)
        device.upload()
        #expect(held.count == 1)
        #expect(device.seen.errors.isEmpty, "the server knows the write by its name")
        #expect(device.cloudKit.status.state == .idle)
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }

    @Test(
        "a missing response is abandoned after its deadline, and ignored when it arrives late",
        arguments: Mode.allCases)
    func aReplyThatNeverComes(mode: Mode) throws {
        let device = try HandledDevice(cloud, storage: .keysOnly, failures: mode)
        let held = HeldAnswers(cloud)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        cloud.clock.advance(bySeconds: Double(SyncEngine.operationSecondsMax) - 1)
        device.scheduler.runUntilQuiet()
        #expect(try device.counts().inFlight == 1)
        cloud.clock.advance(bySeconds: 1)
        device.scheduler.runUntilQuiet()
        #expect(try device.counts() == HandledDevice.Counts(inFlight: 0, queued: 1))
        #expect(device.seen.errors.map(\.code) == [.networkFailure])
        #expect(device.cloudKit.suspendCount == (mode == .app ? 1 : 0))
        held.release()
        device.scheduler.runUntilQuiet()
        #expect(try device.tag("1") == nil && device.counts().queued == 1, "the late one counts for nothing")
        cloud.carrier = nil
        cloud.clock.advance(bySeconds: 10)
        device.upload()
        if mode == .app {
            try device.merge(device.server("1"))
            device.upload()
        }
        #expect(device.cloudKit.status.state == .idle)
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }

    @Test(
        "109 (both). a completion that the disk rejects is reported, changes nothing, and is written later",
        arguments: Mode.allCases)
    func aCompletionThatTheDiskRefuses(mode: Mode) throws {
        let vfs = FaultVFS()
        let device = try HandledDevice(cloud, storage: .keysOnly, failures: mode, vfsName: vfs.name)
        let held = HeldAnswers(cloud)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        let queue = try device.queue()
        vfs.arm(.diskFull, at: 1, .sticky)
        held.release()
        device.scheduler.runUntilQuiet()
        vfs.disarm()
        #expect(device.seen.errors.map(\.code) == [.internalError])
        #expect(try device.queue() == queue && device.tag("1") == nil)
        #expect(device.cloudKit.status.waitsForATime(because: .localDatabase))
        cloud.clock.advance(bySeconds: 5)
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle && device.modifyRequests == 1)
        #expect(try device.queue().isEmpty && device.tag("1") == device.server("1")?.recordChangeTag)
    }

    @Test(
        "109, 41 (both). a completion that was never written, and the process died: sent again, done once, no loop",
        arguments: Mode.allCases)
    func aCompletionThatWasNeverWritten(mode: Mode) throws {
        let vfs = FaultVFS()
        let device = try HandledDevice(cloud, storage: .keysOnly, failures: mode, vfsName: vfs.name)
        try device.uploaded(Todo(title: "a"), "1")
        let held = HeldAnswers(cloud)
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        vfs.arm(.diskFull, at: 1, .sticky)
        held.release()
        device.scheduler.runUntilQuiet()
        vfs.disarm()
        cloud.carrier = nil
        try device.relaunch()
        device.behave { $0.errors = [] }
        device.scheduler.runUntilQuiet()
        #expect(device.seen.errors.isEmpty, "the server knows the write by its name")
        #expect(device.cloudKit.status.state == .idle)
        #expect(try device.queue().isEmpty && device.tag("1") == device.server("1")?.recordChangeTag)
        #expect(device.server("1")?["title"] == "b")
    }

    @Test("a batch that the disk can't mark as in flight is not sent before it can", arguments: Mode.allCases)
    func aBatchThatCannotBeMarked(mode: Mode) throws {
        let vfs = FaultVFS()
        let device = try HandledDevice(cloud, suspended: true, failures: mode, vfsName: vfs.name)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        vfs.arm(.write, at: 1, .sticky)
        device.cloudKit.resume()
        device.scheduler.runUntilQuiet()
        vfs.disarm()
        #expect(device.modifyRequests == 0)
        #expect(device.cloudKit.status.state != .idle)
        cloud.clock.advance(bySeconds: 5)
        #expect(device.upload().state == .idle && device.modifyRequests == 1)
    }
}

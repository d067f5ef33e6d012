import CloudKit
import CloudKitTesting
import CloudWire
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// Commits that fail at every call of the file system: what was not acknowledged is in no table, in no memory, and is
/// not sent; what was, is.
@Suite struct QueueFaultTests {
    private struct Step: Sendable {
        var name: String
        var body: @Sendable (YapDatabaseReadWriteTransaction, HandledDevice.Ext) throws -> Void
    }

    private static let steps = [
        Step(name: "edit") { transaction, _ in try transaction.edit("1") { $0.title = "failed" } },
        Step(name: "remove") { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
        },
        Step(name: "insert") { transaction, _ in
            try transaction.setObject(Todo(title: "failed"), forKey: "2", inCollection: "todos")
        },
        Step(name: "save by hand") { _, ext in
            let record = try #require(try ext.record(forKey: "1", inCollection: "todos"))
            record["title"] = "failed"
            try ext.saveRecord(record, databaseIdentifier: nil)
        },
        Step(name: "detach") { _, ext in
            try ext.detachRecord(
                forKey: "1", inCollection: "todos", wasRemoteDeletion: false, shouldUploadDeletion: true)
        },
        Step(name: "take a batch") { _, ext in
            _ = try ext.takeBatch(DatabaseKey(nil), itemsMax: 400, bytesMax: .max)
        },
    ]

    @Test(
        "118. a failed commit leaves the queue, the counts and the caches unchanged",
        arguments: forms, [false, true])
    func aCommitThatFails(_ form: QueueStorage, folds: Bool) throws {
        for step in Self.steps {
            for kind in [FaultKind.diskFull, .sync] {
                var nth = 1
                while try fails(step, kind, at: nth, form, folds) { nth += 1 }
                #expect(nth > 1 || kind == .sync, "\(step.name), \(kind): nothing failed")
            }
        }
    }

    /// Whether the fault came before the commit was acknowledged.
    private func fails(
        _ step: Step, _ kind: FaultKind, at nth: Int, _ form: QueueStorage, _ folds: Bool
    ) throws -> Bool {
        let vfs = FaultVFS()
        let cloud = TestCloud()
        let device = try HandledDevice(cloud, suspended: true, storage: form, folds: folds, vfsName: vfs.name)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        let before = try (
            device.queue(), device.read { try $1.tables.counts(DatabaseKey(nil)) }, device.tag("1")
        )
        let requests = device.modifyRequests
        let what: Comment = "\(step.name), \(kind) at \(nth), \(form), folds \(folds)"

        vfs.arm(kind, at: nth, .sticky)
        let failed: Bool
        do {
            try device.write(step.body)
            failed = false
        } catch {
            failed = true
        }
        device.scheduler.runUntilQuiet()
        vfs.disarm()
        guard failed else { return false }

        #expect(try device.queue() == before.0, what)
        #expect(try device.read { try $1.tables.counts(DatabaseKey(nil)) } == before.1, what)
        #expect(try device.tag("1") == before.2, what)
        #expect(device.modifyRequests == requests, "nothing is sent: \(step.name)")
        let remembered = device.cloudKit.restored.withLock { $0.all.map(\.fields) }
        #expect(!remembered.contains { $0["title"] == Field(.string("failed")) }, what)
        // The next commit may get the numbers that the failed one had: nothing of that one may be remembered.
        try device.edit("1") { $0.title = "c" }
        try device.set(Todo(title: "d"), "2")
        let expected =
            folds
            ? ["S1{title=c} S2{done=0,priority=0,title=d}"]
            : ["S1{title=b}", "S1{title=c}", "S2{done=0,priority=0,title=d}"]
        #expect(try device.queue() == expected, what)
        guard nth == 1 else { return true }
        try device.relaunch()
        #expect(try device.queue() == expected, what)
        cloud.clock.advance(bySeconds: 100)
        #expect(device.upload().state == .idle, what)
        #expect(device.server("1")?["title"] == "c", what)
        #expect(device.server("2")?["title"] == "d", what)
        return true
    }

    @Test(
        "9. nothing of a rolled back commit is cached under the number of the next one",
        arguments: forms)
    func aRolledBackCommitIsNotRemembered(_ form: QueueStorage) throws {
        let device = try HandledDevice(TestCloud(), suspended: true, storage: form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.write { transaction, _ in
            try transaction.edit("1") { $0.title = "rolled back" }
            transaction.rollback()
        }
        let remembered = device.cloudKit.restored.withLock { $0.all.map(\.fields) }
        #expect(!remembered.contains { $0["title"] == Field(.string("rolled back")) })
        try device.edit("1") { $0.title = "b" }
        #expect(try device.queue() == ["S1{title=b}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
    }
}

import CloudKit
import CloudKitTesting
import CloudWire
import SQLite
import System
import Testing
import Yap

@testable import YapCloudKit

/// Listing and counting what waits.
@Suite struct ListingTests {
    let cloud = TestCloud()

    private func device(_ form: QueueStorage, changeSets: Int) throws -> HandledDevice {
        let device = try HandledDevice(cloud, suspended: true, storage: form)
        for number in 0..<changeSets { try device.set(Todo(title: "t\(number)"), "\(number)") }
        try device.relaunch()
        return device
    }

    @Test("124. a page calls the handler for its own change-sets and no others", arguments: forms)
    func aPageRequestsItsOwnData(_ form: QueueStorage) throws {
        let device = try device(form, changeSets: 30)
        var seen: [String] = []
        try device.read { _, ext in
            var last: YDBCKChangeSet?
            repeat {
                let asked = device.seen.restored.count
                let page = try ext.pendingChangeSets(limit: 7, after: last)
                let newlyAsked = device.seen.restored.count - asked
                #expect(newlyAsked == (form == .values ? 0 : page.count))
                seen += page.flatMap { $0.recordIDsToSave.map(\.recordName) }
                last = page.last
            } while last != nil
        }
        #expect(seen == (0..<30).map(String.init))
    }

    @Test("124. counting and listing pending changes reads no values and calls no handler", arguments: forms)
    func countingReadsNoValues(_ form: QueueStorage) throws {
        let device = try device(form, changeSets: 30)
        try device.set(Todo(title: "other"), "x", in: "shared")
        try device.remove("3")
        // What can't be read and can't be given back is counted all the same.
        device.behave { $0.omitsAll = true }
        try device.write { transaction, ext in
            try transaction.sqlite.execute(
                "UPDATE \(ext.tables.table("change")) SET fields = x'FF' WHERE id > 2")
        }
        device.behave { $0.restored = [] }
        try device.read { _, ext in
            let pending = try ext.numberOfPendingChangeSets()
            #expect(pending == 32)
            #expect(try ext.numberOfQueuedChangeSets() == 32)
            #expect(try ext.numberOfInFlightChangeSets() == 0)
            #expect(try ext.numberOfPendingChanges() == 32)
            let names = try ext.pendingChangeSetSummaries(limit: 2, after: nil)
            #expect(names.map(\.recordIDsToSave) == [[device.id("0")], [device.id("1")]])
            let rest = try ext.pendingChangeSetSummaries(limit: 100, after: names.last)
            #expect(rest.count == 30)
            #expect(rest.last?.recordIDsToDelete == [device.id("3")])
            #expect(rest.map(\.databaseIdentifier).contains("public"))
        }
        #expect(device.seen.restored.isEmpty)
    }

    @Test("100. a batch in flight is counted and listed as such", arguments: forms)
    func aBatchInFlightIsListed(_ form: QueueStorage) throws {
        let device = try device(form, changeSets: 2)
        try device.write { _, ext in _ = try ext.takeBatch(DatabaseKey(nil), itemsMax: 400, bytesMax: .max) }
        try device.read { _, ext in
            let counts = try ext.numberOfChangeSets()
            #expect(counts == (inFlight: 1, queued: 1))
            #expect(try ext.numberOfPendingChangeSets() == 2)
            #expect(try ext.pendingChangeSets().map(\.isInFlight) == [true, false])
            #expect(try ext.pendingChangeSetSummaries(limit: 9).map(\.isInFlight) == [true, false])
            let current = try ext.currentChangeSet(databaseIdentifier: nil)
            #expect(current?.recordIDsToSave == [device.id("0")])
            #expect(try ext.currentChangeSet(databaseIdentifier: "public") == nil)
        }
    }

    @Test("124. the cache of the queue is bounded, and the oldest entry is removed first")
    func whatIsRememberedIsBounded() {
        var values = RestoredValues()
        for change in 0..<Int64(RestoredValues.changesMax * 2) {
            values.add(["a": Field(.int64(1))], of: change)
        }
        #expect(values.all.count == RestoredValues.changesMax)
        #expect(values[0] == nil)
        #expect(values[Int64(RestoredValues.changesMax * 2) - 1] != nil)
        let large = String(repeating: "x", count: RestoredValues.bytesMax / 4)
        for change in 0..<Int64(9) { values.add(["a": Field(.string(large))], of: 10_000 + change) }
        #expect(values.all.count <= 4)
        #expect(values[10_008]?["a"] == Field(.string(large)))
        for (change, _) in values.all { values.remove(change) }
        #expect(values.all.isEmpty)
        values.add(["a": Field(.int64(2))], of: 1)
        #expect(values.all.count == 1)
    }

    @Test("124. more than is remembered is sent whole", arguments: forms)
    func moreThanIsRememberedIsSentWhole(_ form: QueueStorage) throws {
        let device = try HandledDevice(cloud, suspended: true, storage: form)
        let count = RestoredValues.changesMax + 50
        try device.write { transaction, _ in
            for number in 0..<count {
                try transaction.setObject(
                    Todo(title: "t\(number)"), forKey: "\(number)", inCollection: "todos")
            }
        }
        #expect(device.cloudKit.restored.withLock { $0.all.count } <= RestoredValues.changesMax)
        #expect(device.upload().state == .idle)
        #expect(device.server("0")?["title"] == "t0")
        #expect(device.server("\(count - 1)")?["title"] == "t\(count - 1)")
    }

    @Test("the form can be changed from run to run", arguments: forms)
    func theFormCanBeChanged(_ form: QueueStorage) throws {
        let device = try HandledDevice(cloud, suspended: true, storage: form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        let other: QueueStorage = form == .values ? .keysOnly : .values
        try device.relaunch(storage: other)
        #expect(try device.queue() == ["S1{title=b}"])
        try device.edit("1") { $0.title = "c" }
        try device.relaunch(storage: form)
        #expect(try device.queue() == ["S1{title=b}", "S1{title=c}"])
        #expect(try device.sentTitles() == ["b", "c"])
    }
}

import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// The order of the changes of one commit: parents first, and their deletions last.
@Suite struct ChangeOrderTests {
    let device: HandledDevice

    init() throws {
        device = try HandledDevice(TestCloud(), suspended: true)
    }

    enum Link: CaseIterable { case parent, reference, list }

    /// A record that points at others.
    private func record(_ name: String, _ link: Link, to targets: [String] = []) -> CKRecord {
        let record = CKRecord(recordType: "todo", recordID: device.id(name))
        record["title"] = name
        let references = targets.map { CKRecord.Reference(recordID: device.id($0), action: .none) }
        guard let first = references.first else { return record }
        switch link {
        case .parent: record.parent = first
        case .reference: record["owner"] = first
        case .list: record["others"] = references
        }
        return record
    }

    private func insert(
        _ record: CKRecord, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        let name = record.recordID.recordName
        try ext.attachRecord(
            record, databaseIdentifier: nil, forKey: name, inCollection: "todos", shouldUploadRecord: true)
        try transaction.setObject(Todo(title: name), forKey: name, inCollection: "todos")
    }

    /// "S1 D2": what the next operation would save and delete, each in its order among all changes.
    private func order(_ itemsMax: Int = 400) throws -> String {
        var words: [String] = []
        try device.read { _, ext in
            words = try ext.batches.batch(DatabaseKey(nil), itemsMax: itemsMax).items.map {
                ($0.kind == .save ? "S" : "D") + $0.recordID.recordName
            }
        }
        return words.joined(separator: " ")
    }

    @Test(
        "103. a record's target is sent before it, for any order in the commit",
        arguments: Link.allCases)
    func parentsComeFirst(link: Link) throws {
        try device.write { transaction, ext in
            try insert(record("x", link), transaction, ext)
            try insert(record("grandchild", link, to: ["child"]), transaction, ext)
            try insert(record("child", link, to: ["parent"]), transaction, ext)
            try insert(record("y", link), transaction, ext)
            try insert(record("parent", link), transaction, ext)
        }
        #expect(try order() == "Sx Sparent Schild Sgrandchild Sy")
    }

    @Test("103. in their own order, and in commits that point at nothing, changes stay as they are")
    func nothingIsMovedWithoutNeed() throws {
        try device.write { transaction, ext in
            for name in ["c", "a", "b"] { try insert(record(name, .parent), transaction, ext) }
            #expect(ext.queue.links.sequences.isEmpty, "a commit without references asks for no order")
            try insert(record("d", .parent, to: ["c"]), transaction, ext)
            try insert(record("e", .parent, to: ["elsewhere"]), transaction, ext)
        }
        #expect(try order() == "Sc Sa Sb Sd Se")
    }

    @Test("103. a circle of references is sent too")
    func circles() throws {
        try device.write { transaction, ext in
            try insert(record("a", .reference, to: ["b"]), transaction, ext)
            try insert(record("b", .reference, to: ["c"]), transaction, ext)
            try insert(record("c", .reference, to: ["a"]), transaction, ext)
            try insert(record("self", .reference, to: ["self"]), transaction, ext)
        }
        #expect(try order() == "Sc Sb Sa Sself")
    }

    @Test("103. the records of a circle of parents are quarantined, and the rest of their batch is saved")
    func circlesOfParents() throws {
        try device.write { transaction, ext in
            try insert(record("a", .parent, to: ["b"]), transaction, ext)
            try insert(record("b", .parent, to: ["a"]), transaction, ext)
            try insert(record("self", .parent, to: ["self"]), transaction, ext)
            try insert(record("child", .parent, to: ["top"]), transaction, ext)
            try insert(record("top", .parent), transaction, ext)
        }
        _ = device.upload()
        #expect(device.server("child")?.parent?.recordID == device.id("top"))
        #expect(device.server("a") == nil && device.server("b") == nil && device.server("self") == nil)
        let quarantined = try device.read { _, ext in try ext.quarantinedChanges() }
        #expect(quarantined.map(\.recordID.recordName).sorted() == ["a", "b", "self"])
    }

    @Test("103. deletions: children before their parents")
    func deletions() throws {
        try device.write { transaction, ext in
            try insert(record("parent", .parent), transaction, ext)
            try insert(record("child", .parent, to: ["parent"]), transaction, ext)
            try insert(record("grandchild", .parent, to: ["child"]), transaction, ext)
        }
        #expect(device.upload().state == .idle)
        device.cloudKit.suspend()
        try device.write { transaction, _ in
            for name in ["parent", "child", "grandchild"] {
                try transaction.removeObject(forKey: name, inCollection: "todos")
            }
        }
        #expect(try order() == "Dgrandchild Dchild Dparent")
        #expect(device.upload().state == .idle)
        #expect(device.server("parent") == nil && device.server("grandchild") == nil)
        #expect(device.seen.errors.isEmpty)
    }

    @Test("103. a record's former target is deleted after the record was saved")
    func deletionAfterTheReferenceWasRemoved() throws {
        try device.write { transaction, ext in
            try insert(record("old", .reference), transaction, ext)
            try insert(record("child", .reference, to: ["old"]), transaction, ext)
        }
        #expect(device.upload().state == .idle)
        device.cloudKit.suspend()
        try device.write { transaction, ext in
            try transaction.removeObject(forKey: "old", inCollection: "todos")
            try insert(record("new", .reference), transaction, ext)
            let row = try #require(try ext.tables.records.liveRecord(device.id("child"), DatabaseKey(nil)))
            let was = CKRecord.Reference(recordID: device.id("old"), action: .none)
            let now = CKRecord.Reference(recordID: device.id("new"), action: .none)
            try ext.recorder.queueSave(
                row, ["owner": Field(cloudValue: now, in: HandledDevice.zoneID)],
                originals: ["owner": Field(cloudValue: was, in: HandledDevice.zoneID)])
        }
        #expect(try order() == "Snew Schild Dold")
    }

    @Test("103. a thousand records, each the parent of the previous one, are sent in batches, parents first")
    func aLongChainIsSent() throws {
        try device.write { transaction, ext in
            for number in 0..<1000 {
                try insert(record("\(number)", .parent, to: ["\(number + 1)"]), transaction, ext)
            }
            try insert(record("1000", .parent), transaction, ext)
        }
        #expect(try order(3) == "S1000 S999 S998")
        #expect(device.upload().state == .idle)
        #expect(device.seen.errors.isEmpty, "the server refused none")
        #expect(device.server("0")?.parent?.recordID == device.id("1"))
    }

    @Test("103. a later commit that is folded into an earlier one leaves each change in its place")
    func foldingKeepsThePlace() throws {
        let device = try HandledDevice(TestCloud(), suspended: true, folds: true)
        try device.write { transaction, ext in
            try insert(record("child", .parent, to: ["parent"]), transaction, ext)
            try insert(record("parent", .parent), transaction, ext)
        }
        try device.edit("parent") { $0.title = "changed" }
        try device.set(Todo(title: "z"), "z")
        #expect(try device.queue().count == 1)
        #expect(try device.queue()[0].hasPrefix("Sparent{title=changed} Schild"))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func eachOrderSatisfiesAllNeedsThatAreNoCircle(seed: UInt64) {
        let random = SeededRandomSource(seed: seed)
        let count = 60
        // Every need points at a change of a smaller secret number, so there is no circle.
        let secret = (0..<count).map { _ in random.next() }
        let needs = (0..<count).map { change in
            (0..<count).filter {
                secret[$0] < secret[change] && random.next() % 20 == 0
            }
        }
        let order = ChangeOrder(needs: needs).sorted()
        #expect(order.sorted() == Array(0..<count), "seed \(seed)")
        var place = [Int](repeating: 0, count: count)
        for (index, change) in order.enumerated() { place[change] = index }
        for change in 0..<count {
            for need in needs[change] { #expect(place[need] < place[change], "seed \(seed)") }
        }
    }
}

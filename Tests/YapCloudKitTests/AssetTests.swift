import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import SQLite
import Testing
import Yap

@testable import YapCloudKit

/// Files that wait to be sent.
@Suite final class AssetTests {
    let device: HandledDevice
    let source: String

    init() throws {
        device = try HandledDevice(TestCloud(), suspended: true, storage: .keysOnly)
        source = device.path + "-photo"
        try Data("first".utf8).write(to: URL(fileURLWithPath: source))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: source)
        try? FileManager.default.removeItem(atPath: folder)
    }

    private var folder: String { device.path + "-ck.assets" }
    private var copies: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    private func record(_ name: String = "1", _ path: String? = nil) -> CKRecord {
        let record = CKRecord(recordType: "todo", recordID: device.id(name))
        record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: path ?? source))
        return record
    }

    /// Makes a row with a photo.
    private func insert(_ name: String = "1", _ path: String? = nil) throws {
        try device.write { transaction, ext in
            try ext.attachRecord(
                record(name, path), databaseIdentifier: nil, forKey: name, inCollection: "todos",
                shouldUploadRecord: true)
            try transaction.setObject(Todo(title: name), forKey: name, inCollection: "todos")
        }
    }

    private func save(_ record: CKRecord) throws {
        try device.write { _, ext in _ = try ext.saveRecord(record, databaseIdentifier: nil) }
    }

    private func batch() throws -> SyncBatch {
        try device.read { _, ext in try ext.batches.batch(DatabaseKey(nil), itemsMax: 10) }
    }

    /// The bytes that the next operation is given for a record's file.
    private func sent(_ field: String = "photo") throws -> String? {
        let asset: CKAsset? = try batch().saves.first?[field]
        return try asset?.fileURL.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
    }

    /// What a reply does that took everything.
    private func succeed() throws {
        try device.write { _, ext in
            let batch = try ext.takeBatch(DatabaseKey(nil), itemsMax: 10, bytesMax: .max)
            for item in batch.items {
                if let change = try ext.tables.queue.change(item.sequence, item.incarnation) {
                    try ext.queue.remove(change)
                }
            }
        }
    }

    @Test("121. the source is deleted or changes before the upload: its contents at the commit are sent")
    func theSourceMayGo() throws {
        try insert()
        // In place: a hard link would change with it.
        let handle = try #require(FileHandle(forWritingAtPath: source))
        try handle.write(contentsOf: Data("other".utf8))
        try handle.close()
        #expect(try sent() == "first")
        try FileManager.default.removeItem(atPath: source)
        #expect(try sent() == "first")
        #expect(copies.count == 1)
    }

    @Test("121. a relaunch keeps the copy, and a database that was moved finds it")
    func aRelaunchKeepsIt() throws {
        try insert()
        try FileManager.default.removeItem(atPath: source)
        try device.relaunch()
        #expect(try sent() == "first")
        let stored = try device.read { transaction, _ in
            try transaction.sqlite.withStatement("SELECT fields FROM cloudKit_change_ck") { statement in
                _ = try statement.step()
                return try FieldsBinary.decode(statement.bytes(at: 0))
            }
        }
        #expect(stored["photo"]?.value == .asset(Asset(downloadURL: "staged:\(copies[0])")))
    }

    @Test("121. the copy is deleted with the last change that names it, after its commit")
    func itIsRemovedAfterTheSuccess() throws {
        try insert()
        #expect(copies.count == 1)
        try succeed()
        #expect(try device.queue().isEmpty)
        #expect(copies.isEmpty)
    }

    @Test("121. of two changes with a file each, one success removes one copy")
    func eachChangeHasItsOwn() throws {
        try insert()
        try Data("second".utf8).write(to: URL(fileURLWithPath: source))
        try save(record())
        #expect(copies.count == 2)
        #expect(try sent() == "first")
        try succeed()
        #expect(copies.count == 1)
        #expect(try sent() == "second")
    }

    @Test("121. a value that is replaced in its own commit leaves no copy; a rolled back one neither")
    func replacedAndRolledBack() throws {
        try device.write { transaction, ext in
            try ext.attachRecord(
                record(), databaseIdentifier: nil, forKey: "1", inCollection: "todos",
                shouldUploadRecord: true)
            try transaction.setObject(Todo(title: "1"), forKey: "1", inCollection: "todos")
            _ = try ext.saveRecord(record(), databaseIdentifier: nil)
        }
        #expect(copies.count == 1)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try device.write { _, ext in
                _ = try ext.saveRecord(record(), databaseIdentifier: nil)
                #expect(copies.count == 2)
                throw Stop()
            }
        }
        #expect(copies.count == 1)
        #expect(try sent() == "first")
    }

    @Test("121. orphaned copies of a crash are deleted at the next start, the others stay")
    func orphansAreCollected() throws {
        try insert()
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/orphan"))
        try device.relaunch()
        #expect(copies.count == 1 && copies != ["orphan"])
        #expect(try sent() == "first")
    }

    @Test(
        "121. a list of files, and the merge block's answer with a file that is queued, need no second copy")
    func listsAndMerges() throws {
        try insert()
        let two = CKRecord(recordType: "todo", recordID: device.id("1"))
        let url = URL(fileURLWithPath: source)
        two["photos"] = [CKAsset(fileURL: url), CKAsset(fileURL: url)] as NSArray
        try save(two)
        #expect(copies.count == 3)
        try device.write { _, ext in
            let pending = try #require(try ext.pendingChangeSets().first?.recordsToSave.first)
            _ = try ext.saveRecord(pending, databaseIdentifier: nil)
        }
        #expect(copies.count == 3)
        try succeed()
        #expect(copies.count == 3, "the later change names it too")
        try succeed()
        #expect(copies.count == 1)
        try succeed()
        #expect(copies.isEmpty)
    }

    @Test(
        "121. a file that isn't there quarantines the record's change; another file ends that")
    func aMissingFile() throws {
        try insert("1", source + "-missing")
        try device.set(Todo(title: "x"), "x")
        let counts = try device.read { _, ext in try ext.tables.counts(DatabaseKey(nil)) }
        #expect(counts.quarantined == [.refused(recordName: "1", .assetFileNotFound)])
        #expect(try batch().saves.map(\.recordID.recordName) == ["x"])
        try save(record())
        #expect(try device.read { _, ext in try ext.tables.counts(DatabaseKey(nil)) }.quarantined.isEmpty)
        #expect(try batch().saves.map(\.recordID.recordName) == ["x"])
        try succeed()
        #expect(try sent() == "first")
    }

    @Test("121. a copy that can't be written fails the commit, and nothing of it is kept")
    func aCopyThatCantBeWritten() throws {
        // A file where the folder should be.
        try Data().write(to: URL(fileURLWithPath: folder))
        #expect(throws: (any Error).self) { try insert() }
        #expect(try device.todo("1") == nil)
        #expect(try device.queue().isEmpty)
    }

    @Test func aCopyIsOnTheDiskBeforeItIsNamed() throws {
        let target = folder + "/copy"
        let big = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0) })
        try big.write(to: URL(fileURLWithPath: source))
        let files = DiskAssetFiles()
        try files.copy(source, to: target)
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == big)
        #expect(throws: AssetFileError.self, "what is there is not written over") {
            try files.copy(source, to: target)
        }
        #expect(throws: AssetFileError.unreadable(path: folder, errno: 21)) {
            try files.copy(folder, to: target + "2")
        }
        #expect(files.names(in: folder) == ["copy"])
        files.remove(target)
        files.remove(target)
        #expect(files.names(in: folder).isEmpty && files.names(in: folder + "/none").isEmpty)
    }
}

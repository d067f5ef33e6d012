import Foundation
import System
import TestSeed
import Testing

@testable import Yap

/// Rows as bytes: read, written and compared without their types.
@Suite struct StoredBytesTests {
    private typealias Bytes = YapDatabaseReadWriteTransaction.StoredBytes

    private struct Model: Codable {
        var flag = true
        var small = -3
        var least = Int.min
        var large = UInt64.max
        var ratio = -0.0
        var odd = [Double.infinity, -.infinity, .nan, .leastNonzeroMagnitude, 1e300]
        var short = Float(0.1)
        var text = "ü\u{0}"
        var bytes = Data([0, 255])
        var list: [Int?] = [1, nil]
        var numbers = [2: "two"]
    }

    private struct NewTodo: Codable, Sendable {
        var title: String
        var isDone = false
        var priority = 0
        var color: String?
    }

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func object(_ bytes: [UInt8]) -> StoredObject { bytes.withUnsafeBytes { StoredObject($0) } }

    @Test func whatTheLibraryWroteIsWrittenAgainTheSame() throws {
        let own = try CBOREncoder().encode(Model())
        let kept = try CBORMap(try CBOREncoder().encode(["color": "red"]))
        for head in [[], StoredForm.head(version: 7), StoredForm.head(kept: kept, version: 9)] {
            let read = object(head + own)
            #expect(read.bytes == head + own)
            #expect(read.object == object(own).object || read.object.cbor == own)
        }
        let both = object(StoredForm.head(kept: kept, version: 9) + StoredForm.head(version: 7) + own)
        #expect(
            both.version == 7 && both.keptVersion == 9
                && both.kept
                    == .map([
                        StoredValue.Entry(key: .text("color"), value: .text("red"))
                    ])
        )
    }

    @Test(arguments: TestSeed.values(count: 20)) func anyBytesAreKept(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let good = try StoredForm.head(version: 3) + CBOREncoder().encode(Model())
        for _ in 0..<300 {
            var bytes = good
            for _ in 0..<random.next(in: 1..<4) {
                bytes[random.next(in: 0..<bytes.count)] = UInt8(random.next(in: 0..<256))
            }
            // What isn't written the same is known to be: `DatabaseFile.Row` then has the bytes.
            let again = object(bytes).bytes
            #expect(object(again).bytes == again)
        }
    }

    @Test func storedBytesReachObserversAndExtensionsThatCatchUp() throws {
        let index = YapDatabaseSecondaryIndex("titles", of: Todo.self, in: "todos", version: "1") {
            $0.column(\.title)
        }
        let app = try folder.open()
        try app.blocking.register(index)
        let connection = app.newConnection()
        try connection.blocking.readWrite { try $0.set("old", "1") }
        let program = try YapDatabase(path: folder.file) { _ in }
        let (old, new) = (
            try CBOREncoder().encode(Todo(title: "new")), try CBOREncoder().encode(Todo(title: "b"))
        )
        try program.newConnection().blocking.readWrite { transaction throws in
            #expect(try transaction.storedBytes(forKey: "2", inCollection: "todos") == nil)
            try transaction.setStoredBytes(
                Bytes(data: old, metadata: nil), forKey: "1", inCollection: "todos")
            try transaction.setStoredBytes(
                Bytes(data: new, metadata: nil), forKey: "2", inCollection: "todos")
            #expect(try transaction.storedBytes(forKey: "2", inCollection: "todos")?.data == new)
        }
        #expect(program.snapshot == app.snapshot + 1)
        #expect(try DatabaseFile(path: folder.file).extensions().map(\.hasMissedCommits) == [true])
        #expect(try connection.blocking.read { try $0.todo("1") }?.title == "new")
        try connection.blocking.readWrite { try $0.set("c", "3") }
        try connection.blocking.read { transaction throws in
            #expect(try transaction[index].rows(where: { $0.title == "old" }).isEmpty)
            #expect(try transaction[index].rows(where: { $0.title == "b" }).map(\.key) == ["2"])
        }
        #expect(try DatabaseFile(path: folder.file).extensions().map(\.hasMissedCommits) == [false])
    }

    @Test func propertiesThatComeAsBytesAreKeptByATypeThatDoesNotKnowThem() throws {
        let app = try folder.open()
        let connection = app.newConnection()
        try connection.blocking.readWrite { try $0.set("old", "1") }
        let program = try YapDatabase(path: folder.file) { _ in }
        let bytes = try CBOREncoder().encode(NewTodo(title: "new", color: "red"))
        try program.newConnection().blocking.readWrite {
            try $0.setStoredBytes(Bytes(data: bytes, metadata: nil), forKey: "1", inCollection: "todos")
        }
        try connection.blocking.readWrite { try $0.set("newer", "1") }
        let row = try DatabaseFile(path: folder.file).row("1", inCollection: "todos")
        #expect(row?.stored.kept == .map([StoredValue.Entry(key: .text("color"), value: .text("red"))]))
    }

    @Test func namesThatAFailedSavepointNotedAreNotedAgain() throws {
        let connection = try folder.open().newConnection()
        try connection.blocking.readWrite { try $0.set("old", "1") }
        let program = try YapDatabase(path: folder.file) { _ in }
        let bytes = Bytes(data: try CBOREncoder().encode(NewTodo(title: "new", color: "red")), metadata: nil)
        try program.newConnection().blocking.readWrite { transaction in
            try? transaction.savepoint {
                try transaction.setStoredBytes(bytes, forKey: "1", inCollection: "todos")
                throw Refused()
            }
            try transaction.setStoredBytes(bytes, forKey: "1", inCollection: "todos")
        }
        try connection.blocking.readWrite { try $0.set("newer", "1") }
        let row = try DatabaseFile(path: folder.file).row("1", inCollection: "todos")
        #expect(row?.stored.kept == .map([StoredValue.Entry(key: .text("color"), value: .text("red"))]))
    }

    @Test func bytesAreRefusedWhereAnExtensionNeedsTheObject() throws {
        let database = try folder.open()
        try database.blocking.register(
            YapDatabaseSecondaryIndex("titles", of: Todo.self, in: "todos", version: "1") {
                $0.column(\.title)
            })
        let bytes = Bytes(data: [0xA0], metadata: nil)
        let connection = database.newConnection()
        #expect(
            code {
                try connection.blocking.readWrite {
                    try $0.setStoredBytes(bytes, forKey: "1", inCollection: "todos")
                }
            } == .invalidExtension)
        try connection.blocking.readWrite { try $0.setStoredBytes(bytes, forKey: "1", inCollection: "other") }
    }

    @Test func fingerprintsTellWhatChangedBetweenTwoReadings() throws {
        let database = try folder.open()
        let connection = database.newConnection()
        try connection.blocking.readWrite { transaction in
            for key in ["a", "b", "c", "e\u{301}"] { try transaction.set("1", key) }
            try transaction.setObject("x", forKey: "n", inCollection: "notes")
        }
        let file = try DatabaseFile(path: folder.file)
        var (all, todos) = (RowFingerprints(collection: nil), RowFingerprints(collection: "todos"))
        #expect(
            try file.read { try all.update(from: file) }.map(\.change) == [
                .inserted, .inserted, .inserted, .inserted, .inserted,
            ])
        _ = try file.read { try todos.update(from: file) }
        try connection.blocking.readWrite { transaction in
            try transaction.set("2", "a")
            try transaction.set("1", "b")
            try transaction.removeObject(forKey: "c", inCollection: "todos")
            try transaction.removeObject(forKey: "e\u{301}", inCollection: "todos")
            try transaction.set("2", "e\u{301}")
            try transaction.set("1", "\u{E9}")
            try transaction.replaceMetadata(Stamp(milliseconds: 1), forKey: "b", inCollection: "todos")
            try transaction.setObject("y", forKey: "n", inCollection: "notes")
        }
        func words(_ rows: [RowFingerprints.ChangedRow]) -> [String] { rows.map { "\($0.change) \($0.key)" } }
        let expected = ["updated a", "updated b", "removed c", "updated e\u{301}", "inserted \u{E9}"]
        #expect(try words(file.read { try todos.update(from: file) }) == expected)
        #expect(try words(file.read { try all.update(from: file) }) == ["updated n"] + expected)
        #expect(try file.read { try all.update(from: file) }.isEmpty)
        try connection.blocking.readWrite { try $0.removeAllObjects(inCollection: "todos") }
        #expect(try file.read { try all.update(from: file) }.map(\.change).allSatisfy { $0 == .removed })
        var small = RowFingerprints(collection: nil, rowsMax: 0)
        #expect(throws: YapDatabaseError.self) { _ = try file.read { try small.update(from: file) } }
    }

    @Test func contentsOfCollectionsAreCounted() throws {
        let database = try folder.open { configuration in
            configuration.register(Todo.self, inCollection: "later", version: 4)
        }
        try database.newConnection().blocking.readWrite { transaction in
            try transaction.setObject(
                Todo(title: "a"), metadata: Stamp(milliseconds: 1), forKey: "1", inCollection: "todos")
            try transaction.set("b", "2")
            try transaction.setObject(Todo(title: "c"), forKey: "1", inCollection: "later")
        }
        let file = try DatabaseFile(path: folder.file)
        let contents = try file.read { try file.contents() }
        #expect(contents.map(\.name) == ["later", "todos"])
        #expect(contents.map(\.versions) == [[4: 1], [1: 2]])
        #expect(contents.map(\.metadataCount) == [0, 1] && contents.map(\.rowsCount) == [1, 2])
        #expect(contents[1].propertyNames == ["title", "isDone", "priority"])
    }
}

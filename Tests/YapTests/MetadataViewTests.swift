import SQLiteTestSupport
import System
import TestSeed
import Testing

@testable import Yap

/// Views whose groups, order and filters depend on the rows' metadata.
@Suite struct MetadataViewTests {
    struct Note: Codable, Sendable, Equatable {
        var title: String
        var folder: String? = "home"
    }

    struct Info: Codable, Sendable, Equatable {
        var downloadedAt: Int?
        var isHidden = false
    }

    /// Counts how often it is decoded.
    struct CountedInfo: Codable, Sendable {
        static let decodedCount = Lock(0)
        var number = 0

        init(number: Int) { self.number = number }

        init(from decoder: any Decoder) throws {
            Self.decodedCount.withLock { $0 += 1 }
            number = try decoder.singleValueContainer().decode(Int.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(number)
        }
    }

    private typealias Auto = YapDatabaseAutoView<Note, String>
    private typealias Filtered = YapDatabaseFilteredView<Note, String>
    private typealias View = YapDatabaseView<Note, String>

    private let folder: TestFolder
    private let downloads = Self.downloads()

    init() throws { folder = try TestFolder() }

    private static func downloads() -> Auto {
        Auto(
            "downloads", of: Note.self, metadata: Info.self, in: "memos", version: "1",
            group: { key, note, info in key == "never" || info?.isHidden == true ? nil : note.folder },
            sort: [.by(metadata: \Info.downloadedAt, .descending), .by(\.title)])
    }

    private func open(_ views: [any YapDatabaseNamedExtension] = []) throws -> YapDatabase {
        let database = try folder.open { $0.register(Note.self, metadata: Info.self, inCollection: "memos") }
        for view in views { try database.blocking.register(view) }
        return database
    }

    private func keys(_ view: View, _ database: YapDatabase, in group: String = "home") throws -> [String] {
        try database.read { try $0[view].keys(in: group) }
    }

    /// Each write brings one view up to date, from the root on.
    private func heal(_ database: YapDatabase) throws {
        for _ in 0..<3 { try database.write { _ in } }
    }

    private func setFour(_ database: YapDatabase) throws {
        try database.write { transaction in
            for (key, number) in [("a", 1), ("b", 3), ("c", 2)] {
                try transaction.set(Note(title: key), Info(downloadedAt: number), key)
            }
            try transaction.setObject(Note(title: "d"), forKey: "d", inCollection: "memos")
            try transaction.set(Note(title: "never"), Info(downloadedAt: 9), "never")
        }
    }

    @Test func aViewGroupsAndSortsByMetadata() throws {
        let database = try open([downloads])
        try setFour(database)
        #expect(try keys(downloads, database) == ["b", "c", "a", "d"])
        let byAll = Auto(
            "byAll", of: Note.self, in: "memos", version: "1", group: { $0.folder },
            sort: [
                .by(metadata: Info.self) { key, note, info in
                    "\(info?.downloadedAt.map { $0 % 2 } ?? 0)\(note.title == key)"
                }, .byKey(.descending),
            ])
        try database.blocking.register(byAll)
        #expect(try keys(byAll, database) == ["d", "c", "never", "b", "a"])
    }

    @Test func aViewFollowsWritesThatChangeOnlyTheMetadata() throws {
        let database = try open([downloads])
        try setFour(database)
        try database.write { transaction in
            try transaction.replace(Info(downloadedAt: 7), "a")
            #expect(try transaction[downloads].keys(in: "home") == ["a", "b", "c", "d"])
            try transaction.replace(nil, "b")
            #expect(try transaction[downloads].keys(in: "home") == ["a", "c", "b", "d"])
            try transaction.replace(Info(isHidden: true), "c")
            #expect(try transaction[downloads].count() == 3)
        }
        #expect(try keys(downloads, database) == ["a", "b", "d"])
        // The metadata stays, or is cleared.
        try database.write {
            try $0.replaceObject(Note(title: "z", folder: "work"), forKey: "a", inCollection: "memos")
            try $0.replaceObject(Note(title: "z"), forKey: "c", inCollection: "memos")
        }
        #expect(try keys(downloads, database) == ["b", "d"])
        #expect(try keys(downloads, database, in: "work") == ["a"])
        try database.write { try $0.setObject(Note(title: "z"), forKey: "c", inCollection: "memos") }
        #expect(try keys(downloads, database) == ["b", "d", "c"])
        #expect(throws: Refused.self) {
            try database.write { transaction in
                try transaction.replace(Info(isHidden: true), "b")
                throw Refused()
            }
        }
        #expect(try keys(downloads, database) == ["b", "d", "c"])
    }

    @Test func aViewWithoutMetadataIsNotCalledForItAndReadsNone() throws {
        let calls = Lock(0)
        let plain = YapDatabaseAutoView(
            "plain", of: String.self, in: "counted", version: "1",
            group: { text in
                calls.withLock { $0 += 1 }
                return text
            })
        let filtered = YapDatabaseFilteredView("filtered", of: plain, version: "1") { _, _ in
            calls.withLock { $0 += 1 }
            return true
        }
        func open() throws -> YapDatabase {
            let database = try folder.open {
                $0.register(String.self, metadata: CountedInfo.self, inCollection: "counted")
            }
            try database.blocking.register(plain)
            try database.blocking.register(filtered)
            return database
        }
        var database = try open()
        try database.write {
            try $0.setObject("x", metadata: CountedInfo(number: 1), forKey: "k", inCollection: "counted")
        }
        try database.blocking.close()
        database = try open()
        calls.withLock { $0 = 0 }
        try database.write { _ = try $0.replaceObject("y", forKey: "k", inCollection: "counted") }
        #expect(calls.withLock { $0 } == 2)
        try database.write { transaction in
            try transaction.replaceMetadata(CountedInfo(number: 2), forKey: "k", inCollection: "counted")
            try transaction.touchMetadata(forKey: "k", inCollection: "counted")
        }
        #expect(calls.withLock { $0 } == 2)
        #expect(CountedInfo.decodedCount.withLock { $0 } == 0)
    }

    @Test func filtersFollowMetadataOfTheirOwnAndOfTheirParents() throws {
        let plain = Filtered("plain", of: downloads, version: "1") { _, note in note.title != "c" }
        let recent = Filtered("recent", of: plain, metadata: Info.self, version: "1") { _, key, note, info in
            key == note.title && info?.downloadedAt ?? 0 > 2
        }
        let database = try open([downloads, plain, recent])
        try setFour(database)
        #expect(try keys(plain, database) == ["b", "a", "d"])
        #expect(try keys(recent, database) == ["b"])
        try database.write { transaction in
            try transaction.replace(Info(downloadedAt: 5), "d")
            try transaction.replace(Info(downloadedAt: 9), "c")
            #expect(try transaction[recent].keys(in: "home") == ["d", "b"])
        }
        #expect(try keys(plain, database) == ["d", "b", "a"])
        try database.write { try $0.replace(Info(isHidden: true), "b") }
        #expect(try keys(plain, database) == ["d", "a"])
        #expect(try keys(recent, database) == ["d"])
        try database.write { transaction in
            try transaction[recent].setFilter(version: "2", metadata: Info.self) { _, _, _, info in
                info?.downloadedAt == 1
            }
            try transaction.replace(Info(downloadedAt: 1), "d")
        }
        #expect(try keys(recent, database) == ["d", "a"] || keys(recent, database) == ["a", "d"])
        #expect(try keys(recent, database) == keys(plain, database))
    }

    @Test func resultsOfASearchFollowTheMetadataOfTheirParent() throws {
        let search = YapDatabaseFullTextSearch("text", of: Note.self, in: "memos", version: "1") {
            $0.column(\.title)
        }
        let found = YapDatabaseSearchResultsView("found", of: downloads, matching: search)
        let last = Filtered("last", of: found, version: "1") { _, _ in true }
        let database = try open([downloads, search, found, last])
        try database.write { transaction in
            for (key, number) in [("a", 1), ("b", 3), ("c", 2)] {
                try transaction.set(Note(title: "milk \(key)"), Info(downloadedAt: number), key)
            }
            try transaction[found].search(.words("milk"))
        }
        #expect(try keys(found, database) == ["b", "c", "a"])
        try database.write { transaction in
            try transaction.replace(Info(downloadedAt: 9), "a")
            try transaction.replace(Info(isHidden: true), "c")
        }
        #expect(try keys(found, database) == ["a", "b"])
        #expect(try keys(last, database) == ["a", "b"])
    }

    @Test func aViewIsFilledAndCatchesUpByMetadata() throws {
        let lacking = try open()
        try setFour(lacking)
        let recent = Filtered("recent", of: downloads, metadata: Info.self, version: "1") { _, _, _, info in
            info?.downloadedAt ?? 0 > 1
        }
        var database = try open([downloads, recent])
        #expect(try keys(downloads, database) == ["b", "c", "a", "d"])
        #expect(try keys(recent, database) == ["b", "c"])
        // Another process without the views, while they are registered here, and in a run without them.
        try lacking.write { try $0.replace(Info(downloadedAt: 5), "a") }
        try heal(database)
        #expect(try keys(downloads, database) == ["a", "b", "c", "d"])
        #expect(try keys(recent, database) == ["a", "b", "c"])
        try database.blocking.close()
        try lacking.write { try $0.replace(Info(isHidden: true), "b") }
        database = try open([downloads, recent])
        #expect(try keys(downloads, database) == ["a", "c", "d"])
        #expect(try keys(recent, database) == ["a", "c"])
    }

    @Test func aListFollowsMetadata() async throws {
        let database = try open([downloads])
        let connection = database.newConnection()
        try await connection.readWrite { transaction in
            try transaction.set(Note(title: "a"), Info(downloadedAt: 1), "a")
            try transaction.set(Note(title: "b"), Info(downloadedAt: 2), "b")
        }
        var changes = connection.changes(of: downloads).makeAsyncIterator()
        var list = YapDatabaseViewSections<String, Note>()
        list.apply(try #require(try await changes.next()))
        try await connection.readWrite { try $0.replace(Info(downloadedAt: 3), "a") }
        var change = try #require(try await changes.next())
        list.apply(change)
        #expect(change.rowChanges.map(\.kind) == [.move])
        #expect(change.rowChanges.map(\.flags) == [.metadata])
        #expect(list.sections.map { $0.rows.map(\.title) } == [["a", "b"]])
        try await connection.readWrite { try $0.touchMetadata(forKey: "b", inCollection: "memos") }
        change = try #require(try await changes.next())
        #expect(change.rowChanges.map(\.kind) == [.update])
        #expect(change.rowChanges.map(\.flags) == [.metadata])
        try await connection.readWrite { try $0.replace(Info(isHidden: true), "b") }
        change = try #require(try await changes.next())
        #expect(change.rowChanges.map(\.kind) == [.delete])
    }

    @Test func metadataOfAnotherTypeIsRefused() throws {
        let database = try open([downloads])
        let wrong = Auto(
            "wrong", of: Note.self, in: "memos", version: "1", group: { $0.folder },
            sort: [.by(metadata: \Int.self)])
        #expect(code { try database.blocking.register(wrong) } == .typeMismatch)
        let filter = Filtered("wrong", of: downloads, metadata: Int.self, version: "1") { _, _, _, _ in true }
        #expect(code { try database.blocking.register(filter) } == .typeMismatch)
        let none = YapDatabaseAutoView(
            "none", of: String.self, metadata: Info.self, in: "notes", version: "1",
            group: { key, _, _ in key })
        #expect(code { try database.blocking.register(none) } == .missingRegistration)
        let right = Filtered("right", of: downloads, version: "1") { _, note in note.title != "a" }
        try database.blocking.register(right)
        try setFour(database)
        try database.write { transaction in
            let refused = code {
                try transaction[right].setFilter(version: "2", metadata: Int.self) { _, _, _, _ in true }
            }
            #expect(refused == .typeMismatch)
            try transaction.replace(Info(downloadedAt: 8), "c")
        }
        #expect(try keys(right, database) == ["c", "b", "d"])
    }

    /// Drawn writes against a sort and filters of all rows.
    @Test(arguments: TestSeed.values(count: 6))
    func viewsByMetadataAreAsAPlainSortAndFilterHasThem(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let plain = Filtered("plain", of: downloads, version: "1") { _, note in note.title < "5" }
        let recent = Filtered("recent", of: plain, metadata: Info.self, version: "1") { _, _, _, info in
            info?.downloadedAt ?? 0 > 4
        }
        func compare(_ transaction: YapDatabaseReadTransaction) throws {
            var rows: [(key: String, note: Note, info: Info?, rowID: Int64)] = []
            for row in try transaction.rows(Note.self, metadata: Info.self, inCollection: "memos") {
                guard row.metadata?.isHidden != true,
                    let rowID = try transaction.rowID(forKey: row.key, inCollection: "memos")
                else { continue }
                rows.append((row.key, row.object, row.metadata, rowID))
            }
            rows.sort { left, right in
                let numbers = (left.info?.downloadedAt ?? -1, right.info?.downloadedAt ?? -1)
                if numbers.0 != numbers.1 { return numbers.0 > numbers.1 }
                return (left.note.title, left.rowID) < (right.note.title, right.rowID)
            }
            for group in ["home", "work"] {
                let all = rows.filter { $0.note.folder == group }
                #expect(try transaction[downloads as View].keys(in: group) == all.map(\.key))
                let few = all.filter { $0.note.title < "5" }
                #expect(try transaction[plain as View].keys(in: group) == few.map(\.key))
                let expected = few.filter { $0.info?.downloadedAt ?? 0 > 4 }
                #expect(try transaction[recent as View].keys(in: group) == expected.map(\.key))
            }
        }
        let lacking = try open()
        var database = try open([downloads, plain, recent])
        for _ in 0..<50 {
            if random.next(in: 0..<4) == 0 {
                try lacking.write { for _ in 0...random.next(in: 0..<5) { try draw(random, $0) } }
            }
            if random.next(in: 0..<12) == 0 {
                try database.blocking.close()
                database = try open([downloads, plain, recent])
            }
            try heal(database)
            let fails = random.next(in: 0..<5) == 0
            try database.write { transaction in
                for _ in 0...random.next(in: 0..<6) { try draw(random, transaction) }
                try compare(transaction)
                if fails { transaction.rollback() }
            }
            try database.read { try compare($0) }
        }
    }

    private func draw(_ random: SeededRandomSource, _ transaction: YapDatabaseReadWriteTransaction) throws {
        let key = "k\(random.next(in: 0..<20))"
        let note = Note(
            title: "\(random.next(in: 0..<9))", folder: ["home", "work", nil][random.next(in: 0..<3)])
        let info =
            random.next(in: 0..<4) == 0
            ? nil
            : Info(
                downloadedAt: random.next(in: 0..<5) == 0 ? nil : random.next(in: 0..<9),
                isHidden: random.next(in: 0..<5) == 0)
        switch random.next(in: 0..<20) {
        case 0...3: try transaction.removeObject(forKey: key, inCollection: "memos")
        case 4...6: try transaction.replaceObject(note, forKey: key, inCollection: "memos")
        case 7...12: try transaction.replace(info, key)
        case 13: try transaction.touchRow(forKey: key, inCollection: "memos")
        case 14: try transaction.setObject(note, forKey: key, inCollection: "memos")
        default: if let info { try transaction.set(note, info, key) }
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    fileprivate func set(_ note: MetadataViewTests.Note, _ info: MetadataViewTests.Info, _ key: String) throws
    {
        try setObject(note, metadata: info, forKey: key, inCollection: "memos")
    }

    fileprivate func replace(_ info: MetadataViewTests.Info?, _ key: String) throws {
        try replaceMetadata(info, forKey: key, inCollection: "memos")
    }
}

import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import StoreAudit
import System
import Testing

@testable import CloudService

/// Index entries lie on the disk, so they count towards a quota.
@Suite struct IndexQuotaTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.db")
    }

    private func service(bytesMax: Int64, user: Int64 = 1 << 40) throws -> TestService {
        var limits = ServiceLimits()
        limits.assets.privateBytesMax = bytesMax
        limits.assets.publicBytesOfUserMax = user
        return TestService(store: try SQLiteCloudStore(path: path), limits: limits)
    }

    /// Texts of different words, a thousand each: more are not taken of one.
    private func words(_ count: Int, from first: Int = 0) -> [String: Field] {
        var fields: [String: Field] = [:]
        for start in stride(from: first, to: first + count, by: 1_000) {
            let words = (start..<min(start + 1_000, first + count)).map { "w\($0 + 1_000_000)" }
            fields["text\(fields.count)"] = Field(.string(words.joined(separator: " ")))
        }
        return fields
    }

    /// Names of the most bytes that a record's may have.
    private func name(_ number: Int) -> String {
        String(String(repeating: "n", count: 250) + "\(number + 10_000)".suffix(5))
    }

    private func size(_ service: TestService, _ scope: StoredDatabaseKey.Scope, _ user: String) throws
        -> StoredSize
    {
        let key = UsageKey(scope: scope, user: user)
        var wanted = StoreLoad()
        wanted.usageOf = [key]
        return try service.service.store.read { try $0.load(wanted).usage[key]?.size } ?? StoredSize()
    }

    /// What is counted is within the quota, and what lies on the disk near what is counted.
    private func expectDiskFits(_ service: TestService, bytesMax: Int64) throws {
        let used = try size(service, .privateDatabase, "_ada").quotaBytes(rowBytes: 2_048)
        #expect(used <= bytesMax)
        let connection = try Connection(path: path)
        let pages = try #require(
            try connection.withStatement("PRAGMA page_count") {
                try $0.step() ? $0.int64(at: 0) : nil
            })
        // Leaves that were split are half full.
        #expect(pages * 4_096 < used * 3 / 2, "\(pages) pages for \(used) bytes")
    }

    @Test func aUserWithLongNamesAndManyWordsFillsNoMoreOfTheDiskThanTheQuota() throws {
        let bytesMax: Int64 = 12 << 20
        let service = try service(bytesMax: bytesMax)
        try service.zones(.create)
        var refusedCount = 0
        for number in 0..<20 {
            let summary = try service.modify([operation(.create, name(number), words(3_000))]).summaries
            if summary == ["QUOTA_EXCEEDED"] { refusedCount += 1 }
        }
        #expect(refusedCount > 0 && refusedCount < 15)
        try expectDiskFits(service, bytesMax: bytesMax)
    }

    /// References of each kind to many records.
    private func references(
        _ count: Int, _ actions: [Reference.Action] = [.deleteSelf, .validate]
    ) -> [String: Field] {
        actions.reduce(into: [:]) { fields, action in
            let values = (0..<count).map {
                FieldValue.reference(Reference(recordName: name($0), zoneID: nil, action: action))
            }
            fields["list\(fields.count)"] = Field(.list(.referenceList, values))
        }
    }

    @Test func aReferenceThatBindsCountsAsItsTwoRows() throws {
        let service = try service(bytesMax: 1 << 30)
        try service.zones(.create)
        try service.modify((0..<3).map { operation(.create, name($0)) })
        func counted(_ action: Reference.Action, parent: String? = nil) throws -> Int64 {
            let change = operation(.forceUpdate, "source", references(3, [action]), parent: parent)
            #expect(try service.modify([change]).summaries == ["saved"])
            return try size(service, .privateDatabase, "_ada").indexBytes
        }
        let namesBytes = "_ada".utf8.count + "todos".utf8.count + name(0).utf8.count + "source".utf8.count
        let row = Int64(2 * namesBytes + 48)
        let free = try counted(.none)
        let bound = try counted(.deleteSelf)
        #expect(bound == free + 3 * row)
        #expect(try counted(.validate) == bound)
        #expect(try counted(.none) == free)
        let child = try counted(.none, parent: name(0))
        // A parent is a value that is found by, too.
        let entry = StoredIndexEntry.countedBytes(
            fieldBytes: "___parent".utf8.count, valueBytes: 0, nameBytes: "source".utf8.count)
        #expect(child > free + row + entry)
    }

    @Test func aUserWithManyReferencesFillsNoMoreOfTheDiskThanTheQuota() throws {
        let bytesMax: Int64 = 12 << 20
        let service = try service(bytesMax: bytesMax)
        try service.zones(.create)
        let count = 150
        try service.modify((0..<count).map { operation(.create, name($0)) })
        var refusedCount = 0
        for number in count..<count + 80 {
            let summary = try service.modify([operation(.create, name(number), references(count))]).summaries
            if summary == ["QUOTA_EXCEEDED"] { refusedCount += 1 }
        }
        #expect(refusedCount > 0 && refusedCount < 75, "\(refusedCount)")
        try expectDiskFits(service, bytesMax: bytesMax)
        let source = name(count)
        #expect(try service.modify([operation(.forceUpdate, source, references(1))]).summaries == ["saved"])
        #expect(try service.modify([operation(.forceDelete, source, type: nil)]).summaries == ["deleted"])
        #expect(try StoreAudit.findings(path: path) == [])
    }

    @Test func aChangeThatOnlyBringsIndexEntriesIsRefusedBeyondTheQuota() throws {
        let service = try service(bytesMax: 700_000)
        try service.zones(.create)
        let long = Field(.string(String(repeating: "x", count: 9_000)))
        for number in 0..<5 {
            let fields = ["text0": long, "text1": long, "text2": long]
            #expect(try service.modify([operation(.create, name(number), fields)]).summaries == ["saved"])
        }
        // As many bytes, and three thousand words.
        #expect(
            try service.modify([operation(.forceUpdate, name(0), words(3_000))]).summaries == [
                "QUOTA_EXCEEDED"
            ])
        #expect(try service.modify([operation(.forceUpdate, name(0), words(100))]).summaries == ["saved"])
        #expect(
            try service.modify([operation(.forceUpdate, name(0), ["text0": Field(.string("short"))])])
                .summaries
                == ["saved"])
        #expect(try StoreAudit.findings(path: path) == [])
    }

    @Test func aRecordWithAParentGrowsNoFurtherBeyondTheQuota() throws {
        var service = try service(bytesMax: 1 << 30)
        try service.zones(.create)
        func save(_ count: Int) throws -> [String] {
            let data = ["data": Field(.bytes([UInt8](repeating: 1, count: count)))]
            return try service.modify([operation(.forceUpdate, name(1), data, parent: name(0))]).summaries
        }
        try service.modify([operation(.create, name(0))])
        #expect(try save(100) == ["saved"])
        service = try self.service(bytesMax: 1_000)
        #expect(try save(101) == ["QUOTA_EXCEEDED"])
        #expect(try save(100) == ["saved"])
    }

    @Test func whatShrinksIsSavedBeforeTheFileOfAnEarlierVersionIsCounted() throws {
        var service = try service(bytesMax: 1 << 30)
        try service.zones(.create)
        try service.modify([operation(.create, "a", words(1_000))])
        let connection = try Connection(path: path)
        try connection.execute(
            "UPDATE records SET indexBytes = 0; UPDATE zones SET indexBytes = 0; UPDATE usage SET indexBytes = 0"
        )
        try connection.close()
        service = try self.service(bytesMax: 10_000)
        #expect(try service.modify([operation(.forceUpdate, "a", words(999))]).summaries == ["saved"])
    }

    @Test func whatGetsFewerEntriesIsSavedAlsoBeyondTheQuota() throws {
        var service = try service(bytesMax: 1 << 30)
        try service.zones(.create)
        #expect(try service.modify([operation(.create, "a", words(2_000))]).summaries == ["saved"])
        service = try self.service(bytesMax: 10_000)
        #expect(
            try service.modify([operation(.forceUpdate, "a", words(2_001))]).summaries == ["QUOTA_EXCEEDED"])
        #expect(try service.modify([operation(.forceUpdate, "a", words(1_999))]).summaries == ["saved"])
        #expect(try service.modify([operation(.forceDelete, "a", type: nil)]).summaries == ["deleted"])
        // The tombstone's names.
        #expect(
            try size(service, .privateDatabase, "_ada").indexBytes
                == Int64(3 * ("_ada" + "todos" + "a").utf8.count + "todo".utf8.count))
    }

    @Test func entriesOfPublicRecordsCountToTheirCreatorAndToTheDatabase() throws {
        let service = try service(bytesMax: 1 << 30)
        try service.modify([operation(.create, "p", words(50))], zone: nil, database: "public")
        let creator = try size(service, .publicDatabase, "_ada").indexBytes
        #expect(creator > 50 * 60)
        #expect(try size(service, .publicDatabase, "").indexBytes == creator)
        try service.modify(
            [operation(.forceDelete, "p", type: nil)], zone: nil, database: "public")
        #expect(try size(service, .publicDatabase, "").indexBytes == 0)
    }

    @Test func addedAndRemovedIndexesAreCountedInSteps() throws {
        let service = try service(bytesMax: 1 << 30)
        try service.zones(.create)
        try service.modify((0..<400).map { operation(.create, "r\($0)", words(20, from: $0)) })
        let before = try size(service, .privateDatabase, "_ada").indexBytes
        let schema = try service.service.schemaMaintenance.currentSchema()
        try service.service.schemaMaintenance.changeSchema { schema in
            var without = schema
            without.recordTypes["todo"]?.fields["text0"]?.indexes = []
            return without
        }
        while try service.service.indexes.buildStep() {}
        let without = try size(service, .privateDatabase, "_ada").indexBytes
        #expect(without < before / 2)
        #expect(try StoreAudit.findings(path: path) == [])
        try service.service.schemaMaintenance.changeSchema { _ in schema }
        while try service.service.indexes.buildStep() {}
        #expect(try size(service, .privateDatabase, "_ada").indexBytes == before)
        #expect(try StoreAudit.findings(path: path) == [])
    }

    /// - Parameter isHalfWay: whether the earlier version has indexed only a part of the records.
    @Test(arguments: [false, true]) func aFileOfAnEarlierVersionIsCountedInSteps(isHalfWay: Bool) throws {
        let service = try service(bytesMax: 1 << 30)
        try service.zones(.create)
        try service.modify((0..<400).map { operation(.create, "r\($0)", words(3, from: $0)) })
        try service.modify([operation(.create, "p", words(50))], zone: nil, database: "public")
        if !isHalfWay { while try service.service.keepUp() {} }
        let counted = try size(service, .privateDatabase, "_ada")
        let connection = try Connection(path: path)
        try connection.execute(OlderFormat.storeTwelve)
        for table in ["records", "zones", "usage"] {
            try connection.execute("ALTER TABLE \(table) DROP COLUMN indexBytes")
        }
        for column in ["records", "bytes"] {
            try connection.execute("ALTER TABLE clearings DROP COLUMN \(column)")
        }
        try connection.execute("UPDATE indexWork SET content = CAST(x'01' || substr(content, 2) AS BLOB)")
        try connection.execute("PRAGMA user_version = 8")
        try connection.close()
        let again = try self.service(bytesMax: 1 << 30)
        #expect(try size(again, .privateDatabase, "_ada").indexBytes == 0)
        #expect(try StoreAudit.findings(path: path) == [])
        while try again.service.keepUp() {}
        #expect(try size(again, .privateDatabase, "_ada") == counted)
        #expect(try size(again, .publicDatabase, "").indexBytes > 0)
        #expect(try StoreAudit.findings(path: path) == [])
    }
}

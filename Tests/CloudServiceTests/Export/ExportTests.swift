import CloudStore
import CloudWire
import Crypto
import SQLiteTestSupport
import StoreAudit
import System
import TestSeed
import Testing

@testable import CloudService

/// Exports of random data, and what an import makes of them.
@Suite struct ExportTests {
    private static let seeds = Array(UInt64(1)...12)

    /// A place of data: a service with a store, users and files of its own.
    private struct Place {
        let folder: TemporaryFolder
        let store: SQLiteCloudStore
        let cloud: TestService
        let names: ExportNames

        /// - Parameter suffix: makes other record names for the same accounts, as on another server.
        init(seed: UInt64, suffix: String = "") throws {
            folder = try TemporaryFolder()
            store = try SQLiteCloudStore(path: folder.file("store.db"))
            cloud = TestService(store: store, seed: seed)
            names = ExportNames(accounts: ["_ada\(suffix)": "account:ada", "_bob\(suffix)": "account:bob"])
        }

        func export(_ scope: ExportScope, _ names: ExportNames? = nil) throws -> [UInt8] {
            var bytes: [UInt8] = []
            _ = try cloud.service.export(scope, names: names ?? self.names) { bytes += $0 }
            return bytes
        }

        @discardableResult
        func take(
            _ bytes: [UInt8], into scope: ExportScope, _ names: ExportNames? = nil, merges: Bool = false
        ) throws -> ExportSummary {
            try cloud.service.importExport(
                into: scope, names: names ?? self.names, merges: merges, from: { ExportTests.lines(bytes) })
        }

        func expectSound() throws {
            store.close()
            #expect(try StoreAudit.findings(path: folder.file("store.db")).isEmpty)
        }
    }

    private static func lines(_ bytes: [UInt8]) -> () -> [UInt8]? {
        var rest = bytes.split(separator: 0x0A)[...]
        return { rest.popFirst().map(Array.init) }
    }

    @Test(arguments: seeds) func anExportOfAnImportOfAnExportIsTheSameBytes(_ seed: UInt64) throws {
        let one = try Place(seed: seed)
        let random = SeededRandomSource(seed: seed)
        try fill(one, random)
        let exported = try one.export(.container)
        let other = try Place(seed: seed + 1000, suffix: "-elsewhere")
        let summary = try other.take(exported, into: .container)
        #expect(summary.bytes == Int64(exported.count) && summary.records > 20)
        #expect(try other.export(.container) == exported, "seed \(seed)")
        #expect(throws: ExportError.notEmpty) { try other.take(exported, into: .container) }
        try other.take(exported, into: .container, merges: true)
        #expect(try other.export(.container) == exported, "seed \(seed), merged")
        try one.expectSound()
        try other.expectSound()
    }

    @Test(arguments: seeds.prefix(4)) func aUsersDataMovesToAnotherUser(_ seed: UInt64) throws {
        let one = try Place(seed: seed)
        try fill(one, SeededRandomSource(seed: seed))
        let ada = ExportNames(accounts: ["_ada": ExportNames.owner, "_bob": "account:bob"])
        let exported = try one.export(.user("_ada"), ada)
        let other = try Place(seed: seed + 1000)
        let bob = ExportNames(accounts: ["_bob": ExportNames.owner])
        try other.take(exported, into: .user("_bob"), bob)
        #expect(try other.export(.user("_bob"), bob) == exported, "seed \(seed)")
        #expect(try other.export(.user("_ada"), ada).count < exported.count, "nothing of it is ada's")
        try other.expectSound()
    }

    @Test func anImportAppearsInTheFeed() throws {
        let one = try Place(seed: 3)
        try one.cloud.zones(.create)
        try one.cloud.modify((0..<200).map { operation(.create, "r\($0)", ["n": Field(.int64(1))]) })
        let names = ExportNames(accounts: ["_ada": ExportNames.owner])
        let exported = try one.export(.user("_ada"), names)
        let other = try Place(seed: 4)
        try other.cloud.zones(.create)
        try other.cloud.modify([operation(.create, "r7", ["n": Field(.int64(7))])])
        let token = try other.cloud.changes().syncToken
        try other.take(exported, into: .user("_ada"), names, merges: true)
        let news = try other.cloud.changes(token, resultsLimit: 400).records.compactMap(\.record)
        #expect(news.count == 200)
        #expect(news.first { $0.recordName == "r7" }?.fields["n"]?.value == .int64(1))
    }

    @Test func anExportThatWasChangedOrCutImportsNothing() throws {
        let one = try Place(seed: 5)
        try fill(one, SeededRandomSource(seed: 5))
        let exported = try one.export(.container)
        let lines = exported.split(separator: 0x0A).map(Array.init)
        let seed = TestSeed.value
        let random = SeededRandomSource(seed: seed)
        func joined(_ lines: [[UInt8]]) -> [UInt8] { Array(lines.joined(separator: [0x0A])) }
        var broken = [
            joined(Array(lines.dropLast())), joined(lines + [lines[1]]), joined(Array(lines.dropFirst())),
            joined([lines[0]] + lines), Array("hello\n".utf8), [],
        ]
        for _ in 0..<20 {
            var copy = lines
            copy.remove(at: random.next(in: 0..<copy.count))
            broken.append(joined(copy))
        }
        let data = lines.indices.filter { lines[$0].starts(with: Array(#"{"data""#.utf8)) }
        try #require(!data.isEmpty)
        for index in data {
            var copy = lines
            copy[index] = Array(#"{"data":"AAAA"}"#.utf8)
            broken.append(joined(copy))
        }
        let other = try Place(seed: 6)
        let empty = try other.export(.container)
        for (number, bytes) in broken.enumerated() {
            let error = #expect(throws: (any Error).self, "seed \(seed), number \(number)") {
                try other.take(bytes, into: .container)
            }
            guard error != nil else { return }
            #expect(try other.export(.container) == empty)
        }
    }

    @Test func anAccountThatIsNotHereIsNamed() throws {
        let one = try Place(seed: 7)
        try one.cloud.modify([operation(.create, "r")], zone: nil)
        let other = try Place(seed: 8)
        let exported = try one.export(.container)
        #expect(throws: ExportError.unknownAccount(name: "ada")) {
            try other.take(exported, into: .container, ExportNames(accounts: [:]))
        }
        #expect(throws: ExportError.self) { try other.take(exported, into: .user("_ada")) }
    }

    // MARK: By hand

    private static func written(_ lines: [String], of what: String = "user", records: Int) -> [UInt8] {
        let all =
            [#"{"yapExport":1,"of":"\#(what)"}"#] + lines
            + [#"{"end":true,"records":\#(records),"assets":0}"#]
        return Array(all.joined(separator: "\n").utf8)
    }

    private static func record(_ name: String, type: String = "T", field: String = "n", value: String = "1")
        -> String
    {
        #"{"record":{"recordName":"\#(name)","recordType":"\#(type)","#
            + #""fields":{"\#(field)":{"value":\#(value),"type":"INT64"}}}}"#
    }

    /// What no client could have saved is not let in by this door either.
    @Test(arguments: [
        #"{"zone":""}"#, #"{"zone":"a\nb"}"#, #"{"zone":"_defaultZone"}"# + "\n" + record("é"),
        #"{"zone":"z"}"# + "\n" + record(String(repeating: "n", count: 256)),
        #"{"zone":"z"}"# + "\n" + record("a", type: "T\\u0001"),
        #"{"zone":"z"}"# + "\n" + record("a", field: String(repeating: "f", count: 256)),
    ]) func whatNoClientCouldSaveIsRefusedBeforeAnythingIsWritten(_ lines: String) throws {
        let place = try Place(seed: 9)
        let names = ExportNames(accounts: ["_ada": ExportNames.owner])
        let good = #"{"zone":"good"}"# + "\n" + Self.record("good")
        let empty = try place.export(.user("_ada"), names)
        #expect(throws: ExportError.self) {
            let count = lines.contains("record") ? 2 : 1
            try place.take(Self.written([good, lines], records: count), into: .user("_ada"), names)
        }
        #expect(try place.export(.user("_ada"), names) == empty)
    }

    @Test func thePublicDatabaseHasNoZonesOfItsOwnAndNoNamesOfTheServices() throws {
        for lines in [[#"{"zone":"z"}"#], [#"{"zone":"_defaultZone"}"#, Self.record("_mine")]] {
            let place = try Place(seed: 10)
            let bytes = Self.written(
                [#"{"database":"public"}"#] + lines, of: "container", records: lines.count - 1)
            #expect(throws: ExportError.self) { try place.take(bytes, into: .container) }
        }
    }

    @Test func aRecordThatStandsTwiceIsOneRecord() throws {
        let place = try Place(seed: 11)
        let names = ExportNames(accounts: ["_ada": ExportNames.owner])
        let lines = [#"{"zone":"z"}"#, Self.record("a"), Self.record("a", value: "2"), Self.record("b")]
        try place.take(Self.written(lines, records: 3), into: .user("_ada"), names)
        let text = String(decoding: try place.export(.user("_ada"), names), as: UTF8.self)
        #expect(text.contains(#""records":2"#) && text.contains(#""value":2"#))
        try place.expectSound()
    }

    // MARK: Random data

    private func fill(_ place: Place, _ random: SeededRandomSource) throws {
        for token in ["ada", "bob"] {
            let zones = (0..<3).map { ZoneID(zoneName: "zone-\(token)-\($0)") }
            try place.cloud.zones(.create, zones, token: token)
            for zone in [ZoneID()] + zones {
                let operations = try (0..<12).map { number in
                    operation(
                        .create, "r\(number)", type: "t\(number % 3)",
                        try fields(place, random, number % 3),
                        parent: number % 4 == 3 ? "r\(number - 1)" : nil)
                }
                let results = try place.cloud.modify(operations, zone: zone, token: token)
                #expect(results.allSatisfy { $0.record != nil }, "\(results)")
            }
            let shared = operation(.create, "of-\(token)", type: "p", try fields(place, random, 0))
            try place.cloud.modify([shared], zone: nil, database: "public", token: token)
        }
        // Something that isn't there any more.
        try place.cloud.modify([operation(.forceDelete, "r5")], zone: ZoneID(zoneName: "zone-ada-1"))
        try place.cloud.zones(.delete, [ZoneID(zoneName: "zone-bob-2")], token: "bob")
        try addFiles(to: place, random)
    }

    private func fields(_ place: Place, _ random: SeededRandomSource, _ kind: Int) throws -> [String: Field] {
        func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }
        let texts = ["", "plain", "\u{0}\u{1}\"\\/\n", "ä€𝄞 e\u{301}", String(repeating: "x", count: 3000)]
        func text() -> String { texts[random.next(in: 0..<texts.count)] }
        func double() -> Double {
            let some: [Double] = [
                0, -0.0, 1, 0.1, -1e-300, 1.7976931348623157e308, .leastNonzeroMagnitude, 1 / 3,
            ]
            return some[random.next(in: 0..<some.count)]
        }
        func int() -> Int64 {
            let some = [0, -1, .max, .min, 1 << 53 + 1, Int64(random.next(in: 0..<1_000_000))]
            return some[random.next(in: 0..<some.count)]
        }
        func location() -> Location {
            var location = Location(latitude: 48.1 + Double(random.next(in: 0..<100)) / 7, longitude: -11.5)
            if random.next(in: 0..<2) == 0 { location.altitude = 0.25 }
            if random.next(in: 0..<2) == 0 { location.timestampMilliseconds = 1_700_000_000_123 }
            return location
        }
        let other = Reference(recordName: "r0")
        var values: [String: FieldValue] = [
            "s": .string(text()), "i": .int64(int()), "d": .double(double()),
            "t": .timestamp(milliseconds: abs(int() / 1000)),
            "b": .bytes(bytes(random.next(in: 0..<200))), "l": .location(location()), "r": .reference(other),
            "ls": .list(.stringList, [.string(text()), .string("")]),
            "li": .list(.int64List, [.int64(int())]),
            "ld": .list(.doubleList, [.double(double()), .double(2)]),
            "lt": .list(.timestampList, [.timestamp(milliseconds: 5)]),
            "lb": .list(.bytesList, [.bytes(bytes(3)), .bytes([])]),
            "ll": .list(.locationList, [.location(location())]),
            "lr": .list(.referenceList, [.reference(other)]),
        ]
        for name in values.keys.sorted() where random.next(in: 0..<4) == 0 { values[name] = nil }
        var fields = values.mapValues { Field($0) }
        if kind == 1 { fields["secret"] = Field(.encryptedBytes(bytes(20)), isEncrypted: true) }
        return fields
    }

    /// Two records with one file, another with one of several pieces.
    private func addFiles(to place: Place, _ random: SeededRandomSource) throws {
        var digests: [StoredAsset] = []
        for count in [0, 17, 200_000] {
            let file = try place.cloud.service.transfers.tickets.files.begin()
            try file.write((0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            let use = try file.finish()
            digests.append(StoredAsset(digest: use.digest, bytes: use.bytes))
        }
        // A record with a file comes in by an import, which needs no receipt.
        let names = ExportNames(accounts: ["_ada": ExportNames.owner])
        var lines: [ExportLine] = [.header(version: 1, of: "user"), .zone("files")]
        for digest in digests {
            lines.append(.asset(digest: Hex.text(digest.digest), bytes: digest.bytes))
            let file = try #require(try place.cloud.service.transfers.tickets.files.open(digest.digest))
            let content = try file.read(at: 0, bytesMax: 1 << 20)
            if !content.isEmpty { lines.append(.data(content)) }
        }
        for number in 0..<4 {
            let assets = [digests[number % 3], digests[2]].map { FieldValue.asset($0.kept) }
            let fields = ["file": Field(assets[0]), "files": Field(.list(.assetList, assets))]
            lines.append(
                .record(
                    WireRecord(
                        recordName: "f\(number)", recordType: "withFiles", fields: fields,
                        created: .init(
                            timestampMilliseconds: 5, userRecordName: ExportNames.owner, deviceID: "p"),
                        modified: .init(timestampMilliseconds: 6, userRecordName: ExportNames.owner))))
        }
        lines.append(.end(records: 4, assets: 3, digest: nil))
        var bytes: [UInt8] = []
        for line in lines { bytes += try line.json() + [0x0A] }
        try place.take(bytes, into: .user("_ada"), names, merges: true)
    }
}

import CloudStore
import CloudWire
import OwnThreads
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// Random queries against looking each record up.
@Suite(.onOwnThreads) struct RandomQueryTests {
    static let schema: Schema = {
        var type = RecordType()
        let both: FieldIndexes = [.queryable, .sortable]
        type.fields = [
            "text": FieldDefinition(.string, indexes: [.queryable, .sortable, .searchable]),
            "number": FieldDefinition(.int64, indexes: both), "part": FieldDefinition(.double, indexes: both),
            "time": FieldDefinition(.timestamp, indexes: both),
            "link": FieldDefinition(.reference, indexes: .queryable),
            "place": FieldDefinition(.location, indexes: both),
            "tags": FieldDefinition(.stringList, indexes: [.queryable, .searchable]),
            "numbers": FieldDefinition(.int64List, indexes: .queryable),
            "links": FieldDefinition(.referenceList, indexes: .queryable),
        ]
        type.systemIndexes = ["___recordID": both, "___createTime": both]
        type.grants = RecordType.usualGrants
        var schema = Schema.initial
        schema.recordTypes["todo"] = type
        return schema
    }()

    /// A service with random records in the zones of two users; the other's are never to be found.
    struct Filled {
        let cloud: TestService
        var records: [NaiveRecord] = []

        init(store: any CloudStore, chance: QueryChance, limits: ServiceLimits, count: Int = 80) throws {
            var changes = StoreChanges()
            changes.schema = RandomQueryTests.schema.row(version: 1)
            try store.write { try $0.apply(changes) }
            cloud = TestService(store: store, limits: limits)
            for user in ["ada", "bob"] {
                try cloud.zones(.create, ["lists", "todos"].map { ZoneID(zoneName: $0) }, token: user)
            }
            for zone in QueryChance.zones {
                try cloud.modify(
                    ["p", "q"].map { operation(.create, $0, type: "list") }, zone: ZoneID(zoneName: zone))
            }
            for number in 0..<count { try save(number, chance) }
            for number in 0..<20 {
                let zone = chance.pick(QueryChance.zones)
                try cloud.modify(
                    [operation(.create, "r\(number)", chance.fields(in: zone).mapValues { Field($0) })],
                    zone: ZoneID(zoneName: zone), token: "bob")
            }
        }

        /// Saves a record anew, or deletes it.
        mutating func save(_ number: Int, _ chance: QueryChance, mayDelete: Bool = false) throws {
            let name = "r\(number)"
            let zone = chance.pick(QueryChance.zones)
            let old = records.first { $0.name == name && $0.zone == zone }
            records.removeAll { $0.name == name && $0.zone == zone }
            if mayDelete && chance.oneIn(3) {
                try cloud.modify([operation(.forceDelete, name)], zone: ZoneID(zoneName: zone))
                return
            }
            cloud.clock.advance(bySeconds: chance.oneIn(4) ? 1 : 0)
            let parent = chance.oneIn(2) ? nil : chance.pick(["p", "q"])
            let fields = chance.fields(in: zone)
            let saved = try cloud.modify(
                [operation(.forceReplace, name, fields.mapValues { Field($0) }, parent: parent)],
                zone: ZoneID(zoneName: zone))
            #expect(saved.summaries == ["saved"], "\(saved)")
            let created = try #require(saved[0].record?.created?.timestampMilliseconds)
            #expect(old == nil || old?.createdMilliseconds == created)
            records.append(
                NaiveRecord(
                    zone: zone, name: name, parent: parent, createdMilliseconds: created, fields: fields))
        }

        /// All of a query's results, page by page; mostly without fields, which would cost more than the query.
        func ask(
            _ query: RecordQuery, zone: String?, chance: QueryChance, between: () throws -> Void = {}
        ) throws -> [String] {
            var names: [String] = []
            var marker: String?
            var pages = 0
            repeat {
                let page = try cloud.ask(
                    "records/query",
                    RecordsQueryRequest(
                        query: query, zoneID: zone.map { ZoneID(zoneName: $0) }, zoneWide: true,
                        resultsLimit: Int64(chance.random.next(in: 5..<60)), continuationMarker: marker,
                        desiredKeys: chance.oneIn(10) ? nil : ["nothing"]),
                    as: RecordsQueryResponse.self)
                names += page.records.map { "\($0.record?.zoneID?.zoneName ?? "?")/\($0.recordName ?? "?")" }
                marker = page.continuationMarker
                pages += 1
                try #require(pages < 2_000, "no end: \(query)")
                try between()
            } while marker != nil
            return names
        }
    }

    static func limits(_ chance: QueryChance) -> ServiceLimits {
        var limits = ServiceLimits()
        limits.queryRowsExaminedMax = chance.pick([60, 400, 20_000])
        limits.querySearch.gatheredMax = chance.pick([3, 10, 10_000])
        limits.querySearch.chunkRows = chance.pick([2, 7, 256])
        limits.querySearch.rowsInZoneMin = chance.pick([2, 20, 512])
        limits.querySearch.ringRows = chance.pick([8, 512])
        limits.querySearch.ringEntriesMax = chance.pick([30, 20_000])
        return limits
    }

    @Test(arguments: StoreKind.allCases, [UInt64](1...10)) func anyQueryFindsWhatLookingIntoEachRecordFinds(
        _ kind: StoreKind, _ round: UInt64
    ) throws {
        let seed = 26_000 + round
        let chance = QueryChance(random: SeededRandomSource(seed: seed))
        let folder = try TemporaryFolder()
        let store = try kind.make(in: folder)
        let filled = try Filled(store: store, chance: chance, limits: Self.limits(chance))
        for turn in 0..<200 {
            let query = chance.query()
            let zone = chance.oneIn(3) ? nil : chance.pick(QueryChance.zones)
            let expected = NaiveQuery(query: query)
                .results(filled.records.filter { zone == nil || $0.zone == zone }).map {
                    "\($0.zone)/\($0.name)"
                }
            var found = try filled.ask(query, zone: zone, chance: chance)
            if query.sortBy == nil { found.sort() }
            let same = query.sortBy == nil ? expected.sorted() : expected
            #expect(found == same, "seed \(seed), turn \(turn), zone \(zone ?? "all"), \(query)")
            guard found == same else { return }
        }
    }

    /// While others write, a query neither loses nor repeats a record that stays as it is.
    @Test(arguments: StoreKind.allCases, [UInt64](96...99)) func writesBetweenPagesDisturbNoRecordThatStays(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        let chance = QueryChance(random: SeededRandomSource(seed: seed))
        let folder = try TemporaryFolder()
        let store = try kind.make(in: folder)
        var filled = try Filled(store: store, chance: chance, limits: Self.limits(chance), count: 100)
        for turn in 0..<15 {
            let query = chance.query()
            let zone = chance.oneIn(2) ? nil : chance.pick(QueryChance.zones)
            var touched = Set<String>()
            let before = filled.records
            var copy = filled
            let found = try filled.ask(query, zone: zone, chance: chance) {
                let number = chance.random.next(in: 0..<130)
                try copy.save(number, chance, mayDelete: true)
                touched.formUnion(QueryChance.zones.map { "\($0)/r\(number)" })
            }
            filled.records = copy.records
            let expected = NaiveQuery(query: query).results(before.filter { zone == nil || $0.zone == zone })
                .map { "\($0.zone)/\($0.name)" }.filter { !touched.contains($0) }
            var stayed = found.filter { !touched.contains($0) }
            if query.sortBy == nil { stayed.sort() }
            #expect(
                stayed == (query.sortBy == nil ? expected.sorted() : expected),
                "seed \(seed), turn \(turn), \(query)")
        }
    }

    /// After any writes the rows of the indexes are those that each record alone would have.
    @Test(arguments: StoreKind.allCases, [UInt64](7...10)) func theIndexesHaveWhatEachRecordGivesThem(
        _ kind: StoreKind, _ seed: UInt64
    ) throws {
        let chance = QueryChance(random: SeededRandomSource(seed: seed))
        let folder = try TemporaryFolder()
        let store = try kind.make(in: folder)
        var filled = try Filled(store: store, chance: chance, limits: ServiceLimits(), count: 60)
        for turn in 0..<60 {
            if turn % 30 == 29 {
                try filled.cloud.zones(.delete, [ZoneID(zoneName: "lists")])
                try filled.cloud.zones(.create, [ZoneID(zoneName: "lists")])
                filled.records.removeAll { $0.zone == "lists" }
                try filled.cloud.modify(
                    ["p", "q"].map { operation(.create, $0, type: "list") }, zone: ZoneID(zoneName: "lists"))
            }
            try filled.save(chance.random.next(in: 0..<80), chance, mayDelete: true)
        }
        #expect(try IndexAudit.findings(store, zones: QueryChance.zones) == [], "seed \(seed)")
    }
}

/// Recounts what the indexes have.
enum IndexAudit {
    static func findings(_ store: any CloudStore, zones: [String]) throws -> [String] {
        var findings: [String] = []
        try store.read { reader in
            var wanted = StoreLoad()
            wanted.schema = true
            let schema = try Schema(try #require(try reader.load(wanted).schema))
            for (user, name) in ["_ada", "_bob"].flatMap({ user in zones.map { (user, $0) } }) {
                let zone = ZoneKey(database: .privateDatabase(of: user), zoneName: name)
                let records = try reader.records(in: zone, after: nil, recordsMax: 10_000, bytesMax: .max)
                    .rows
                for (recordType, type) in schema.recordTypes {
                    let own = records.filter { $0.recordType == recordType }
                    let expected = try own.map { IndexEntries.of(try QuerySubject(row: $0), in: type) }
                    for (record, entries) in zip(own, expected)
                    where try reader.entries(of: record.key, recordType: recordType) != entries {
                        findings.append("\(record.key): another row of entries")
                    }
                    let names = IndexScan(
                        zone: zone, recordType: recordType, source: .names, rowsMax: 100_000)
                    if try reader.find(names).rows.map(\.position.recordName) != own.map(\.key.recordName) {
                        findings.append("\(zone) \(recordType): other names")
                    }
                    var found: Set<String> = []
                    for field in QueryField.indexed(of: type) {
                        for kind in [StoredIndexEntry.Kind.value, .order, .word, .place] {
                            let scan = IndexScan(
                                zone: zone, recordType: recordType,
                                source: .entries(field: field.name, kind: kind),
                                rowsMax: 100_000)
                            for hit in try reader.find(scan).rows {
                                found.insert(
                                    "\(hit.position.recordName) \(field.name) \(kind) \(hit.position.value)")
                            }
                        }
                    }
                    let all = Set(
                        zip(own, expected).flatMap { record, entries in
                            entries.map { "\(record.key.recordName) \($0.field) \($0.kind) \($0.value)" }
                        })
                    if found != all {
                        findings.append("\(zone) \(recordType): \(found.symmetricDifference(all))")
                    }
                }
            }
        }
        return findings
    }
}

import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// What users have is counted in the transaction of each write.
@Suite struct UsageTests {
    @Test(arguments: [1, 2, 3], StoreKind.allCases)
    func whatIsCountedIsWhatIsThere(_ seed: UInt64, _ kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.make(in: folder)
        let service = TestService(store: store)
        let random = SeededRandomSource(seed: seed)
        try service.zones(.create, token: "ada")
        try service.zones(.create, token: "bob")
        for step in 0..<120 {
            try act(service, random)
            if step % 10 == 0 { try expectExact(store, "seed \(seed), step \(step)") }
        }
        try expectExact(store, "seed \(seed)")
        // Tombstones and zones too.
        #expect(try kind.findings(in: folder) == [])
    }

    private func act(_ service: TestService, _ random: SeededRandomSource) throws {
        let user = ["ada", "bob"][random.next(in: 0..<2)]
        let isPublic = random.next(in: 0..<3) == 0
        if random.next(in: 0..<25) == 0 {
            try service.zones(.delete, token: user)
            try service.zones(.create, token: user)
            return
        }
        let zone = isPublic || random.next(in: 0..<3) == 0 ? ZoneID() : TestService.zone
        var names = Set<Int>()
        while names.count < 4 { names.insert(random.next(in: 0..<12)) }
        let operations = names.sorted().map { number -> RecordOperation in
            let kind: RecordOperation.Kind =
                [.create, .forceUpdate, .forceReplace, .forceDelete, .delete, .forceUpdate][
                    random.next(in: 0..<6)]
            var fields = ["text": Field(.string(String(repeating: "x", count: random.next(in: 0..<200))))]
            if random.next(in: 0..<3) == 0 {
                fields["up"] = reference("r\(random.next(in: 0..<12))", .deleteSelf)
            }
            if random.next(in: 0..<4) == 0 { fields["other"] = Field(.int64(7)) }
            return operation(kind, "r\(number)", kind == .delete || kind == .forceDelete ? [:] : fields)
        }
        try service.modify(
            operations, zone: zone, atomic: random.next(in: 0..<2) == 0 ? false : nil,
            database: isPublic ? "public" : "private", token: user)
    }

    private func expectExact(_ store: any CloudStore, _ comment: Comment) throws {
        let counted = try usage(in: store).mapValues { row in
            var row = row
            (row.size.tombstones, row.size.zones) = (0, 0)
            return row
        }
        let there = try recount(store)
        #expect(counted.filter { $0.value != UsageRow(key: $0.key) } == there, comment)
    }

    private func usage(in store: any CloudStore) throws -> [UsageKey: UsageRow] {
        try store.load {
            $0.usageOf = ["_ada", "_bob", ""].flatMap { user in
                [UsageKey(scope: .publicDatabase, user: user), UsageKey(scope: .privateDatabase, user: user)]
            }
        }.usage
    }

    private func recount(_ store: any CloudStore) throws -> [UsageKey: UsageRow] {
        let databases: [StoredDatabaseKey] = [
            .publicDatabase, .privateDatabase(of: "_ada"), .privateDatabase(of: "_bob"),
        ]
        var rows: [UsageKey: UsageRow] = [:]
        for database in databases {
            for zoneName in [ZoneID.defaultZoneName, "todos"] {
                let zone = ZoneKey(database: database, zoneName: zoneName)
                let page = try store.read {
                    try $0.records(in: zone, after: nil, recordsMax: 1_000, bytesMax: .max)
                }
                let changed = try store.read {
                    try $0.changedRecords(
                        RecordChangesQuery(
                            zone: zone, after: 0, tombstonesAfter: 0, recordsMax: 1_000, bytesMax: .max))
                }
                for tombstone in changed.rows where tombstone.isDeleted {
                    for key in UsageKey.all(of: database, creator: "") {
                        rows[key, default: UsageRow(key: key)].size.indexBytes += tombstone.indexBytes
                    }
                }
                for record in page.rows {
                    let uses = try FieldsBinary.decode(record.fields).assetUses
                    for key in UsageKey.all(of: database, creator: record.created.userRecordName) {
                        rows[key, default: UsageRow(key: key)].size += StoredSize(
                            records: 1, recordBytes: Int64(record.fields.count), assetBytes: uses.bytes,
                            indexBytes: record.indexBytes)
                    }
                }
            }
        }
        return rows
    }
}

extension CloudStore {
    fileprivate func load(_ build: (inout StoreLoad) -> Void) throws -> StoreLoaded {
        var wanted = StoreLoad()
        build(&wanted)
        return try read { try $0.load(wanted) }
    }
}

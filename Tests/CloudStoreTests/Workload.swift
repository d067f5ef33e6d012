import CloudStore
import Testing

/// A list of writes; each either happens whole or throws.
struct Workload: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [@Sendable (any CloudStore) throws -> Void]

    static let all = [
        Workload(
            testDescription: "single writes",
            steps: (1...6).map { step in
                { try $0.apply { $0.records = [record("r\(step)", step), record("shared", step + 100)] } }
            }),
        Workload(
            testDescription: "groups of members, one of which is refused",
            steps: (1...4).map { step in
                { store in
                    try store.write { writer in
                        for member in 1...3 {
                            var changes = StoreChanges()
                            changes.records = [record("r\(step)-\(member)", step * 10 + member)]
                            do {
                                try writer.member {
                                    try writer.apply(changes)
                                    if member == 2 { throw Refused() }
                                }
                            } catch is Refused {
                                continue
                            }
                        }
                    }
                }
            }),
        Workload(
            testDescription: "large records, a cleared zone, pruned tombstones",
            steps: [
                { try $0.apply { $0.records = (1...8).map { record("r\($0)", $0, bytes: 9_000) } } },
                { try $0.apply { $0.records = [Rows.record("r3", counter: 9, isDeleted: true)] } },
                { try $0.apply { $0.prunedTombstones = [PrunedTombstones(zone: Rows.zone, through: 9)] } },
                {
                    try $0.apply {
                        $0.clearedZones = [Rows.zone]
                        $0.zones = [ZoneRow(key: Rows.zone, epoch: 1, databaseCounter: 1, isDeleted: true)]
                    }
                },
                {
                    try $0.apply {
                        $0.zones = [ZoneRow(key: Rows.zone, epoch: 2, counter: 10, databaseCounter: 2)]
                        $0.records = [record("again", 10, bytes: 30_000)]
                    }
                },
            ]),
        Workload(
            testDescription: "a cleared zone that goes in steps, while the next one is written",
            steps: [
                {
                    try $0.apply {
                        $0.records = (1...4).map { record("r\($0)", $0, bytes: 5_000) }
                        $0.indexes = (1...4).map { entries("r\($0)") }
                    }
                },
                { try $0.apply { $0.clearedZones = [Rows.zone] } },
                { try $0.clearStep() },
                {
                    try $0.apply {
                        $0.records = [record("r1", 5, bytes: 9_000), record("r4", 6)]
                        $0.indexes = [entries("r1"), entries("r4")]
                    }
                },
                { try $0.clearStep() },
                { try $0.apply { $0.clearedZones = [Rows.zone] } },
                { try $0.apply { $0.records = [record("r2", 7)] } },
                { store in for _ in 1...6 { try store.clearStep() } },
                { try $0.apply { $0.records = [record("r3", 8)] } },
            ]),
    ]

    private static func entries(_ name: String) -> RecordIndexRow {
        RecordIndexRow(
            key: Rows.key(name), recordType: "todo",
            entries: [StoredIndexEntry(field: "title", kind: .order, value: [1])])
    }

    private struct Refused: Error {}

    private static func record(_ name: String, _ counter: Int, bytes: Int = 10) -> StoredRecord {
        Rows.record(
            name, counter: Int64(counter), fields: [UInt8](repeating: UInt8(counter % 251), count: bytes))
    }

    /// What a store must hold when the steps `acknowledged` were done and no others: memory can't fail.
    func content(after acknowledged: [Int]) throws -> Content {
        let store = MemoryCloudStore()
        for index in acknowledged { try steps[index](store) }
        return try Content(of: store)
    }
}

/// All that a workload writes.
struct Content: Hashable {
    let records: [StoredRecord]
    let found: [String]
    let zone: ZoneRow?

    init(of store: any CloudStore) throws {
        records = try store.changes(recordsMax: 1000, bytesMax: 1 << 30).rows
        let scan = IndexScan(
            zone: Rows.zone, recordType: "todo", source: .entries(field: "title", kind: .order), rowsMax: 1000
        )
        found = try store.read { try $0.find(scan).rows.map(\.position.recordName) }
        zone = try store.load { $0.zones = [Rows.zone] }.zones[Rows.zone]
    }
}

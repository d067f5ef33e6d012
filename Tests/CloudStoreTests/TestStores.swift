import CloudStore
import SQLiteTestSupport
import System
import Testing

/// The stores that the suite runs on. `make` gives a fresh one, in a folder if it needs one; the suite knows
/// no difference.
struct TestStore: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable (TemporaryFolder) throws -> any CloudStore

    static let all = [
        TestStore(testDescription: "memory") { _ in MemoryCloudStore() },
        TestStore(testDescription: "SQLite") {
            try SQLiteCloudStore(path: $0.file("store.db"))
        },
    ]
}

enum Rows {
    static let database = StoredDatabaseKey.privateDatabase(of: "_ada")
    static let zone = ZoneKey(database: database, zoneName: "todos")
    static let stamp = StoreStamp(
        timestampMilliseconds: 1_700_000_000_000, userRecordName: "_ada", deviceID: "phone")

    static func key(_ name: String, in zone: ZoneKey = zone) -> RecordKey {
        RecordKey(zone: zone, recordName: name)
    }

    static func record(
        _ name: String, counter: Int64, isDeleted: Bool = false, in zone: ZoneKey = zone,
        fields: [UInt8] = [1, 2, 3]
    ) -> StoredRecord {
        StoredRecord(
            key: key(name, in: zone), recordType: "todo", isDeleted: isDeleted, tagEpoch: .max - 1,
            counter: counter,
            created: stamp, modified: stamp, fields: isDeleted ? [] : fields)
    }
}

extension CloudStore {
    func apply(_ build: (inout StoreChanges) -> Void) throws {
        var changes = StoreChanges()
        build(&changes)
        try write { try $0.apply(changes) }
    }

    func load(_ build: (inout StoreLoad) -> Void) throws -> StoreLoaded {
        var wanted = StoreLoad()
        build(&wanted)
        return try read { try $0.load(wanted) }
    }

    /// A small step of the removal of what cleared zones have left; true when there may be more.
    @discardableResult
    func clearStep(rowsMax: Int = 2) throws -> Bool {
        try write { try $0.removeClearedRows(rowsMax: rowsMax, bytesMax: 1 << 20) }
    }

    func record(_ name: String, in zone: ZoneKey = Rows.zone) throws -> StoredRecord? {
        try load { $0.records = [Rows.key(name, in: zone)] }.records[Rows.key(name, in: zone)]
    }

    func changes(
        after: Int64 = 0, tombstonesAfter: Int64 = 0, recordsMax: Int = 100, bytesMax: Int = 1 << 20
    ) throws -> ChangesPage<StoredRecord> {
        try read {
            try $0.changedRecords(
                RecordChangesQuery(
                    zone: Rows.zone, after: after, tombstonesAfter: tombstonesAfter, recordsMax: recordsMax,
                    bytesMax: bytesMax))
        }
    }
}

extension ControlStore {
    /// Makes a control file in a folder, and opens it.
    static func make(
        in folder: TemporaryFolder, clock: any TimeSource = SystemTimeSource()
    ) throws -> ControlStore {
        let path = folder.file("control.sqlite")
        try make(path: path)
        return try ControlStore(path: path, clock: clock)
    }
}

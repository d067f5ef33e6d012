import CloudStore
import Seams

/// A store in memory in which a test says what happens at each `apply`.
///
/// Sendable because tests use it on one thread; `MemoryCloudStore` holds a lock around each transaction.
final class ScriptedStore: CloudStore, @unchecked Sendable {
    var onApply: (ScriptedWriter) throws -> Void = { _ in }
    private(set) var transactionsCount = 0
    private let store = MemoryCloudStore()

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try store.read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        transactionsCount += 1
        return try store.write { try body(ScriptedWriter($0, onApply)) }
    }
}

final class ScriptedWriter: CloudStoreWriter {
    var isInTransaction = true
    /// The names of the records that were written last.
    private(set) var lastNames: [String] = []
    private let writer: any CloudStoreWriter
    private let onApply: (ScriptedWriter) throws -> Void

    init(_ writer: any CloudStoreWriter, _ onApply: @escaping (ScriptedWriter) throws -> Void) {
        self.writer = writer
        self.onApply = onApply
    }

    func member<Result>(_ body: () throws -> Result) throws -> Result { try writer.member(body) }

    func apply(_ changes: StoreChanges) throws {
        lastNames = changes.records.map(\.key.recordName)
        try writer.apply(changes)
        try onApply(self)
    }

    func load(_ wanted: StoreLoad) throws -> StoreLoaded { try writer.load(wanted) }

    func changedZones(
        in database: DatabaseKey, after: Int64, deletedAfter: Int64, zonesMax: Int
    ) throws -> ChangesPage<ZoneRow> {
        try writer.changedZones(in: database, after: after, deletedAfter: deletedAfter, zonesMax: zonesMax)
    }

    func changedRecords(_ query: RecordChangesQuery) throws -> ChangesPage<RecordRow> {
        try writer.changedRecords(query)
    }

    func zones(after: ZoneKey?, zonesMax: Int) throws -> ChangesPage<ZoneRow> {
        try writer.zones(after: after, zonesMax: zonesMax)
    }

    func records(
        in zone: ZoneKey, after: String?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<RecordRow> {
        try writer.records(in: zone, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    func pushTasks(after: ZoneKey?, tasksMax: Int) throws -> ChangesPage<PushTaskRow> {
        try writer.pushTasks(after: after, tasksMax: tasksMax)
    }

    var notificationReader: any NotificationStoreReader { writer.notificationReader }

    func find(_ scan: IndexScan) throws -> ChangesPage<IndexHit> { try writer.find(scan) }

    func count(_ scan: IndexScan, max: Int) throws -> Int { try writer.count(scan, max: max) }

    func records(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<RecordRow> {
        try writer.records(ofType: recordType, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    func entries(of key: RecordKey, recordType: String) throws -> [IndexEntry]? {
        try writer.entries(of: key, recordType: recordType)
    }

    func indexWork(typesMax: Int) throws -> [IndexWorkRow] { try writer.indexWork(typesMax: typesMax) }

    func outdated(_ query: OutdatedQuery) throws -> OutdatedRows { try writer.outdated(query) }

    func schemaVersion() throws -> UInt64? { try writer.schemaVersion() }

    func userRoles(after: String?, usersMax: Int) throws -> ChangesPage<UserRolesRow> {
        try writer.userRoles(after: after, usersMax: usersMax)
    }
}

import CloudStore
import Seams

/// A store that tells what each transaction wrote, after it was committed.
///
/// The change log shows a record only as it is now; the ledger wants every value that ever was on the server.
package final class WatchedStore: CloudStore {
    private let base: any CloudStore
    private let onCommit: @Sendable ([RecordRow]) -> Void

    /// - Parameter onCommit: Told before the next transaction may begin.
    package init(_ base: any CloudStore, onCommit: @escaping @Sendable ([RecordRow]) -> Void) {
        self.base = base
        self.onCommit = onCommit
    }

    package func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try base.read(body)
    }

    package func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        // Told before the next transaction may begin, so that the ledger has the server's own order.
        try order.withLock { _ in
            var rows: [RecordRow] = []
            let result = try base.write { writer in
                let watched = WatchedWriter(writer)
                let result = try body(watched)
                rows = watched.rows
                return result
            }
            onCommit(rows)
            return result
        }
    }

    private let order = Lock(())
}

private final class WatchedWriter: CloudStoreWriter {
    private let base: any CloudStoreWriter
    private(set) var rows: [RecordRow] = []

    init(_ base: any CloudStoreWriter) {
        self.base = base
    }

    var isInTransaction: Bool { base.isInTransaction }

    func member<Result>(_ body: () throws -> Result) throws -> Result {
        let count = rows.count
        do {
            return try base.member(body)
        } catch {
            rows.removeSubrange(count...)
            throw error
        }
    }

    func apply(_ changes: StoreChanges) throws {
        try base.apply(changes)
        rows += changes.records
    }

    func load(_ wanted: StoreLoad) throws -> StoreLoaded { try base.load(wanted) }

    func changedZones(
        in database: DatabaseKey, after: Int64, deletedAfter: Int64, zonesMax: Int
    ) throws -> ChangesPage<ZoneRow> {
        try base.changedZones(in: database, after: after, deletedAfter: deletedAfter, zonesMax: zonesMax)
    }

    func changedRecords(_ query: RecordChangesQuery) throws -> ChangesPage<RecordRow> {
        try base.changedRecords(query)
    }

    func zones(after: ZoneKey?, zonesMax: Int) throws -> ChangesPage<ZoneRow> {
        try base.zones(after: after, zonesMax: zonesMax)
    }

    func records(
        in zone: ZoneKey, after: String?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<RecordRow> {
        try base.records(in: zone, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    func pushTasks(after: ZoneKey?, tasksMax: Int) throws -> ChangesPage<PushTaskRow> {
        try base.pushTasks(after: after, tasksMax: tasksMax)
    }

    var notificationReader: any NotificationStoreReader { base.notificationReader }

    func find(_ scan: IndexScan) throws -> ChangesPage<IndexHit> { try base.find(scan) }

    func count(_ scan: IndexScan, max: Int) throws -> Int { try base.count(scan, max: max) }

    func records(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<RecordRow> {
        try base.records(ofType: recordType, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    func entries(of key: RecordKey, recordType: String) throws -> [IndexEntry]? {
        try base.entries(of: key, recordType: recordType)
    }

    func indexWork(typesMax: Int) throws -> [IndexWorkRow] { try base.indexWork(typesMax: typesMax) }

    func outdated(_ query: OutdatedQuery) throws -> OutdatedRows { try base.outdated(query) }

    func schemaVersion() throws -> UInt64? { try base.schemaVersion() }

    func userRoles(after: String?, usersMax: Int) throws -> ChangesPage<UserRolesRow> {
        try base.userRoles(after: after, usersMax: usersMax)
    }
}

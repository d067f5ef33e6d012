/// A writer that forwards all calls to another writer. Implement only the calls that differ.
package protocol ForwardingStoreWriter: CloudStoreWriter {
    /// The writer that receives the calls.
    var base: any CloudStoreWriter { get }
}

extension ForwardingStoreWriter {
    package var isInTransaction: Bool { base.isInTransaction }
    package var notificationReader: any NotificationStoreReader { base.notificationReader }

    package func member<Result>(_ body: () throws -> Result) throws -> Result { try base.member(body) }

    package func apply(_ changes: StoreChanges) throws { try base.apply(changes) }

    package func hasClearedRows() throws -> Bool { try base.hasClearedRows() }

    package func trimAnswers(of user: String, rowsMax: Int64, bytesMax: Int64) throws -> Int {
        try base.trimAnswers(of: user, rowsMax: rowsMax, bytesMax: bytesMax)
    }

    package func removeClearedRows(rowsMax: Int, bytesMax: Int) throws -> Bool {
        try base.removeClearedRows(rowsMax: rowsMax, bytesMax: bytesMax)
    }

    package func load(_ wanted: StoreLoad) throws -> StoreLoaded { try base.load(wanted) }

    package func changedZones(
        in database: StoredDatabaseKey, after: Int64, deletedAfter: Int64, zonesMax: Int
    ) throws -> ChangesPage<ZoneRow> {
        try base.changedZones(in: database, after: after, deletedAfter: deletedAfter, zonesMax: zonesMax)
    }

    package func changedRecords(_ query: RecordChangesQuery) throws -> ChangesPage<StoredRecord> {
        try base.changedRecords(query)
    }

    package func zones(after: ZoneKey?, zonesMax: Int) throws -> ChangesPage<ZoneRow> {
        try base.zones(after: after, zonesMax: zonesMax)
    }

    package func records(
        in zone: ZoneKey, after: String?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord> {
        try base.records(in: zone, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    package func pushTasks(after: ZoneKey?, tasksMax: Int) throws -> ChangesPage<PushTaskRow> {
        try base.pushTasks(after: after, tasksMax: tasksMax)
    }

    package func schemaVersion() throws -> UInt64? { try base.schemaVersion() }

    package func userRoles(after: String?, usersMax: Int) throws -> ChangesPage<UserRolesRow> {
        try base.userRoles(after: after, usersMax: usersMax)
    }

    package func find(_ scan: IndexScan) throws -> ChangesPage<IndexHit> { try base.find(scan) }
    package func count(_ scan: IndexScan, max: Int) throws -> Int { try base.count(scan, max: max) }

    package func records(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord> {
        try base.records(ofType: recordType, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    package func entries(of key: RecordKey, recordType: String) throws -> [StoredIndexEntry]? {
        try base.entries(of: key, recordType: recordType)
    }

    package func indexWork(typesMax: Int) throws -> [IndexWorkRow] { try base.indexWork(typesMax: typesMax) }
    package func outdated(_ query: OutdatedQuery) throws -> OutdatedRows { try base.outdated(query) }
}

/// Storage of the service. A store reads and writes rows; it makes no decisions.
///
/// `Tests/CloudStoreTests` has one suite that runs on every store.
package protocol CloudStore: Sendable {
    /// Runs `body` on one snapshot of the committed rows, and returns its result.
    ///
    /// Blocks the calling thread. Must not be called inside another `read` or `write` of the same store.
    ///
    /// - Throws: What `body` throws, or `CloudStoreError`.
    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result

    /// Runs `body` in one write transaction, and returns its result when all is committed and on disk. Writes never
    /// overlap.
    ///
    /// Blocks the calling thread. Must not be called inside another `read` or `write` of the same store.
    ///
    /// - Throws: What `body` throws, or `CloudStoreError`; then nothing was written.
    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result

    /// True if the log is so long that `checkpoint` should be called soon, on a thread that doesn't write.
    var checkpointIsDue: Bool { get }

    /// Copies the log into the file. Other threads can read and write meanwhile. A failure loses nothing; the copying
    /// is retried after more writes.
    func checkpoint()
}

extension CloudStore {
    /// False: by default a store has no log.
    package var checkpointIsDue: Bool { false }

    /// Does nothing.
    package func checkpoint() {}
}

/// Reads rows inside a transaction.
package protocol CloudStoreReader {
    /// Loads the requested rows that exist.
    func load(_ wanted: StoreLoad) throws -> StoreLoaded

    /// Returns the zones of `database` with a last change above the counter `after`, in the order of the counters.
    /// Deleted zones are included only if their counter is above `deletedAfter`.
    ///
    /// - Parameter zonesMax: Maximum number of zones.
    func changedZones(
        in database: StoredDatabaseKey, after: Int64, deletedAfter: Int64, zonesMax: Int
    ) throws -> ChangesPage<ZoneRow>

    /// Returns a part of a zone's change log: each changed record once, with its current row.
    func changedRecords(_ query: RecordChangesQuery) throws -> ChangesPage<StoredRecord>

    /// Returns the zones of all users that follow `after`, sorted by key. Deleted zones are included. Default zones
    /// aren't: they have no row.
    ///
    /// - Parameters:
    ///   - after: Key of the last zone of the previous page, or nil for the first page.
    ///   - zonesMax: Maximum number of zones.
    func zones(after: ZoneKey?, zonesMax: Int) throws -> ChangesPage<ZoneRow>

    /// Returns the records of a zone that follow the name `after`, sorted by name, without tombstones.
    ///
    /// - Parameters:
    ///   - after: Name of the last record of the previous page, or nil for the first page.
    ///   - recordsMax: Maximum number of records.
    ///   - bytesMax: Bytes of fields after which the page ends, with a whole record.
    func records(
        in zone: ZoneKey, after: String?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord>

    /// Returns the push tasks that follow `after` (nil for the first page), sorted by zone. Maximum `tasksMax` tasks.
    func pushTasks(after: ZoneKey?, tasksMax: Int) throws -> ChangesPage<PushTaskRow>

    /// Returns the version of the schema without its content, or nil if there is no schema.
    func schemaVersion() throws -> UInt64?

    /// Returns the users with custom roles that follow the name `after` (nil for the first page), sorted by name.
    /// Maximum `usersMax` users.
    func userRoles(after: String?, usersMax: Int) throws -> ChangesPage<UserRolesRow>

    /// Reader of the tables of notifications.
    var notificationReader: any NotificationStoreReader { get }

    /// Returns the entries of an index, in its order. Maximum `rowsMax` entries.
    func find(_ scan: IndexScan) throws -> ChangesPage<IndexHit>

    /// Returns the number of entries that `find` would return. Counting stops at `max`.
    func count(_ scan: IndexScan, max: Int) throws -> Int

    /// Returns the records of a type that follow `after` (nil for the first page), in all zones, sorted by key. The
    /// page ends with the record that reaches `bytesMax` bytes of fields.
    func records(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord>

    /// Returns the index entries of a record, or nil if the record doesn't exist or was never indexed.
    func entries(of key: RecordKey, recordType: String) throws -> [StoredIndexEntry]?

    /// Returns the pending work on indexes, sorted by type. Maximum `typesMax` types.
    func indexWork(typesMax: Int) throws -> [IndexWorkRow]

    /// Returns true if rows of cleared zones are still to be removed.
    func hasClearedRows() throws -> Bool

    /// Returns rows that are older than the query's limits.
    func outdated(_ query: OutdatedQuery) throws -> OutdatedRows
}

/// Reads and writes rows inside a write transaction.
package protocol CloudStoreWriter: CloudStoreReader {
    /// False after an error that rolled back the whole transaction. Then nothing more may run in it.
    var isInTransaction: Bool { get }

    /// Runs `body` as one member of a group. If it throws, its writes are undone and the error is rethrown. Check
    /// `isInTransaction` afterwards: a full disk also rolls back the other members.
    func member<Result>(_ body: () throws -> Result) throws -> Result

    /// Removes the oldest kept answers of a user until at most `rowsMax` answers with at most `bytesMax` bytes are
    /// left. The newest answer always stays.
    ///
    /// - Returns: The number of removed answers.
    func trimAnswers(of user: String, rowsMax: Int64, bytesMax: Int64) throws -> Int

    /// Removes one step of the rows of cleared zones, which no reader sees.
    ///
    /// - Parameters:
    ///   - rowsMax: Records and index entries after which the step ends, with a whole record.
    ///   - bytesMax: Bytes of fields after which the step ends.
    /// - Returns: True if more rows may be left.
    func removeClearedRows(rowsMax: Int, bytesMax: Int) throws -> Bool

    /// Writes all of `changes`.
    func apply(_ changes: StoreChanges) throws
}

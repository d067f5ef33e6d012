/// What the service keeps. A store loads rows and writes rows; it decides nothing.
///
/// `Tests/CloudStoreTests` holds one suite of promises that runs on every store.
public protocol CloudStore: Sendable {
    /// Runs `body` on one snapshot of what is committed, and returns what it returns.
    ///
    /// Blocks the calling thread. Must not be called inside another `read` or `write` of the same store.
    ///
    /// - Throws: what `body` throws, or `CloudStoreError`.
    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result

    /// Runs `body` in one write transaction, which no other write overlaps, and returns what it returns when
    /// all is committed and on disk.
    ///
    /// Blocks the calling thread. Must not be called inside another `read` or `write` of the same store.
    ///
    /// - Throws: what `body` throws, or `CloudStoreError`; then nothing of it was written.
    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result

    /// Whether so much was written that `checkpoint` should be called soon, on a thread that doesn't write.
    var checkpointIsDue: Bool { get }

    /// Moves what was written to where it stays. Other threads read and write meanwhile. A failure loses nothing; it is
    /// tried again when more was written.
    func checkpoint()
}

extension CloudStore {
    /// Never, where what is written stays where it is.
    public var checkpointIsDue: Bool { false }

    /// Does nothing.
    public func checkpoint() {}
}

/// Reads rows inside a transaction.
public protocol CloudStoreReader {
    /// Loads the rows that are there of those that were asked for.
    func load(_ wanted: StoreLoad) throws -> StoreLoaded

    /// The zones of `database` whose last change has a counter above `after`, in that order, `zonesMax` at
    /// most. Deleted zones only when their counter is above `deletedAfter`.
    func changedZones(
        in database: StoredDatabaseKey, after: Int64, deletedAfter: Int64, zonesMax: Int
    ) throws -> ChangesPage<ZoneRow>

    /// A part of a zone's change log: each changed record once, as it is now.
    func changedRecords(_ query: RecordChangesQuery) throws -> ChangesPage<StoredRecord>

    /// The zones behind `after` (nil: from the first), of all users, in the order of their keys; `zonesMax` at
    /// most. Deleted zones are among them, default zones are not: they have no row.
    func zones(after: ZoneKey?, zonesMax: Int) throws -> ChangesPage<ZoneRow>

    /// The records of a zone behind the name `after` (nil: from the first), in the order of their names, without
    /// tombstones. The page ends with the record whose fields cross `bytesMax`.
    func records(
        in zone: ZoneKey, after: String?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord>

    /// The push tasks behind `after` (nil: from the first), in the order of their zones, `tasksMax` at most.
    func pushTasks(after: ZoneKey?, tasksMax: Int) throws -> ChangesPage<PushTaskRow>

    /// The version of the schema, without its content; nil when there is none.
    func schemaVersion() throws -> UInt64?

    /// The users with custom roles behind the name `after` (nil: from the first), in the order of their names,
    /// `usersMax` at most.
    func userRoles(after: String?, usersMax: Int) throws -> ChangesPage<UserRolesRow>

    /// Reads what concerns notifications.
    var notificationReader: any NotificationStoreReader { get }

    /// The entries of an index, in its order, `rowsMax` at most.
    func find(_ scan: IndexScan) throws -> ChangesPage<IndexHit>

    /// How many entries `find` would find; counts `max` at most.
    func count(_ scan: IndexScan, max: Int) throws -> Int

    /// The records of a type behind `after` (nil: from the first), in all zones, in the order of their keys. The page
    /// ends with the record whose fields cross `bytesMax`.
    func records(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord>

    /// What a record of a type is found by; nil when it is not there, or nothing was ever said of it.
    func entries(of key: RecordKey, recordType: String) throws -> [StoredIndexEntry]?

    /// The work on indexes that is left, in the order of the types, `typesMax` at most.
    func indexWork(typesMax: Int) throws -> [IndexWorkRow]

    /// Whether rows of zones that were cleared are still to be removed.
    func hasClearedRows() throws -> Bool

    /// Rows that have outlived their use.
    func outdated(_ query: OutdatedQuery) throws -> OutdatedRows
}

/// Reads and writes rows inside a write transaction.
public protocol CloudStoreWriter: CloudStoreReader {
    /// False when an error has undone the whole transaction: then nothing more may run in it.
    var isInTransaction: Bool { get }

    /// Runs `body` as one member of a group: when it throws, what it wrote is undone and the error is
    /// rethrown. Then ask `isInTransaction`: a full disk takes the other members with it.
    func member<Result>(_ body: () throws -> Result) throws -> Result

    /// Removes the oldest kept answers of a user until there are no more than `rowsMax`, of no more than `bytesMax`
    /// together; the newest stays.
    ///
    /// - Returns: How many went.
    func trimAnswers(of user: String, rowsMax: Int64, bytesMax: Int64) throws -> Int

    /// Removes some of the rows that cleared zones have left, which no reader meets; true when there may be more.
    ///
    /// - Parameters:
    ///   - rowsMax: records and index entries after which it ends; it ends with a whole record.
    ///   - bytesMax: bytes of fields after which it ends.
    func removeClearedRows(rowsMax: Int, bytesMax: Int) throws -> Bool

    /// Writes all of `changes`.
    func apply(_ changes: StoreChanges) throws
}

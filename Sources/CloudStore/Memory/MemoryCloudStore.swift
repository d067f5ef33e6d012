import System

/// A store in memory, for tests and experiments. Its contents are lost when the process ends.
package final class MemoryCloudStore: CloudStore {
    private let tables = Lock(MemoryTables())

    /// Makes an empty store.
    package init() {}

    /// Runs `body` on the committed rows. See `CloudStore`.
    package func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try tables.withLock { try body(MemoryTransaction($0)) }
    }

    /// Runs `body` in a transaction, which is committed when `body` returns. See `CloudStore`.
    package func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        try tables.withLock { tables in
            let transaction = MemoryTransaction(tables)
            let result = try body(transaction)
            tables = transaction.tables
            return result
        }
    }
}

/// All rows of a store in memory: a value, so that a rollback is an assignment.
struct MemoryTables {
    var databases: [StoredDatabaseKey: DatabaseRow] = [:]
    var zones: [ZoneKey: ZoneRow] = [:]
    var records: [ZoneKey: BucketMap<String, StoredRecord>] = [:]
    /// By zone and by name of the target.
    var references: [ZoneKey: [String: Set<ReferenceRow>]] = [:]
    var subscriptions: [SubscriptionKey: SubscriptionRow] = [:]
    var devices: [DeviceKey: DeviceRow] = [:]
    var pushTasks: [ZoneKey: PushTaskRow] = [:]
    var pushes: [PushKey: PushRow] = [:]
    var notifications = MemoryNotificationTables()
    var answers = BucketMap<OperationKey, KeptAnswerRow>()
    var schema: SchemaRow?
    var roles: [String: UserRolesRow] = [:]
    var assets: [RecordKey: [AssetUse]] = [:]
    var indexParts: [IndexPartKey: MemoryIndexPart] = [:]
    var indexWork: [String: IndexWorkRow] = [:]
    var usage: [UsageKey: UsageRow] = [:]
    var secrets: [String: [UInt8]] = [:]
}

final class MemoryTransaction: CloudStoreWriter {
    var tables: MemoryTables
    let isInTransaction = true

    init(_ tables: MemoryTables) {
        self.tables = tables
    }

    func member<Result>(_ body: () throws -> Result) throws -> Result {
        let before = tables
        do {
            return try body()
        } catch {
            tables = before
            throw error
        }
    }

    func load(_ wanted: StoreLoad) throws -> StoreLoaded {
        var loaded = StoreLoaded()
        for key in wanted.databases { loaded.databases[key] = tables.databases[key] }
        for key in wanted.zones { loaded.zones[key] = tables.zones[key] }
        var bytes = 0
        for key in wanted.records {
            guard bytes <= wanted.bytesMax else {
                loaded.isCutShort = true
                break
            }
            guard let row = tables.records[key.zone]?[key.recordName] else { continue }
            loaded.records[key] = row
            bytes += row.fields.count
        }
        for key in wanted.outlines {
            loaded.records[key] = tables.records[key.zone]?[key.recordName]
            loaded.records[key]?.fields = []
        }
        var rowsLeft = wanted.dependantsMax
        for key in wanted.dependantsOf {
            let rows = (tables.references[key.zone]?[key.recordName] ?? []).sorted()
            loaded.dependants[key] = Array(rows.prefix(rowsLeft))
            if rows.count > rowsLeft { loaded.isCutShort = true }
            rowsLeft -= min(rowsLeft, rows.count)
        }
        var countsLeft = wanted.deleteSelfCountsMax
        for key in wanted.deleteSelfCountsOf {
            let rows = (tables.references[key.zone]?[key.recordName] ?? []).lazy
                .filter { $0.kind == .deleteSelf }
            let count = rows.prefix(min(wanted.deleteSelfCountMax, countsLeft)).count
            loaded.deleteSelfCounts[key] = count
            countsLeft -= count
            guard countsLeft > 0 else {
                loaded.isCutShort = true
                break
            }
        }
        loadPushes(wanted, into: &loaded)
        loadSchema(wanted, into: &loaded)
        loadIndexWork(wanted, into: &loaded)
        loadAssets(wanted, into: &loaded)
        loadOwners(wanted, into: &loaded)
        for key in wanted.answers { loaded.answers[key] = tables.answers[key] }
        if let series = wanted.answerSeries {
            for row in answers(of: series) { loaded.answers[row.key] = row }
        }
        return loaded
    }

    func changedZones(
        in database: StoredDatabaseKey, after: Int64, deletedAfter: Int64, zonesMax: Int
    ) throws -> ChangesPage<ZoneRow> {
        let changed = tables.zones.values
            .filter { zone in
                zone.key.database == database && zone.databaseCounter > after
                    && (!zone.isDeleted || zone.databaseCounter > deletedAfter)
            }
            .sorted { ($0.databaseCounter, $0.key) < ($1.databaseCounter, $1.key) }
        return ChangesPage(rows: Array(changed.prefix(zonesMax)), moreComing: changed.count > zonesMax)
    }

    func changedRecords(_ query: RecordChangesQuery) throws -> ChangesPage<StoredRecord> {
        let changed = (tables.records[query.zone] ?? BucketMap()).values
            .filter { record in
                record.counter > 0 && record.counter > query.after && record.counter <= query.through
                    && (!record.isDeleted || record.counter > query.tombstonesAfter)
            }
            .sorted { query.isNewestFirst ? $0.counter > $1.counter : $0.counter < $1.counter }
        return page(of: changed, recordsMax: query.recordsMax, bytesMax: query.bytesMax)
    }

    func zones(after: ZoneKey?, zonesMax: Int) throws -> ChangesPage<ZoneRow> {
        let behind = tables.zones.values
            .filter { zone in after.map { $0 < zone.key } ?? true }
            .sorted { $0.key < $1.key }
        return ChangesPage(rows: Array(behind.prefix(zonesMax)), moreComing: behind.count > zonesMax)
    }

    func records(
        in zone: ZoneKey, after: String?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord> {
        let behind = (tables.records[zone] ?? BucketMap()).values
            .filter { record in !record.isDeleted && after.map { $0 < record.key.recordName } ?? true }
            .sorted { $0.key < $1.key }
        return page(of: behind, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    private func page(of records: [StoredRecord], recordsMax: Int, bytesMax: Int) -> ChangesPage<StoredRecord>
    {
        var page = ChangesPage<StoredRecord>(rows: [], moreComing: false)
        var bytes = 0
        for record in records {
            guard page.rows.count < recordsMax, bytes < bytesMax else {
                page.moreComing = true
                break
            }
            page.rows.append(record)
            bytes += record.fields.count
        }
        return page
    }

    func hasClearedRows() throws -> Bool { false }

    /// The rows of a cleared zone are removed at once.
    func removeClearedRows(rowsMax: Int, bytesMax: Int) throws -> Bool { false }

    private func answers(of series: AnswerSeries) -> [KeptAnswerRow] {
        var bytesLeft = series.bytesMax
        return tables.answers.values
            .filter {
                $0.key.database == series.beginning.database && $0.key.user == series.beginning.user
                    && $0.key.operationID.hasPrefix(series.beginning.operationID)
                    && $0.atMilliseconds >= series.sinceMilliseconds
            }
            .sorted { ($0.atMilliseconds, $0.key) > ($1.atMilliseconds, $1.key) }.prefix(series.rowsMax)
            .filter { row in
                guard row.answer.count <= bytesLeft else { return false }
                bytesLeft -= row.answer.count
                return true
            }
    }

    func trimAnswers(of user: String, rowsMax: Int64, bytesMax: Int64) throws -> Int {
        var rows = tables.answers.values.filter { $0.key.user == user }
        var bytes = rows.reduce(0) { $0 + Int64($1.answer.count) }
        guard rows.count > rowsMax || bytes > bytesMax else { return 0 }
        // Newest first, so that the oldest can be popped.
        rows.sort { ($0.atMilliseconds, $0.key) > ($1.atMilliseconds, $1.key) }
        var count = 0
        while rows.count > 1, Int64(rows.count) > rowsMax || bytes > bytesMax {
            let oldest = rows.removeLast()
            bytes -= Int64(oldest.answer.count)
            tables.answers[oldest.key] = nil
            count += 1
        }
        return count
    }

    func apply(_ changes: StoreChanges) throws {
        applyIndexes(changes)
        if changes.erasesData { eraseData() }
        for row in changes.databases { tables.databases[row.key] = row }
        for row in changes.zones { tables.zones[row.key] = row }
        for key in changes.removedZones { tables.zones[key] = nil }
        for zone in changes.clearedZones {
            tables.records[zone] = nil
            tables.references[zone] = nil
        }
        for pruned in changes.prunedTombstones {
            tables.records[pruned.zone]?.keep { !$0.isDeleted || $0.counter > pruned.through }
        }
        for row in changes.removedReferences {
            tables.references[row.target.zone]?[row.target.recordName]?.remove(row)
        }
        for key in changes.removedSources {
            tables.references[key.zone] = tables.references[key.zone]?
                .mapValues { rows in rows.filter { $0.source != key } }
        }
        for row in changes.addedReferences {
            tables.references[row.target.zone, default: [:]][row.target.recordName, default: []].insert(row)
        }
        for key in changes.removedRecords { tables.records[key.zone]?[key.recordName] = nil }
        for row in changes.records {
            tables.records[row.key.zone, default: BucketMap()][row.key.recordName] = row
        }
        applyAssets(changes)
        applyPushes(changes)
        applySchema(changes)
        for key in changes.removedAnswers { tables.answers[key] = nil }
        for row in changes.answers { tables.answers[row.key] = row }
    }
}

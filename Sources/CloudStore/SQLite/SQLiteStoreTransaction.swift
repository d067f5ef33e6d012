import SQLite

/// One transaction on a store's file. Each table belongs to one of its parts. This type has what concerns several
/// tables.
final class SQLiteStoreTransaction: CloudStoreWriter {
    private let connection: Connection
    private let places: ZonePlaces
    let indexTables: IndexTables

    init(_ connection: Connection) {
        self.connection = connection
        places = ZonePlaces(connection)
        indexTables = IndexTables(connection, places)
    }

    // The others have no state of the transaction.
    private var zoneTables: ZoneTables { ZoneTables(connection: connection) }
    var recordTable: RecordTable { RecordTable(connection: connection, places: places) }
    private var referenceTable: ReferenceTable { ReferenceTable(connection: connection, places: places) }
    private var recordAssetTable: RecordAssetTable {
        RecordAssetTable(connection: connection, places: places)
    }
    private var usageTable: UsageTable { UsageTable(connection: connection) }
    private var settingTables: SettingTables { SettingTables(connection: connection) }
    private var answerTables: AnswerTables { AnswerTables(connection: connection) }
    private var subscriptionTables: SubscriptionTables { SubscriptionTables(connection: connection) }
    var pushTables: PushTables { PushTables(connection: connection) }
    var firedChangeTable: FiredChangeTable { FiredChangeTable(connection: connection) }
    var notificationTables: NotificationTables { NotificationTables(connection: connection) }
    var webhookTables: WebhookTables { WebhookTables(connection: connection) }

    var isInTransaction: Bool { connection.isInTransaction }

    func member<Result>(_ body: () throws -> Result) throws -> Result {
        // A number that is rolled back is used again.
        let (knownParts, knownPlaces) = (indexTables.knownParts, places.known)
        do {
            return try connection.savepoint("member", body)
        } catch {
            (indexTables.knownParts, places.known) = (knownParts, knownPlaces)
            throw error
        }
    }

    // MARK: - Reading

    func load(_ wanted: StoreLoad) throws -> StoreLoaded {
        var loaded = StoreLoaded()
        try zoneTables.load(wanted, into: &loaded)
        try recordTable.load(wanted, into: &loaded)
        try referenceTable.load(wanted, into: &loaded)
        try subscriptionTables.load(wanted, into: &loaded)
        try pushTables.load(wanted, into: &loaded)
        try notificationTables.load(wanted, into: &loaded)
        try settingTables.load(wanted, into: &loaded)
        try indexTables.load(wanted, into: &loaded)
        try usageTable.load(wanted, into: &loaded)
        for key in wanted.clearedOf {
            loaded.cleared[key] = try places.clearedSize(of: key, zonesMax: wanted.clearedZonesMax)
        }
        try recordAssetTable.load(wanted, into: &loaded)
        if let owners = wanted.owners { loaded.owners = try self.owners(owners) }
        try answerTables.load(wanted, into: &loaded)
        return loaded
    }

    private func owners(_ asked: OwnersLoad) throws -> [String] {
        // One step in the key of each table for each user, however many rows the user has.
        let sql = """
            SELECT min(owner) FROM (
                \(RecordTable.nextOwner)
                UNION ALL \(ZoneTables.nextOwner))
            """
        var owners: [String] = []
        while owners.count < asked.ownersMax {
            let next = try connection.withStatement(sql) { statement -> String? in
                try statement.bind(StoredDatabaseKey.Scope.privateDatabase.rawValue, at: 1)
                try statement.bind(owners.last ?? asked.after, at: 2)
                return try statement.step() ? statement.optionalText(at: 0) : nil
            }
            guard let next else { break }
            owners.append(next)
        }
        return owners
    }

    func changedZones(
        in database: StoredDatabaseKey, after: Int64, deletedAfter: Int64, zonesMax: Int
    ) throws -> ChangesPage<ZoneRow> {
        try zoneTables.changed(in: database, after: after, deletedAfter: deletedAfter, zonesMax: zonesMax)
    }

    func changedRecords(_ query: RecordChangesQuery) throws -> ChangesPage<StoredRecord> {
        try recordTable.changed(query)
    }

    func zones(after: ZoneKey?, zonesMax: Int) throws -> ChangesPage<ZoneRow> {
        try zoneTables.zones(after: after, zonesMax: zonesMax)
    }

    func records(
        in zone: ZoneKey, after: String?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord> {
        try recordTable.records(in: zone, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    func pushTasks(after: ZoneKey?, tasksMax: Int) throws -> ChangesPage<PushTaskRow> {
        try pushTables.tasks(after: after, tasksMax: tasksMax)
    }

    func schemaVersion() throws -> UInt64? { try settingTables.schemaVersion() }

    func userRoles(after: String?, usersMax: Int) throws -> ChangesPage<UserRolesRow> {
        try settingTables.userRoles(after: after, usersMax: usersMax)
    }

    func find(_ scan: IndexScan) throws -> ChangesPage<IndexHit> { try indexTables.find(scan) }

    func count(_ scan: IndexScan, max: Int) throws -> Int { try indexTables.count(scan, max: max) }

    func records(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord> {
        try indexTables.records(
            ofType: recordType, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    func entries(of key: RecordKey, recordType: String) throws -> [StoredIndexEntry]? {
        try indexTables.entries(of: key, recordType: recordType)
    }

    func indexWork(typesMax: Int) throws -> [IndexWorkRow] { try indexTables.work(typesMax: typesMax) }

    func hasClearedRows() throws -> Bool { try places.firstClearing() != nil }

    func outdated(_ query: OutdatedQuery) throws -> OutdatedRows {
        var rows = OutdatedRows()
        rows.answers = try answerTables.outdated(query)
        rows.pushes = try pushTables.outdatedPushes(query)
        rows.devices = try pushTables.outdatedDevices(query)
        rows.tombstones = try recordTable.outdatedTombstones(query)
        rows.zones = try zoneTables.outdated(query)
        return rows
    }

    // MARK: - Writing

    func apply(_ changes: StoreChanges) throws {
        let rows = WrittenRows(connection, rowsMax: changes.rowsMax)
        if !changes.clearedZones.isEmpty {
            let cleared = ClearedZones(connection, places)
            for zone in changes.clearedZones { try cleared.clear(zone) }
            indexTables.forget()
        }
        try indexTables.apply(changes, rows)
        if changes.erasesData { try eraseData() }
        try zoneTables.apply(changes)
        for pruned in changes.prunedTombstones { try recordTable.remove(pruned) }
        try referenceTable.apply(changes, rows)
        for key in changes.removedRecords {
            try recordAssetTable.removeAll(of: key)
            try recordTable.remove(key)
        }
        for row in changes.records {
            if row.isDeleted { try recordAssetTable.removeAll(of: row.key) }
            try recordTable.write(row)
        }
        for row in changes.assets { try recordAssetTable.write(row) }
        for row in changes.usage { try usageTable.write(row) }
        try subscriptionTables.apply(changes)
        try pushTables.apply(changes)
        try firedChangeTable.apply(changes.notifications)
        try notificationTables.apply(changes.notifications)
        try webhookTables.apply(changes.notifications)
        try settingTables.apply(changes)
        try answerTables.apply(changes)
    }

    func removeClearedRows(rowsMax: Int, bytesMax: Int) throws -> Bool {
        defer { indexTables.forget() }
        return try ClearedZones(connection, places).removeRows(rowsMax: rowsMax, bytesMax: bytesMax)
    }

    func trimAnswers(of user: String, rowsMax: Int64, bytesMax: Int64) throws -> Int {
        try answerTables.trim(of: user, rowsMax: rowsMax, bytesMax: bytesMax)
    }

    /// Empties all tables, including unknown ones, except the schema's and those of the operator's settings.
    private func eraseData() throws {
        indexTables.forget()
        places.forget()
        let sql = """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            AND name NOT IN ('schema', 'userRoles', 'secrets', 'webhooks') ORDER BY name
            """
        let tables = try connection.withStatement(sql) { try $0.rows { $0.text(at: 0) } }
        for table in tables { try connection.execute("DELETE FROM \"\(table)\"") }
        try webhookTables.forgetWaiting()
    }
}

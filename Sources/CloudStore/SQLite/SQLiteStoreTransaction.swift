import SQLite

/// One transaction on a store's file: the reads.
final class SQLiteStoreTransaction: CloudStoreWriter {
    let connection: Connection
    let path: String
    /// The numbers of the types' records in zones that this transaction has met.
    var indexParts: [IndexPartKey: Int64] = [:]
    /// Where the rows of the zones stand that this transaction has met.
    var places: ZonePlaces

    init(_ connection: Connection, path: String, places: ZonePlaces = ZonePlaces()) {
        self.connection = connection
        self.path = path
        self.places = places
    }

    var isInTransaction: Bool { connection.isInTransaction }

    func member<Result>(_ body: () throws -> Result) throws -> Result {
        // A number that is rolled back is given again.
        let (knownParts, knownPlaces) = (indexParts, places)
        do {
            return try connection.savepoint("member", body)
        } catch {
            (indexParts, places) = (knownParts, knownPlaces)
            throw error
        }
    }

    func load(_ wanted: StoreLoad) throws -> StoreLoaded {
        var loaded = StoreLoaded()
        for key in wanted.databases { loaded.databases[key] = try database(key) }
        for key in wanted.zones { loaded.zones[key] = try zone(key) }
        var bytes = 0
        for key in wanted.records {
            guard bytes <= wanted.bytesMax else {
                loaded.isCutShort = true
                break
            }
            guard let row = try record(key) else { continue }
            loaded.records[key] = row
            bytes += row.fields.count
        }
        for key in wanted.outlines { loaded.records[key] = try record(key, columns: Self.outlineColumns) }
        var rowsLeft = wanted.dependantsMax
        for key in wanted.dependantsOf {
            let rows = try dependants(of: key, rowsMax: rowsLeft)
            loaded.dependants[key] = Array(rows.prefix(rowsLeft))
            if rows.count > rowsLeft { loaded.isCutShort = true }
            rowsLeft -= min(rowsLeft, rows.count)
        }
        var countsLeft = wanted.deleteSelfCountsMax
        for key in wanted.deleteSelfCountsOf {
            let count = try deleteSelfCount(of: key, countMax: min(wanted.deleteSelfCountMax, countsLeft))
            loaded.deleteSelfCounts[key] = count
            countsLeft -= count
            guard countsLeft > 0 else {
                loaded.isCutShort = true
                break
            }
        }
        try loadPushes(wanted, into: &loaded)
        try loadSchema(wanted, into: &loaded)
        try loadIndexWork(wanted, into: &loaded)
        try loadAssets(wanted, into: &loaded)
        try loadOwners(wanted, into: &loaded)
        for key in wanted.answers { loaded.answers[key] = try answer(key) }
        if let series = wanted.answerSeries {
            for row in try answers(of: series) { loaded.answers[row.key] = row }
        }
        return loaded
    }

    func changedZones(
        in database: DatabaseKey, after: Int64, deletedAfter: Int64, zonesMax: Int
    ) throws -> ChangesPage<ZoneRow> {
        let sql = """
            SELECT zone, \(Self.zoneColumns) FROM zones
            WHERE scope = ?1 AND owner = ?2 AND databaseCounter > ?3 AND (isDeleted = 0 OR databaseCounter > ?4)
            ORDER BY databaseCounter, zone LIMIT ?5
            """
        return try connection.withStatement(sql) { statement in
            try bind(database, to: statement)
            try statement.bind(after, at: 3)
            try statement.bind(deletedAfter, at: 4)
            try statement.bind(Int64(zonesMax) + 1, at: 5)
            var page = ChangesPage<ZoneRow>(rows: [], moreComing: false)
            while try statement.step() {
                guard page.rows.count < zonesMax else {
                    page.moreComing = true
                    break
                }
                let key = ZoneKey(database: database, zoneName: statement.text(at: 0))
                page.rows.append(zoneRow(key, from: statement, at: 1))
            }
            return page
        }
    }

    func changedRecords(_ query: RecordChangesQuery) throws -> ChangesPage<RecordRow> {
        // "counter > 0" lets SQLite use the index, which holds no other rows. It begins at the first of the two terms
        // that it finds: the other order would walk the log from its beginning. Without the "+" SQLite compares ?4 with
        // the index's 0, and prepares the statement anew for each value.
        let sql = """
            SELECT name, \(Self.recordColumns) FROM records INDEXED BY recordChanges
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND counter > +?4 AND counter > 0
            AND (isDeleted = 0 OR counter > ?5) AND counter <= ?7
            ORDER BY counter\(query.isNewestFirst ? " DESC" : "") LIMIT ?6
            """
        return try connection.withStatement(sql) { statement in
            try bindPlace(of: query.zone, to: statement)
            try statement.bind(query.after, at: 4)
            try statement.bind(query.tombstonesAfter, at: 5)
            try statement.bind(Int64(query.recordsMax) + 1, at: 6)
            try statement.bind(query.through, at: 7)
            return try page(
                of: query.zone, from: statement, recordsMax: query.recordsMax, bytesMax: query.bytesMax)
        }
    }

    /// Reads rows of a record's name and `recordColumns`.
    func page(
        of zone: ZoneKey, from statement: borrowing Statement, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<RecordRow> {
        var page = ChangesPage<RecordRow>(rows: [], moreComing: false)
        var bytes = 0
        while try statement.step() {
            guard page.rows.count < recordsMax, bytes < bytesMax else {
                page.moreComing = true
                break
            }
            let key = RecordKey(zone: zone, recordName: statement.text(at: 0))
            let row = recordRow(key, from: statement, at: 1)
            page.rows.append(row)
            bytes += row.fields.count
        }
        return page
    }

    private func database(_ key: DatabaseKey) throws -> DatabaseRow? {
        let sql =
            "SELECT epoch, counter, subscriptions, zoneFloor FROM databases WHERE scope = ?1 AND owner = ?2"
        return try connection.withStatement(sql) { statement in
            try bind(key, to: statement)
            guard try statement.step() else { return nil }
            var row = DatabaseRow(
                key: key, epoch: UInt64(bitPattern: statement.int64(at: 0)), counter: statement.int64(at: 1),
                subscriptionCount: statement.int64(at: 2))
            row.zoneFloor = statement.int64(at: 3)
            return row
        }
    }

    private func zone(_ key: ZoneKey) throws -> ZoneRow? {
        let sql = """
            SELECT \(Self.zoneColumns) FROM zones
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3
            """
        return try connection.withStatement(sql) { statement in
            try bind(key, to: statement)
            return try statement.step() ? zoneRow(key, from: statement, at: 0) : nil
        }
    }

    private func record(_ key: RecordKey, columns: String = recordColumns) throws -> RecordRow? {
        let sql = """
            SELECT \(columns) FROM records
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4
            """
        return try connection.withStatement(sql) { statement in
            try bindPlace(of: key.zone, to: statement)
            try statement.bind(key.recordName, at: 4)
            return try statement.step() ? recordRow(key, from: statement, at: 0) : nil
        }
    }

    /// Sorted; one more than `rowsMax` when there are more.
    private func dependants(of target: RecordKey, rowsMax: Int) throws -> [ReferenceRow] {
        let sql = """
            SELECT source, kind FROM recordReferences
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND target = ?4 ORDER BY source, kind
            LIMIT ?5
            """
        return try connection.withStatement(sql) { statement in
            try bindPlace(of: target.zone, to: statement)
            try statement.bind(target.recordName, at: 4)
            try statement.bind(rowsMax == .max ? -1 : Int64(rowsMax) + 1, at: 5)
            var rows: [ReferenceRow] = []
            while try statement.step() {
                guard let kind = ReferenceRow.Kind(rawValue: statement.int64(at: 1)) else {
                    throw CloudStoreError.damaged(
                        path: path, reason: "unknown kind of reference to \(target.recordName)")
                }
                rows.append(ReferenceRow(target: target, sourceName: statement.text(at: 0), kind: kind))
            }
            return rows
        }
    }

    static let zoneColumns = """
        epoch, counter, tombstoneFloor, databaseCounter, isDeleted, identities, contents, isCounted, records, \
        recordBytes, assetBytes, deletedMilliseconds, tombstones, indexBytes
        """
    static let recordColumns = "\(firstColumns), \(fieldsValue), \(lastColumns)"
    /// The same, but the fields, which may be long, are not read.
    private static let outlineColumns = "\(firstColumns), x'', \(lastColumns)"
    private static let firstColumns = """
        type, isDeleted, tagEpoch, counter, parent, createdMilliseconds, createdUser, createdDevice, \
        modifiedMilliseconds, modifiedUser, modifiedDevice
        """
    private static let lastColumns = "identity, content, indexBytes"

    func zoneRow(_ key: ZoneKey, from statement: borrowing Statement, at column: Int32) -> ZoneRow {
        var row = ZoneRow(
            key: key, epoch: UInt64(bitPattern: statement.int64(at: column)),
            counter: statement.int64(at: column + 1), tombstoneFloor: statement.int64(at: column + 2),
            databaseCounter: statement.int64(at: column + 3), isDeleted: statement.int64(at: column + 4) != 0)
        row.checksum = StoreChecksum(statement, at: column + 5)
        row.isCounted = statement.int64(at: column + 7) != 0
        row.size = StoredSize(
            records: statement.int64(at: column + 8), recordBytes: statement.int64(at: column + 9),
            assetBytes: statement.int64(at: column + 10), indexBytes: statement.int64(at: column + 13),
            tombstones: statement.int64(at: column + 12))
        row.deletedMilliseconds = statement.int64(at: column + 11)
        return row
    }

    func recordRow(_ key: RecordKey, from statement: borrowing Statement, at column: Int32)
        -> RecordRow
    {
        var row = RecordRow(
            key: key, recordType: statement.text(at: column), isDeleted: statement.int64(at: column + 1) != 0,
            tagEpoch: UInt64(bitPattern: statement.int64(at: column + 2)),
            counter: statement.int64(at: column + 3),
            parent: statement.isNull(at: column + 4) ? nil : statement.text(at: column + 4),
            created: stamp(from: statement, at: column + 5), modified: stamp(from: statement, at: column + 8),
            fields: statement.bytes(at: column + 11),
            checksum: statement.isNull(at: column + 12) ? nil : StoreChecksum(statement, at: column + 12))
        row.indexBytes = statement.int64(at: column + 14)
        return row
    }

    private func stamp(from statement: borrowing Statement, at column: Int32) -> StoreStamp {
        StoreStamp(
            timestampMilliseconds: statement.int64(at: column),
            userRecordName: statement.text(at: column + 1),
            deviceID: statement.text(at: column + 2))
    }

    func bind(_ key: DatabaseKey, to statement: borrowing Statement) throws {
        try statement.bind(key.scope.rawValue, at: 1)
        try statement.bind(key.owner, at: 2)
    }

    func bind(_ key: ZoneKey, to statement: borrowing Statement) throws {
        try bind(key.database, to: statement)
        try statement.bind(key.zoneName, at: 3)
    }
}

extension StoreChecksum {
    /// Reads a checksum from two columns.
    init(_ statement: borrowing Statement, at column: Int32) {
        self.init(
            identities: UInt64(bitPattern: statement.int64(at: column)),
            contents: UInt64(bitPattern: statement.int64(at: column + 1)))
    }
}

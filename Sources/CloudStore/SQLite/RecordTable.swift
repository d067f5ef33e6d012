import SQLite

/// Records and tombstones. Owns `records`, and through `LargeFieldTable` the large fields.
struct RecordTable {
    let connection: Connection
    let places: ZonePlaces

    private var largeFields: LargeFieldTable { LargeFieldTable(connection: connection) }

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        var bytes = 0
        for key in wanted.records {
            guard bytes <= wanted.bytesMax else {
                loaded.isCutShort = true
                break
            }
            guard let row = try record(key, columns: Self.columns) else { continue }
            loaded.records[key] = row
            bytes += row.fields.count
        }
        for key in wanted.outlines { loaded.records[key] = try record(key, columns: Self.outlineColumns) }
        for key in wanted.assets.sizesOf { loaded.assets.sizes[key] = try size(of: key) }
        for zone in wanted.assets.tombstoneBytesOf {
            loaded.assets.tombstoneBytes[zone] = try tombstoneBytes(in: zone)
        }
    }

    func changed(_ query: RecordChangesQuery) throws -> ChangesPage<StoredRecord> {
        // "counter > 0" lets SQLite use the index, which has only such rows. SQLite starts at the first of the two
        // terms: with the other order it would read the log from its beginning. Without the "+", SQLite compares ?4
        // with the index's 0, and prepares the statement again for each value.
        let sql = """
            SELECT name, \(Self.columns) FROM records INDEXED BY recordChanges
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND counter > +?4 AND counter > 0
            AND (isDeleted = 0 OR counter > ?5) AND counter <= ?7
            ORDER BY counter\(query.isNewestFirst ? " DESC" : "") LIMIT ?6
            """
        return try connection.withStatement(sql) { statement in
            try places.bind(query.zone, to: statement)
            try statement.bind(query.after, query.tombstonesAfter, query.recordsMax + 1, at: 4)
            try statement.bind(query.through, at: 7)
            return try page(
                of: query.zone, from: statement, recordsMax: query.recordsMax, bytesMax: query.bytesMax)
        }
    }

    func records(
        in zone: ZoneKey, after: String?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord> {
        // No name is empty, so all names sort after it.
        let sql = """
            SELECT name, \(Self.columns) FROM records
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name > ?4 AND isDeleted = 0
            ORDER BY name LIMIT ?5
            """
        return try connection.withStatement(sql) { statement in
            try places.bind(zone, to: statement)
            try statement.bind(after ?? "", recordsMax + 1, at: 4)
            return try page(of: zone, from: statement, recordsMax: recordsMax, bytesMax: bytesMax)
        }
    }

    func outdatedTombstones(_ query: OutdatedQuery) throws -> [StoredRecord] {
        let sql = """
            SELECT scope, owner, zone, name, \(Self.columns) FROM records AS r INDEXED BY tombstonesMade
            WHERE isDeleted = 1 AND modifiedMilliseconds < ?1 AND \(ZonePlaces.isNotCleared)
            ORDER BY modifiedMilliseconds, scope, owner, zone, name LIMIT ?2
            """
        return try connection.rows(sql, before: query.tombstonesBefore, rowsMax: query.rowsMax) {
            let place = try connection.zoneKey(from: $0, at: 0)
            let key = RecordKey(zone: try places.zone(at: place) ?? place, recordName: $0.text(at: 3))
            return row(key, from: $0, at: 4)
        }
    }

    func types() throws -> [String] {
        let sql = """
            SELECT DISTINCT type FROM records AS r WHERE isDeleted = 0 AND \(ZonePlaces.isNotCleared) ORDER BY type
            """
        return try connection.withStatement(sql) { try $0.rows { $0.text(at: 0) } }
    }

    func type(of key: RecordKey) throws -> String? {
        let sql = "SELECT type FROM records WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4"
        return try connection.withStatement(sql) { statement in
            try places.bind(key, to: statement)
            return try statement.step() ? statement.text(at: 0) : nil
        }
    }

    /// Returns the first records of a zone, sorted by name.
    func first(
        _ rowsMax: Int, at place: ZoneKey
    ) throws -> [(key: RecordKey, recordType: String, bytes: Int64)] {
        let sql = """
            SELECT name, type, \(LargeFieldTable.fieldsLength) FROM records
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 ORDER BY name LIMIT ?4
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(place)
            try statement.bind(rowsMax, at: 4)
            return try statement.rows {
                (RecordKey(zone: place, recordName: $0.text(at: 0)), $0.text(at: 1), $0.int64(at: 2))
            }
        }
    }

    func hasRows(at place: ZoneKey) throws -> Bool { try connection.hasRows(in: "records", at: place) }

    private func record(_ key: RecordKey, columns: String) throws -> StoredRecord? {
        let sql = """
            SELECT \(columns) FROM records
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4
            """
        return try connection.withStatement(sql) { statement in
            try places.bind(key, to: statement)
            return try statement.step() ? row(key, from: statement, at: 0) : nil
        }
    }

    private func size(of key: RecordKey) throws -> StoredSize? {
        // SQLite knows the length of a value without reading its pages.
        let sql = """
            SELECT \(LargeFieldTable.fieldsLength), (\(RecordAssetTable.bytesOfRecord)), indexBytes
            FROM records WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4 AND isDeleted = 0
            """
        return try connection.withStatement(sql) { statement in
            try places.bind(key, to: statement)
            guard try statement.step() else { return nil }
            return StoredSize(
                records: 1, recordBytes: statement.int64(at: 0), assetBytes: statement.int64(at: 1),
                indexBytes: statement.int64(at: 2))
        }
    }

    private func tombstoneBytes(in zone: ZoneKey) throws -> Int64 {
        let sql = """
            SELECT coalesce(sum(indexBytes), 0) FROM records
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND isDeleted = 1
            """
        return try connection.withStatement(sql) { statement in
            try places.bind(zone, to: statement)
            return try statement.firstInt64()
        }
    }

    // MARK: - Rows

    /// Columns that `row(_:from:at:)` reads.
    static let columns = "\(firstColumns), \(LargeFieldTable.fieldsValue), \(lastColumns)"
    /// The same columns without the fields, which may be long.
    private static let outlineColumns = "\(firstColumns), x'', \(lastColumns)"
    private static let firstColumns = """
        type, isDeleted, tagEpoch, counter, parent, createdMilliseconds, createdUser, createdDevice, \
        modifiedMilliseconds, modifiedUser, modifiedDevice
        """
    private static let lastColumns = "identity, content, indexBytes"

    /// Joins the records `r` of the zone `?10`, `?11`, `?12` to rows `e` that have a record's name.
    static let joinByName =
        "CROSS JOIN records r ON r.scope = ?10 AND r.owner = ?11 AND r.zone = ?12 AND r.name = e.name"

    /// Binds the zone for `joinByName`.
    func bindJoin(_ zone: ZoneKey, to statement: borrowing Statement) throws {
        try statement.bind(zone.database, at: 10)
        try statement.bind(try places.name(of: zone), at: 12)
    }

    /// Selects the first owner after `?2` in the scope `?1`.
    static let nextOwner = "SELECT min(owner) AS owner FROM records WHERE scope = ?1 AND owner > ?2"

    /// Selects the rows of large fields at the place `?1`, `?2`, `?3`.
    static let largeFieldsAtPlace = """
        SELECT fieldsRow FROM records WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND fieldsRow IS NOT NULL
        """

    /// Reads rows of a record's name and `columns`.
    private func page(
        of zone: ZoneKey, from statement: borrowing Statement, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord> {
        var page = ChangesPage<StoredRecord>(rows: [], moreComing: false)
        var bytes = 0
        while try statement.step() {
            guard page.rows.count < recordsMax, bytes < bytesMax else {
                page.moreComing = true
                break
            }
            let key = RecordKey(zone: zone, recordName: statement.text(at: 0))
            let row = row(key, from: statement, at: 1)
            page.rows.append(row)
            bytes += row.fields.count
        }
        return page
    }

    func row(_ key: RecordKey, from statement: borrowing Statement, at column: Int32) -> StoredRecord {
        var row = StoredRecord(
            key: key, recordType: statement.text(at: column), isDeleted: statement.int64(at: column + 1) != 0,
            tagEpoch: UInt64(bitPattern: statement.int64(at: column + 2)),
            counter: statement.int64(at: column + 3), parent: statement.optionalText(at: column + 4),
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

    // MARK: - Writing

    func write(_ row: StoredRecord) throws {
        let fieldsRow = try storeLargeFields(of: row)
        let sql = """
            INSERT OR REPLACE INTO records
            (scope, owner, zone, name, type, isDeleted, tagEpoch, counter, parent, createdMilliseconds, createdUser,
            createdDevice, modifiedMilliseconds, modifiedUser, modifiedDevice, fields, identity, content,
            indexBytes, fieldsRow)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
            """
        try connection.withStatement(sql) { statement in
            try places.bind(row.key, to: statement)
            try statement.bind(row.recordType, row.isDeleted, row.tagEpoch, row.counter, at: 5)
            try statement.bind(row.parent, at: 9)
            try bind(row.created, to: statement, at: 10)
            try bind(row.modified, to: statement, at: 13)
            try statement.bind(row.checksum, at: 17)
            try statement.bind(row.indexBytes, fieldsRow, at: 19)
            try statement.binding(fieldsRow == nil ? row.fields : [], at: 16) { try statement.run() }
        }
    }

    /// Stores the bytes of a record's index entries, if the record itself isn't written.
    func setIndexBytes(_ bytes: Int64, of key: RecordKey) throws {
        let sql = """
            UPDATE records SET indexBytes = ?5
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4 AND indexBytes <> ?5
            """
        try connection.run(sql) { statement in
            try places.bind(key, to: statement)
            try statement.bind(bytes, at: 5)
        }
    }

    func remove(_ key: RecordKey) throws {
        try removeLargeFields(of: key)
        let sql = "DELETE FROM records WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4"
        try connection.run(sql) { try places.bind(key, to: $0) }
    }

    func removeAll(at place: ZoneKey) throws {
        try largeFields.removeAll(at: place)
        try connection.removeRows(of: "records", at: place)
    }

    /// Tombstones have no large fields.
    func remove(_ pruned: PrunedTombstones) throws {
        let sql = """
            DELETE FROM records WHERE scope = ?1 AND owner = ?2 AND zone = ?3
            AND counter > 0 AND counter <= ?4 AND isDeleted = 1
            """
        try connection.run(sql) { statement in
            try places.bind(pruned.zone, to: statement)
            try statement.bind(pruned.through, at: 4)
        }
    }

    /// Stores the fields of a record in a separate row if they are large: in the record's existing row or in a new one.
    /// If they aren't large, removes the existing row.
    ///
    /// Not a trigger: with a trigger, SQLite copies the pages of each statement to be able to undo it.
    ///
    /// - Returns: The number of the row, or nil for fields that are stored in the row of their record.
    private func storeLargeFields(of record: StoredRecord) throws -> Int64? {
        guard record.fields.count > LargeFieldTable.fieldsInRowBytesMax else {
            try removeLargeFields(of: record.key)
            return nil
        }
        return try largeFields.store(record.fields, in: try rowOfLargeFields(of: record.key))
    }

    private func removeLargeFields(of key: RecordKey) throws {
        if let row = try rowOfLargeFields(of: key) { try largeFields.remove(row) }
    }

    private func rowOfLargeFields(of key: RecordKey) throws -> Int64? {
        let sql = """
            SELECT fieldsRow FROM records
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4 AND fieldsRow IS NOT NULL
            """
        return try connection.withStatement(sql) { statement in
            try places.bind(key, to: statement)
            return try statement.step() ? statement.int64(at: 0) : nil
        }
    }

    private func bind(_ stamp: StoreStamp, to statement: borrowing Statement, at index: Int32) throws {
        try statement.bind(stamp.timestampMilliseconds, at: index)
        try statement.bind(stamp.userRecordName, at: index + 1)
        try statement.bind(stamp.deviceID, at: index + 2)
    }
}

import SQLite

extension SQLiteStoreTransaction {
    func apply(_ changes: StoreChanges) throws {
        let rows = WrittenRows(connection, rowsMax: changes.rowsMax)
        for zone in changes.clearedZones { try clear(zone) }
        try applyIndexes(changes, rows)
        if changes.erasesData { try eraseData() }
        for row in changes.databases { try write(row) }
        for row in changes.zones { try write(row) }
        for key in changes.removedZones { try remove(key) }
        for pruned in changes.prunedTombstones { try prune(pruned) }
        for row in changes.removedReferences {
            try remove(row)
            try rows.check()
        }
        for key in changes.removedSources {
            try removeReferences(from: key)
            try rows.check()
        }
        for row in changes.addedReferences { try add(row) }
        try rows.check()
        for key in changes.removedRecords { try remove(key) }
        for row in changes.records { try write(row) }
        try applyAssets(changes)
        if !changes.isEmptyOfPushes { try applyPushes(changes) }
        try applySchema(changes)
        for key in changes.removedAnswers { try remove(key) }
        for row in changes.answers { try write(row) }
    }

    private func write(_ row: DatabaseRow) throws {
        let sql = """
            INSERT OR REPLACE INTO databases (scope, owner, epoch, counter, subscriptions, zoneFloor)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(Int64(bitPattern: row.epoch), at: 3)
            try statement.bind(row.counter, at: 4)
            try statement.bind(row.subscriptionCount, at: 5)
            try statement.bind(row.zoneFloor, at: 6)
            try statement.run()
        }
    }

    private func write(_ row: ZoneRow) throws {
        let sql = """
            INSERT OR REPLACE INTO zones
            (scope, owner, zone, epoch, counter, tombstoneFloor, databaseCounter, isDeleted, identities, contents,
            isCounted, records, recordBytes, assetBytes, deletedMilliseconds, tombstones, indexBytes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(Int64(bitPattern: row.epoch), at: 4)
            try statement.bind(row.counter, at: 5)
            try statement.bind(row.tombstoneFloor, at: 6)
            try statement.bind(row.databaseCounter, at: 7)
            try statement.bind(Int64(row.isDeleted ? 1 : 0), at: 8)
            try statement.bind(Int64(bitPattern: row.checksum.identities), at: 9)
            try statement.bind(Int64(bitPattern: row.checksum.contents), at: 10)
            try statement.bind(Int64(row.isCounted ? 1 : 0), at: 11)
            try statement.bind(row.size.records, at: 12)
            try statement.bind(row.size.recordBytes, at: 13)
            try statement.bind(row.size.assetBytes, at: 14)
            try statement.bind(row.deletedMilliseconds, at: 15)
            try statement.bind(row.size.tombstones, at: 16)
            try statement.bind(row.size.indexBytes, at: 17)
            try statement.run()
        }
    }

    private func remove(_ key: ZoneKey) throws {
        try connection.withStatement("DELETE FROM zones WHERE scope = ?1 AND owner = ?2 AND zone = ?3") {
            try bind(key, to: $0)
            try $0.run()
        }
    }

    private func prune(_ pruned: PrunedTombstones) throws {
        let sql = """
            DELETE FROM records WHERE scope = ?1 AND owner = ?2 AND zone = ?3
            AND counter > 0 AND counter <= ?4 AND isDeleted = 1
            """
        try connection.withStatement(sql) { statement in
            try bindPlace(of: pruned.zone, to: statement)
            try statement.bind(pruned.through, at: 4)
            try statement.run()
        }
    }

    private func remove(_ row: ReferenceRow) throws {
        let sql = """
            DELETE FROM recordReferences
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND target = ?4 AND source = ?5 AND kind = ?6
            """
        try run(sql, row)
    }

    /// - Returns: how many there were.
    @discardableResult
    func removeReferences(from source: RecordKey) throws -> Int {
        let sql = "DELETE FROM recordReferences WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND source = ?4"
        try connection.withStatement(sql) { statement in
            try bindPlace(of: source.zone, to: statement)
            try statement.bind(source.recordName, at: 4)
            try statement.run()
        }
        return connection.changesCount
    }

    private func add(_ row: ReferenceRow) throws {
        let sql = """
            INSERT OR REPLACE INTO recordReferences (scope, owner, zone, target, source, kind)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        try run(sql, row)
    }

    private func run(_ sql: String, _ row: ReferenceRow) throws {
        try connection.withStatement(sql) { statement in
            try bindPlace(of: row.target.zone, to: statement)
            try statement.bind(row.target.recordName, at: 4)
            try statement.bind(row.sourceName, at: 5)
            try statement.bind(row.kind.rawValue, at: 6)
            try statement.run()
        }
    }

    /// - Returns: how many files it held.
    @discardableResult
    func remove(_ key: RecordKey) throws -> Int {
        let assetsCount = try removeAssets(of: key)
        try removeLargeFields(of: key)
        let sql = "DELETE FROM records WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4"
        try connection.withStatement(sql) { statement in
            try bindPlace(of: key.zone, to: statement)
            try statement.bind(key.recordName, at: 4)
            try statement.run()
        }
        return assetsCount
    }

    private func write(_ row: RecordRow) throws {
        if row.isDeleted { try removeAssets(of: row.key) }
        let fieldsRow = try storeLargeFields(of: row)
        let sql = """
            INSERT OR REPLACE INTO records
            (scope, owner, zone, name, type, isDeleted, tagEpoch, counter, parent, createdMilliseconds, createdUser,
            createdDevice, modifiedMilliseconds, modifiedUser, modifiedDevice, fields, identity, content,
            indexBytes, fieldsRow)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
            """
        try connection.withStatement(sql) { statement in
            try bindPlace(of: row.key.zone, to: statement)
            try statement.bind(row.key.recordName, at: 4)
            try statement.bind(row.recordType, at: 5)
            try statement.bind(Int64(row.isDeleted ? 1 : 0), at: 6)
            try statement.bind(Int64(bitPattern: row.tagEpoch), at: 7)
            try statement.bind(row.counter, at: 8)
            if let parent = row.parent {
                try statement.bind(parent, at: 9)
            } else {
                try statement.bindNull(at: 9)
            }
            try bind(row.created, to: statement, at: 10)
            try bind(row.modified, to: statement, at: 13)
            try bind(row.checksum, to: statement, at: 17)
            try statement.bind(row.indexBytes, at: 19)
            if let fieldsRow {
                try statement.bind(fieldsRow, at: 20)
            } else {
                try statement.bindNull(at: 20)
            }
            try statement.binding(fieldsRow == nil ? row.fields : [], at: 16) { try statement.run() }
        }
    }

    private func bind(
        _ checksum: StoreChecksum?, to statement: borrowing Statement, at index: Int32
    ) throws {
        guard let checksum else {
            try statement.bindNull(at: index)
            return try statement.bindNull(at: index + 1)
        }
        try statement.bind(Int64(bitPattern: checksum.identities), at: index)
        try statement.bind(Int64(bitPattern: checksum.contents), at: index + 1)
    }

    private func bind(_ stamp: StoreStamp, to statement: borrowing Statement, at index: Int32) throws {
        try statement.bind(stamp.timestampMilliseconds, at: index)
        try statement.bind(stamp.userRecordName, at: index + 1)
        try statement.bind(stamp.deviceID, at: index + 2)
    }
}

/// Counts the rows of a write, so that one can't keep all others waiting.
struct WrittenRows {
    private let connection: Connection
    private let before: Int
    private let rowsMax: Int

    init(_ connection: Connection, rowsMax: Int) {
        self.connection = connection
        self.rowsMax = rowsMax
        before = connection.totalChangesCount
    }

    /// Throws when there are too many.
    func check() throws {
        guard connection.totalChangesCount - before > rowsMax else { return }
        throw CloudStoreError.tooManyRows(rowsMax: rowsMax)
    }
}

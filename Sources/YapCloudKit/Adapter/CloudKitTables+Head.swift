internal import CloudKit
internal import CloudWire
internal import SQLite

/// What names a write, beside its content: `IdempotencySeed` of the framework's own clients, which Apple's CloudKit lacks.
struct SyncWriteSeed {
    /// The same for all that is sent of a change-set: a new record of it isn't made again after it was deleted. Nil
    /// while its deletion would never be fetched.
    let series: UInt64?
    let seed: UInt64
}

/// What the engine's adapter asks of the queue's tables.
extension CloudKitTables {
    /// The name of a change-set.
    func uuid(of sequence: Int64) throws -> String? {
        try first(
            "SELECT uuid FROM \(table("changeset")) WHERE sequence = ?1", [.integer(sequence)]
        ) { $0.text(at: 0) }
    }

    /// What names the writes of a change-set, beside the content of their requests: a seed for each zone, since each is
    /// a request of its own. The same until the server answers, or something becomes known that may be newer than its
    /// answer: what is sent again because no answer came is the same write then, also where another zone's request had
    /// one.
    ///
    /// Without a token it is another one, in no series: what was sent with one may be deleted, and a fetch from the
    /// beginning reports no deletions.
    func writeSeeds(
        of items: [SyncItem], _ database: DatabaseKey
    ) throws -> [CKRecordZone.ID: SyncWriteSeed] {
        guard let sequence = items.first?.sequence else { return [:] }
        let texts = try first(
            """
            SELECT uuid || judgements, printf('%s %d %d', uuid, sequence, name_series)
            FROM \(table("changeset")) WHERE sequence = ?1
            """, [.integer(sequence)]
        ) { (name: $0.text(at: 0), series: $0.text(at: 1)) }
        return try Dictionary(grouping: items, by: \.recordID.zoneID).reduce(into: [:]) { seeds, zone in
            let tags = zone.value.map { $0.sentTag ?? "" }.joined(separator: " ")
            let hasToken = try token(zone.key, database) != nil
            var seed = FNV1a()
            seed.add("\(texts?.name ?? "") \(tags) \(hasToken)")
            var series = FNV1a()
            series.add("\(texts?.series ?? "") \(zone.key.ownerName) \(zone.key.zoneName)")
            seeds[zone.key] = SyncWriteSeed(series: hasToken ? series.hash : nil, seed: seed.hash)
        }
    }

    /// Gives the writes of change-sets another name. Each statement has a place of its own: texts are kept by place.
    private var renameWrites: String { "UPDATE \(table("changeset")) SET judgements = judgements + 1 WHERE" }

    /// The same, and begins another series: new records in them are made again, also if they were made and deleted.
    private var restartWrites: String {
        "UPDATE \(table("changeset")) SET judgements = judgements + 1, name_series = name_series + 1 WHERE"
    }

    /// Begins another series: another life of a record may be folded into the change-set.
    func beginSeries(of sequence: Int64) throws {
        try run(
            "UPDATE \(table("changeset")) SET name_series = name_series + 1 WHERE sequence = ?1",
            [.integer(sequence)])
    }

    /// What is left of a change-set goes as another write.
    func renameWrites(of sequence: Int64) throws {
        try run("\(renameWrites) sequence = ?1", [.integer(sequence)])
    }

    /// Renames the writes that say something of a record: something is known of it that may be newer than an answer
    /// which the server has kept for their name. Also those that seem never sent: the file may have been put back.
    func renameWrites(of record: RecordRow) throws {
        try run("\(renameWrites) \(isOfRecord)", [.integer(record.id)])
    }

    /// The same, where a record that is known to be deleted is to be made again.
    func restartWrites(of record: RecordRow) throws {
        try run("\(restartWrites) \(isOfRecord)", [.integer(record.id)])
    }

    private var isOfRecord: String {
        "sequence IN (SELECT sequence FROM \(table("change")) WHERE record = ?1)"
    }

    /// The same for all writes of a database, after which no fetch reports that their records were deleted.
    func restartWrites(in database: DatabaseKey) throws {
        try run("\(restartWrites) database = ?1", [.text(database.column)])
    }

    /// Renames the unanswered writes of a database that say something of records which the server has, as far as it is
    /// known here: those that only make new ones keep their name.
    func renameWritesOfKnownRecords(in database: DatabaseKey) throws {
        let kind = SyncItem.Kind.delete.rawValue
        try run(
            """
            \(renameWrites) database = ?1 AND in_flight <> 0 AND EXISTS (
                SELECT 1 FROM \(table("change")) AS c JOIN \(table("record")) AS r ON r.id = c.record
                WHERE c.sequence = \(table("changeset")).sequence AND (c.kind = \(kind) OR r.change_tag IS NOT NULL))
            """, [.text(database.column)])
    }

    /// The name of the change-set that waits first in a database.
    func firstChangeSetUUID(_ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT uuid FROM \(table("changeset")) WHERE database = ?1 ORDER BY sequence LIMIT 1",
            [.text(database.column)]
        ) { $0.text(at: 0) }
    }

    /// The databases of which something says that it is in flight.
    func databasesInFlight() throws -> [DatabaseKey] {
        try rows("SELECT database FROM \(table("count")) WHERE in_flight > 0 ORDER BY database") {
            DatabaseKey(column: $0.text(at: 0))
        }
    }

    /// Deletions that nothing else of the same record has to go before: those of the oldest change-set that has any.
    func freeDeletions(
        _ database: DatabaseKey, itemsMax: Int
    ) throws -> [(sequence: Int64, record: Int64)] {
        let change = table("change")
        let isFree = """
            kind = \(SyncItem.Kind.delete.rawValue) AND refusal IS NULL AND NOT EXISTS (
                SELECT 1 FROM \(change) AS e WHERE e.record = c.record AND e.sequence < c.sequence)
            """
        return try rows(
            """
            SELECT c.sequence, c.record FROM \(change) AS c WHERE \(isFree) AND c.sequence = (
                SELECT s.sequence FROM \(table("changeset")) AS s WHERE s.database = ?1 AND EXISTS (
                    SELECT 1 FROM \(change) AS c WHERE c.sequence = s.sequence AND \(isFree))
                ORDER BY s.sequence LIMIT 1)
            ORDER BY c.ordinal, c.id LIMIT ?2
            """, [.text(database.column), .integer(Int64(itemsMax))]
        ) { ($0.int64(at: 0), $0.int64(at: 1)) }
    }

    /// Lets changes that were put aside with this code be sent again; with nil, all of the database's.
    func liftRefusals(_ database: DatabaseKey, onlyWith code: CKError.Code?) throws {
        guard let code else { return try liftRefusals(database) }
        try run(
            """
            UPDATE \(table("change")) SET refusal = NULL WHERE refusal = ?2
            AND sequence IN (SELECT sequence FROM \(table("changeset")) WHERE database = ?1)
            """, [.text(database.column), .integer(Int64(code.rawValue))])
    }
}

extension YapDatabaseCloudKitTransaction {
    /// The queue of a database, and the zones that have to be fetched before anything of it is sent.
    func count(_ database: DatabaseKey, at moment: CountMoment) throws -> QueueCount {
        var count = try tables.counts(database, at: moment)
        count.zonesToFetchFirst = try zonesToFetchFirst(database)
        return count
    }

    /// The zones of `CloudSync` that are being fetched in full, or were never fetched from. Other zones may be marked
    /// so too: those of an earlier version of the app, which nothing fetches.
    private func zonesToFetchFirst(_ database: DatabaseKey) throws -> [CKRecordZone.ID] {
        // `CloudSync` has its zones in the user's private database.
        guard database.identifier == nil else { return [] }
        let zoneIDs = cloudKit.runner.zoneHandler?.zoneIDs ?? []
        return try zoneIDs.filter { try !tables.isFetched($0, database) }
    }

    /// The batch to send next, its change-set marked as in flight; empty while a zone has to be fetched first.
    func takeBatch(_ database: DatabaseKey, _ limits: BatchLimits) throws -> Batch {
        guard try zonesToFetchFirst(database).isEmpty else { return Batch() }
        guard limits.takesDeletionsOnly else {
            return try takeBatch(database, itemsMax: limits.itemsMax, bytesMax: limits.bytesMax)
        }
        // A deletion may take a file that another change waits for.
        guard try tables.missingFiles(database).isEmpty else { return Batch() }
        return try writing { _ in
            var batch = Batch()
            for (sequence, id) in try tables.freeDeletions(database, itemsMax: limits.itemsMax) {
                guard let row = try tables.record(id: id) else { continue }
                batch.items.append(
                    SyncItem(
                        recordID: row.recordID, kind: .delete, sequence: sequence, incarnation: id,
                        sentTag: row.changeTag))
                batch.deletions.append(row.recordID)
            }
            return try inFlight(batch)
        }
    }
}

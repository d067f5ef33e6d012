internal import CloudKit
internal import CloudWire
internal import SQLite

/// Name of a write, beside its content: `IdempotencySeed` of the framework's own clients. Apple's CloudKit has none.
struct SyncIdempotencySeed {
    /// The same for all writes of a change-set: the server doesn't create a new record of it again after it was
    /// deleted. Nil while its deletion would never be fetched.
    let series: UInt64?
    let seed: UInt64
}

/// Names of a change-set's writes: by its name the server recognizes a write that is sent again.
extension QueueTables {
    /// Returns the names of a change-set's writes: a seed for each zone, since each zone is a request of its own.
    ///
    /// A name stays the same until the server responds, or until a version of its records becomes known that may be
    /// newer than its response. So a request that is repeated because it had no response is the same write, even if
    /// another zone's request had one.
    ///
    /// Without a token the name is another one, and in no series. A record that was sent with a token may be deleted,
    /// and a fetch from the beginning reports no deletions.
    func writeSeeds(
        of items: [SyncItem], _ database: DatabaseKey
    ) throws -> [CKRecordZone.ID: SyncIdempotencySeed] {
        guard let sequence = items.first?.sequence else { return [:] }
        let texts = try first(
            """
            SELECT uuid || judgements, printf('%s %d %d', uuid, sequence, name_series)
            FROM \(table("changeset")) WHERE sequence = ?1
            """, [.integer(sequence)]
        ) { (name: $0.text(at: 0), series: $0.text(at: 1)) }
        return try Dictionary(grouping: items, by: \.recordID.zoneID).reduce(into: [:]) { seeds, zone in
            let tags = zone.value.map { $0.sentTag ?? "" }.joined(separator: " ")
            let hasToken = try TokenTables(statements: statements).token(zone.key, database) != nil
            var seed = FNV1a()
            seed.add("\(texts?.name ?? "") \(tags) \(hasToken)")
            var series = FNV1a()
            series.add("\(texts?.series ?? "") \(zone.key.ownerName) \(zone.key.zoneName)")
            seeds[zone.key] = SyncIdempotencySeed(series: hasToken ? series.hash : nil, seed: seed.hash)
        }
    }

    /// Beginning of statements that rename writes. Each statement is in a place of its own: texts are kept by place.
    private var renameWrites: String { "UPDATE \(table("changeset")) SET judgements = judgements + 1 WHERE" }

    /// Renames the writes of the rest of a change-set.
    func renameWrites(of sequence: Int64) throws {
        try run("\(renameWrites) sequence = ?1", [.integer(sequence)])
    }

    /// Renames the writes that have a change of a record: a version of it is known that may be newer than the response
    /// that the server has kept for their name. Includes writes that seem never sent: the file may have been restored.
    func renameWrites(of record: RecordRow) throws {
        try run("\(renameWrites) \(isOfRecord)", [.integer(record.id)])
    }

    /// Beginning of statements that rename writes and begin another series: new records in them are created again, even
    /// if they were deleted meanwhile.
    private var restartWrites: String {
        "UPDATE \(table("changeset")) SET judgements = judgements + 1, name_series = name_series + 1 WHERE"
    }

    /// Begins another series, because another incarnation of a record may be folded into the change-set.
    func beginSeries(of sequence: Int64) throws {
        try run(
            "UPDATE \(table("changeset")) SET name_series = name_series + 1 WHERE sequence = ?1",
            [.integer(sequence)])
    }

    /// Renames the writes that have a change of a record, and begins another series: the record is known to be deleted
    /// and is to be created again.
    func restartWrites(of record: RecordRow) throws {
        try run("\(restartWrites) \(isOfRecord)", [.integer(record.id)])
    }

    private var isOfRecord: String {
        "sequence IN (SELECT sequence FROM \(table("change")) WHERE record = ?1)"
    }

    /// Renames all writes of a database, and begins another series. Used when no fetch will report that their records
    /// were deleted.
    func restartWrites(in database: DatabaseKey) throws {
        try run("\(restartWrites) database = ?1", [.text(database.column)])
    }

    /// Renames the unanswered writes of a database that change records which the server is known to have. Writes that
    /// only create records keep their name.
    func renameWritesOfKnownRecords(in database: DatabaseKey) throws {
        let kind = SyncItem.Kind.delete.rawValue
        try run(
            """
            \(renameWrites) database = ?1 AND in_flight <> 0 AND EXISTS (
                SELECT 1 FROM \(table("change")) AS c JOIN \(records.recordTable) AS r ON r.id = c.record
                WHERE c.sequence = \(table("changeset")).sequence AND (c.kind = \(kind) OR r.change_tag IS NOT NULL))
            """, [.text(database.column)])
    }
}

internal import CloudKit
internal import CloudWire
internal import SQLite

/// What names a write, beside its content: `WriteSeed` of the framework's own clients, which Apple's CloudKit lacks.
struct SyncWriteSeed {
    /// The same for all that is sent of a change-set: a new record of it isn't made again after it was deleted. Nil
    /// while its deletion would never be fetched.
    let series: UInt64?
    let seed: UInt64
}

/// What names the writes of a change-set, so that the server knows one that is sent again.
extension QueueTables {
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
            let hasToken = try TokenTables(statements: statements).token(zone.key, database) != nil
            var seed = FNV1a()
            seed.add("\(texts?.name ?? "") \(tags) \(hasToken)")
            var series = FNV1a()
            series.add("\(texts?.series ?? "") \(zone.key.ownerName) \(zone.key.zoneName)")
            seeds[zone.key] = SyncWriteSeed(series: hasToken ? series.hash : nil, seed: seed.hash)
        }
    }

    /// Gives the writes of change-sets another name. Each statement has a place of its own: texts are kept by place.
    private var renameWrites: String { "UPDATE \(table("changeset")) SET judgements = judgements + 1 WHERE" }

    /// What is left of a change-set goes as another write.
    func renameWrites(of sequence: Int64) throws {
        try run("\(renameWrites) sequence = ?1", [.integer(sequence)])
    }

    /// Renames the writes that say something of a record: something is known of it that may be newer than an answer
    /// which the server has kept for their name. Also those that seem never sent: the file may have been put back.
    func renameWrites(of record: RecordRow) throws {
        try run("\(renameWrites) \(isOfRecord)", [.integer(record.id)])
    }

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
                SELECT 1 FROM \(table("change")) AS c JOIN \(records.recordTable) AS r ON r.id = c.record
                WHERE c.sequence = \(table("changeset")).sequence AND (c.kind = \(kind) OR r.change_tag IS NOT NULL))
            """, [.text(database.column)])
    }
}

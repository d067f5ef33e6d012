internal import CloudKit
internal import CloudWire
internal import SQLite

/// The change-sets, and how much waits in them.
extension CloudKitTables {
    // MARK: Change-sets

    func insertChangeSet(uuid: String, _ database: DatabaseKey) throws -> Int64 {
        try run(
            "INSERT INTO \(table("changeset")) (uuid, database) VALUES (?1, ?2)",
            [.text(uuid), .text(database.column)])
        return sqlite.lastInsertRowID
    }

    /// The newest change-set of a database, if a commit may join it: nothing of it was ever handed to an operation, and
    /// nothing of it was put aside.
    func changeSetToFold(_ database: DatabaseKey) throws -> Int64? {
        let newest = try first(
            """
            SELECT s.sequence, s.in_flight, (SELECT refused FROM \(table("count")) WHERE database = ?1) > 0 AND EXISTS (
                SELECT 1 FROM \(table("change")) AS c WHERE c.sequence = s.sequence AND c.refusal IS NOT NULL)
            FROM \(table("changeset")) AS s WHERE s.database = ?1 ORDER BY s.sequence DESC LIMIT 1
            """, [.text(database.column)]
        ) { (sequence: $0.int64(at: 0), isOpen: $0.int64(at: 1) == 0 && $0.int64(at: 2) == 0) }
        return newest.flatMap { $0.isOpen ? $0.sequence : nil }
    }

    /// The number of the newest change there ever was.
    func lastChange() throws -> Int64 {
        try first(
            "SELECT seq FROM sqlite_sequence WHERE name = ?1", [.text("cloudKit_change_\(name)")]
        ) { $0.int64(at: 0) } ?? 0
    }

    /// Whether a change-set says something of a record that was deleted or made again under the same identity.
    func hasChange(ofAnotherLifeOf row: RecordRow, in sequence: Int64) throws -> Bool {
        let lives = try records(row.recordID, row.database)
        guard lives.count > 1 else { return false }
        return try lives.contains { try $0.id != row.id && change(sequence, $0.id) != nil }
    }

    /// Whether anything waits for a life of a record.
    func hasChanges(_ record: Int64) throws -> Bool {
        try first("SELECT 1 FROM \(table("change")) WHERE record = ?1 LIMIT 1", [.integer(record)]) { _ in
            true
        }
            ?? false
    }

    func removeChangeSetIfEmpty(_ sequence: Int64) throws {
        try run(
            """
            DELETE FROM \(table("changeset")) WHERE sequence = ?1
            AND NOT EXISTS (SELECT 1 FROM \(table("change")) WHERE sequence = ?1)
            """, [.integer(sequence)])
    }

    private func readChangeSet(_ statement: borrowing Statement) -> ChangeSetRow {
        ChangeSetRow(
            sequence: statement.int64(at: 0), uuid: statement.text(at: 1),
            database: DatabaseKey(column: statement.text(at: 2)), isInFlight: statement.int64(at: 3) == 1)
    }

    /// An account's change-sets, the oldest first.
    func changeSets(after sequence: Int64, limit: Int, account: Int64) throws -> [ChangeSetRow] {
        try rows(
            """
            SELECT sequence, uuid, database, in_flight FROM \(table("changeset")) WHERE sequence > ?1
            AND (database = ?2 OR substr(database, 1, length(?2) + 1) = ?2 || ':') ORDER BY sequence LIMIT ?3
            """, [.integer(sequence), .text("\(account)"), .integer(Int64(limit))], readChangeSet)
    }

    func oldestChangeSet(_ database: DatabaseKey) throws -> ChangeSetRow? {
        try first(
            """
            SELECT sequence, uuid, database, in_flight FROM \(table("changeset")) WHERE database = ?1
            ORDER BY sequence LIMIT 1
            """, [.text(database.column)], readChangeSet)
    }

    /// Which records a change-set changes, and how, in its order.
    func recordIDs(in sequence: Int64) throws -> [(recordID: CKRecord.ID, kind: SyncItem.Kind)] {
        try rows(
            """
            SELECT r.zone_owner, r.zone_name, r.record_name, c.kind FROM \(table("change")) AS c
            JOIN \(table("record")) AS r ON r.id = c.record WHERE c.sequence = ?1 ORDER BY c.ordinal, c.id
            """, [.integer(sequence)]
        ) { statement in
            let zone = CKRecordZone.ID(zoneName: statement.text(at: 1), ownerName: statement.text(at: 0))
            return (
                CKRecord.ID(recordName: statement.text(at: 2), zoneID: zone),
                SyncItem.Kind(rawValue: statement.int64(at: 3)) ?? .save
            )
        }
    }

    /// The databases that something waits for.
    func databases() throws -> [DatabaseKey] {
        try rows("SELECT database FROM \(table("count")) WHERE changesets > 0 ORDER BY database") {
            DatabaseKey(column: $0.text(at: 0))
        }
    }

    /// How much waits for a database, in constant time.
    /// - Parameter moment: That of the transaction; not needed where the engine isn't told the count.
    func counts(_ database: DatabaseKey, at moment: CountMoment = .unknown) throws -> QueueCount {
        var count =
            try first(
                "SELECT changesets, changes, refused, in_flight FROM \(table("count")) WHERE database = ?1",
                [.text(database.column)], readCount) ?? QueueCount()
        if count.quarantinedCount > 0 { count.quarantined = try problems(database) }
        count.differingZones = try zonesThatDiffer(database)
        count.moment = moment
        return count
    }

    /// How much waits for the current account, without the names of what was put aside.
    func changeSetCounts() throws -> QueueCount {
        let account = try currentAccount()
        return try rows("SELECT changesets, changes, refused, in_flight, database FROM \(table("count"))") {
            (count: readCount($0), account: DatabaseKey(column: $0.text(at: 4)).account)
        }.reduce(into: QueueCount()) { sum, row in
            guard row.account == account else { return }
            sum.pending += row.count.pending
            sum.changeSets += row.count.changeSets
            sum.inFlightChangeSets += row.count.inFlightChangeSets
            sum.quarantinedCount += row.count.quarantinedCount
        }
    }

    private func readCount(_ statement: borrowing Statement) -> QueueCount {
        QueueCount(
            pending: Int(statement.int64(at: 1)), changeSets: Int(statement.int64(at: 0)),
            inFlightChangeSets: Int(statement.int64(at: 3)), quarantinedCount: Int(statement.int64(at: 2)))
    }

    /// The first of the records whose changes were put aside.
    private func problems(_ database: DatabaseKey) throws -> [CloudSyncProblem] {
        let columns = try quarantinedColumns()
        let refused = try rows(
            """
            \(columns) WHERE c.refusal IS NOT NULL AND s.database = ?1
            ORDER BY c.record, c.sequence LIMIT ?2
            """, [.text(database.column), .integer(Int64(QueueCount.quarantinedListedMax))], readQuarantined)
        var problems: [CloudSyncProblem] = []
        for change in refused {
            if case .unrestorable(let name, let earlier)? = problems.last,
                case .unrestorable(name, let keys) = change.reason
            {
                problems[problems.count - 1] = .unrestorable(
                    recordName: name, keys: Set(earlier).union(keys).sorted())
            } else if problems.last != change.reason {
                problems.append(change.reason)
            }
        }
        return problems
    }

    /// An account's changes that were put aside, in the order of their records.
    func quarantinedChanges(account: Int64, limit: Int) throws -> [YDBCKQuarantinedChange] {
        let columns = try quarantinedColumns()
        return try rows(
            """
            \(columns) WHERE c.refusal IS NOT NULL
            AND (s.database = ?1 OR substr(s.database, 1, length(?1) + 1) = ?1 || ':')
            ORDER BY c.record, c.sequence LIMIT ?2
            """, [.text("\(account)"), .integer(Int64(limit))], readQuarantined)
    }

    private func quarantinedColumns() throws -> String {
        """
        SELECT s.uuid, s.database, r.zone_owner, r.zone_name, r.record_name, c.kind, c.refusal, c.fields, c.restore,
            \(try reasonExpression())
        FROM \(table("change")) AS c JOIN \(table("changeset")) AS s ON s.sequence = c.sequence
        LEFT JOIN \(table("record")) AS r ON r.id = c.record
        """
    }

    private func readQuarantined(_ statement: borrowing Statement) -> YDBCKQuarantinedChange {
        let zone = CKRecordZone.ID(zoneName: statement.text(at: 3), ownerName: statement.text(at: 2))
        let name = statement.text(at: 4)
        let fields = (try? FieldsBinary.decode(statement.bytes(at: 7))) ?? [:]
        let restore = statement.isNull(at: 8) ? [:] : (try? Self.rows(of: statement.bytes(at: 8))) ?? [:]
        return YDBCKQuarantinedChange(
            recordID: CKRecord.ID(recordName: name, zoneID: zone),
            databaseIdentifier: DatabaseKey(column: statement.text(at: 1)).identifier,
            changeSetUUID: statement.text(at: 0),
            isDeletion: statement.int64(at: 5) == SyncItem.Kind.delete.rawValue,
            keys: (Array(fields.keys) + Array(restore.keys)).sorted(),
            reason: Self.problem(
                name, statement.int64(at: 6), restore.keys.sorted(),
                reason: statement.isNull(at: 9) ? nil : statement.text(at: 9)))
    }

    static func problem(
        _ recordName: String, _ refusal: Int64, _ keys: [String], reason: String?
    ) -> CloudSyncProblem {
        switch refusal {
        case stuckRefusal: .stuck(recordName: recordName)
        case damagedRefusal: .damaged(recordName: recordName)
        case unrestorableRefusal: .unrestorable(recordName: recordName, keys: keys)
        default:
            .refused(
                recordName: recordName, CKError.Code(rawValue: Int(refusal)) ?? .internalError, reason: reason
            )
        }
    }

    // MARK: In flight

    /// Says that an operation has changes of a change-set, or that none has any more. That one had stays known, since
    /// the server may have them, unless `setAnswered` says that it answered for each.
    func setInFlight(_ sequence: Int64, _ isInFlight: Bool) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = ?2 WHERE sequence = ?1 AND in_flight <> ?2",
            [.integer(sequence), .integer(isInFlight ? 1 : -1)])
    }

    /// Says that the server has answered for each change of a change-set that it got: it doesn't have what is left.
    func setAnswered(_ sequence: Int64) throws {
        try run("UPDATE \(table("changeset")) SET in_flight = 0 WHERE sequence = ?1", [.integer(sequence)])
    }

    /// Whether an operation has changes of a change-set.
    func isInFlight(_ sequence: Int64) throws -> Bool {
        try first(
            "SELECT in_flight = 1 FROM \(table("changeset")) WHERE sequence = ?1", [.integer(sequence)]
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    /// Whether the server may have changes of a change-set that it hasn't answered for.
    func wasInFlight(_ sequence: Int64) throws -> Bool {
        try first(
            "SELECT in_flight <> 0 FROM \(table("changeset")) WHERE sequence = ?1", [.integer(sequence)]
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    /// Nothing of a database is in flight any more.
    func clearInFlight(_ database: DatabaseKey) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = -1 WHERE database = ?1 AND in_flight = 1",
            [.text(database.column)])
    }

    /// Nothing is in flight any more: the process that sent it is gone.
    func clearAllInFlight() throws {
        try run("UPDATE \(table("changeset")) SET in_flight = -1 WHERE in_flight = 1")
    }
}

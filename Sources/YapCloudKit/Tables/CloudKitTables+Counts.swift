internal import CloudKit
internal import CloudWire
internal import SQLite

/// Numbers of pending changes, and the quarantined changes.
extension CloudKitTables {
    /// Returns records that a change-set changes, and how, in its order.
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

    /// Counts the pending changes of a database, in constant time.
    /// - Parameter moment: Moment of the transaction. Not needed if the engine doesn't get the count.
    func counts(_ database: DatabaseKey, at moment: CountMoment = .unknown) throws -> QueueCount {
        var count =
            try first(
                "SELECT changesets, changes, refused, in_flight FROM \(table("count")) WHERE database = ?1",
                [.text(database.column)], readCount) ?? QueueCount()
        if count.quarantinedCount > 0 { count.quarantined = try problems(database) }
        count.differingZones = try checksums.zonesThatDiffer(database)
        count.moment = moment
        return count
    }

    /// Counts the pending changes of the current account, without the names of quarantined records.
    func changeSetCounts() throws -> QueueCount {
        let account = try accounts.currentAccount()
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

    /// Problems of the first records that have quarantined changes.
    private func problems(_ database: DatabaseKey) throws -> [CloudSyncProblem] {
        let columns = try quarantinedColumns()
        let quarantined = try rows(
            """
            \(columns) WHERE c.refusal IS NOT NULL AND s.database = ?1
            ORDER BY c.record, c.sequence LIMIT ?2
            """, [.text(database.column), .integer(Int64(QueueCount.quarantinedListedMax))], readQuarantined)
        var problems: [CloudSyncProblem] = []
        for change in quarantined {
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

    /// Quarantined changes of an account, in the order of their records.
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
            \(try queue.reasonExpression())
        FROM \(table("change")) AS c JOIN \(table("changeset")) AS s ON s.sequence = c.sequence
        LEFT JOIN \(table("record")) AS r ON r.id = c.record
        """
    }

    private func readQuarantined(_ statement: borrowing Statement) -> YDBCKQuarantinedChange {
        let zone = CKRecordZone.ID(zoneName: statement.text(at: 3), ownerName: statement.text(at: 2))
        let name = statement.text(at: 4)
        let fields = (try? FieldsBinary.decode(statement.bytes(at: 7))) ?? [:]
        let restore =
            statement.isNull(at: 8) ? [:] : (try? QueueTables.restoredRows(of: statement.bytes(at: 8))) ?? [:]
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
        _ recordName: String, _ code: Int64, _ keys: [String], reason: String?
    ) -> CloudSyncProblem {
        switch code {
        case QueueTables.stuckCode: .stuck(recordName: recordName)
        case QueueTables.damagedCode: .damaged(recordName: recordName)
        case QueueTables.unrestorableCode: .unrestorable(recordName: recordName, keys: keys)
        default:
            .refused(
                recordName: recordName, CKError.Code(rawValue: Int(code)) ?? .internalError, reason: reason
            )
        }
    }
}

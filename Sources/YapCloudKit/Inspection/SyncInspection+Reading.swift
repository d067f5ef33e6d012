internal import CloudKit
internal import CloudWire
internal import SQLite
package import Yap

extension SyncInspection {
    /// Reads a database's file on one snapshot. Other processes may have it open.
    ///
    /// - Throws: `YapDatabaseError` if the file doesn't exist or isn't a Yap database.
    package init(
        path: String, encryptionKey: YapDatabaseOptions.EncryptionKey? = nil, limits: Limits = Limits()
    ) throws {
        let file = try DatabaseFile(path: path, encryptionKey: encryptionKey)
        self = try file.read { try SyncInspection(file, limits) }
    }

    private init(_ file: DatabaseFile, _ limits: Limits) throws {
        let stored = try file.extensions()
        let syncs = stored.filter { $0.className == YapDatabaseCloudKit.className }
        path = file.path
        snapshot = try file.snapshot()
        otherExtensions = stored.filter { $0.className != YapDatabaseCloudKit.className }.map(\.name)
        registrations = try syncs.map { sync in
            // The additions of version 5 aren't inspected.
            let isReadable = (4...YapDatabaseCloudKit.classVersion).contains(sync.classVersion)
            let tables = CloudKitTables(name: sync.name, sqlite: file.sqlite)
            return Registration(
                name: sync.name, classVersion: sync.classVersion, versionTag: sync.versionTag,
                content: isReadable ? try SyncInspector(tables: tables, limits: limits).content() : nil)
        }
    }
}

/// What may still be read within the limits for all change-sets together.
private final class SyncInspectionRest {
    var changes: Int
    private var valueBytes: Int

    init(_ limits: SyncInspection.Limits) {
        changes = limits.changesOfAllMax
        valueBytes = limits.valueBytesOfAllMax
    }

    /// Returns a field's value, if the limit allows it.
    func value(_ field: Field) -> SyncInspection.FieldChange.Value {
        guard let value = field.value else { return .none }
        let words = MergeLogValue(value).words
        guard words.utf8.count <= valueBytes else { return .leftOut }
        valueBytes -= words.utf8.count
        return .words(words)
    }
}

/// Reads the tables of one registration.
private struct SyncInspector {
    typealias Inspection = SyncInspection

    let tables: CloudKitTables
    let limits: SyncInspection.Limits
    let rest: SyncInspectionRest

    init(tables: CloudKitTables, limits: SyncInspection.Limits) {
        self.tables = tables
        self.limits = limits
        rest = SyncInspectionRest(limits)
    }

    func content() throws -> Inspection.Content {
        let current = try tables.accounts.currentAccount()
        let keys = try databases()
        let numbers = Set(try tables.accounts.accounts()).union(keys.map(\.account)).sorted()
        let accounts = try numbers.map { number in
            Inspection.Account(
                number: number, isCurrent: number == current,
                databases: try keys.filter { $0.account == number }.map(database))
        }
        return Inspection.Content(
            accounts: accounts, untoldMerges: try untoldMerges(),
            merges: limits.mergesMax > 0 ? try tables.log.newestLogEntries(limit: limits.mergesMax) : [])
    }

    private func untoldMerges() throws -> Int {
        try tables.first("SELECT count(*) FROM \(tables.table("log"))") { Int($0.int64(at: 0)) } ?? 0
    }

    /// Returns every database that a table mentions.
    private func databases() throws -> [DatabaseKey] {
        let kinds = ["record", "changeset", "token", "stash", "subscription", "user", "error"]
        return try tables.rows(
            kinds.map { "SELECT database FROM \(tables.table($0))" }.joined(separator: " UNION ")
        ) { DatabaseKey(column: $0.text(at: 0)) }.sorted()
    }

    private func database(_ key: DatabaseKey) throws -> Inspection.Database {
        let counts = try tables.counts(key)
        let zones = try zones(key)
        return Inspection.Database(
            identifier: key.identifier, userRecordName: try tables.accounts.userRecordName(key),
            subscriptionID: try tables.accounts.subscriptionID(key), changeSetsCount: counts.changeSets,
            inFlightCount: counts.inFlightChangeSets, changesCount: counts.pending,
            quarantinedCount: counts.quarantinedCount, changeSets: try changeSets(key),
            quarantined: try quarantined(key),
            zones: Array(zones.prefix(limits.zonesMax)), zonesCount: zones.count,
            stashedCount: try stashedCount(key),
            errors: try tables.errors.keptErrors(key))
    }

    // MARK: The queue

    private func changeSets(_ key: DatabaseKey) throws -> [Inspection.ChangeSet] {
        let sets = try tables.rows(
            """
            SELECT sequence, uuid, in_flight FROM \(tables.table("changeset")) WHERE database = ?1
            ORDER BY sequence LIMIT ?2
            """, [.text(key.column), .integer(Int64(limits.changeSetsMax))]
        ) { (sequence: $0.int64(at: 0), uuid: $0.text(at: 1), isInFlight: $0.int64(at: 2) == 1) }
        return try sets.map { set in
            Inspection.ChangeSet(
                sequence: set.sequence, uuid: set.uuid, isInFlight: set.isInFlight,
                changes: try changes(in: set.sequence), changesCount: try changesCount(in: set.sequence))
        }
    }

    private func changesCount(in sequence: Int64) throws -> Int {
        try tables.first(
            "SELECT count(*) FROM \(tables.table("change")) WHERE sequence = ?1", [.integer(sequence)]
        ) { Int($0.int64(at: 0)) } ?? 0
    }

    private func changes(in sequence: Int64) throws -> [Inspection.Change] {
        // A first sync may have all rows in one change-set, so only those that are shown are read.
        let records = try tables.rows(
            """
            SELECT record FROM \(tables.table("change")) WHERE sequence = ?1 ORDER BY ordinal, id LIMIT ?2
            """, [.integer(sequence), .integer(Int64(min(limits.changesMax, rest.changes)))]
        ) { $0.int64(at: 0) }
        rest.changes -= records.count
        return try records.compactMap { try tables.queue.change(sequence, $0).flatMap(inspected) }
    }

    private func quarantined(_ key: DatabaseKey) throws -> [Inspection.Change] {
        let records = try tables.rows(
            """
            SELECT DISTINCT c.record FROM \(tables.table("change")) AS c
            JOIN \(tables.table("record")) AS r ON r.id = c.record
            WHERE c.refusal IS NOT NULL AND r.database = ?1 ORDER BY c.record LIMIT ?2
            """, [.text(key.column), .integer(Int64(limits.changesMax))]
        ) { $0.int64(at: 0) }
        return try records.flatMap { record in
            try tables.queue.changes(of: record).filter { $0.quarantineCode != nil }.compactMap(inspected)
        }
    }

    private func inspected(_ change: ChangeRow) throws -> Inspection.Change? {
        try tables.records.record(id: change.record).map { row in
            let name = row.recordID.recordName
            let restored = change.restore.keys.sorted()
            return Inspection.Change(
                zone: row.recordID.zoneID, recordName: name, recordType: row.recordType,
                changeTag: row.changeTag, isDeletion: change.kind == .delete,
                keys: change.kind == .delete ? [] : change.keys, restoredKeys: restored,
                problem: try change.quarantineCode.map {
                    CloudKitTables.problem(name, $0, restored, reason: try tables.queue.reason(of: change))
                }, values: limits.valueBytesOfAllMax > 0 ? values(of: change, row) : [])
        }
    }

    private func values(of change: ChangeRow, _ row: RecordRow) -> [Inspection.FieldChange] {
        guard change.kind == .save else {
            return change.fields.sorted { $0.key < $1.key }.map { key, field in
                Inspection.FieldChange(key: key, before: rest.value(field), after: .none)
            }
        }
        return change.keys.map { key in
            let isOfObject = change.restore[key] != nil
            // The server has no record yet, so the field had no value before.
            let absent: Inspection.FieldChange.Value = row.changeTag == nil ? .none : .unknown
            return Inspection.FieldChange(
                key: key, before: change.originals[key].map { rest.value($0) } ?? absent,
                after: isOfObject ? .ofObject : change.fields[key].map { rest.value($0) } ?? .none)
        }
    }

    // MARK: Zones

    private func zones(_ key: DatabaseKey) throws -> [Inspection.Zone] {
        var zones: [ZoneName: Inspection.Zone] = [:]
        func zone(_ name: ZoneName) -> Inspection.Zone { zones[name] ?? Inspection.Zone(zoneID: name.zoneID) }
        for (name, token, fullFetch) in try tokens(key) {
            var found = zone(name)
            (found.token, found.fullFetch) = (token, fullFetch)
            zones[name] = found
        }
        for (name, count, tagged) in try recordCounts(key) {
            var found = zone(name)
            (found.recordsCount, found.taggedCount) = (count, tagged)
            if limits.recordsMax > 0 { found.records = try records(name, key) }
            zones[name] = found
        }
        for (name, checksum, differences) in try checksums(key) {
            var found = zone(name)
            found.checksum = checksum?.text
            (found.differencesCount, found.differs) = (Int(differences.count), differences.differs)
            zones[name] = found
        }
        for (name, record) in try stashed(key) {
            var found = zone(name)
            found.stashed.append(record)
            zones[name] = found
        }
        return zones.sorted { $0.key < $1.key }.map(\.value)
    }

    private struct ZoneName: Hashable, Comparable {
        let owner: String
        let name: String

        init(_ statement: borrowing Statement) {
            owner = statement.text(at: 0)
            name = statement.text(at: 1)
        }

        var zoneID: CKRecordZone.ID { CKRecordZone.ID(zoneName: name, ownerName: owner) }

        static func < (left: ZoneName, right: ZoneName) -> Bool {
            (left.owner, left.name) < (right.owner, right.name)
        }
    }

    private func tokens(_ key: DatabaseKey) throws -> [(ZoneName, token: String?, fullFetch: String?)] {
        try tables.rows(
            """
            SELECT zone_owner, zone_name, token, full_fetch FROM \(tables.table("token")) WHERE database = ?1
            """, [.text(key.column)]
        ) {
            (
                ZoneName($0), $0.isNull(at: 2) ? nil : $0.text(at: 2),
                $0.isNull(at: 3) ? nil : $0.text(at: 3)
            )
        }
    }

    private func recordCounts(_ key: DatabaseKey) throws -> [(ZoneName, count: Int, tagged: Int)] {
        try tables.rows(
            """
            SELECT zone_owner, zone_name, count(*), count(change_tag) FROM \(tables.table("record"))
            WHERE database = ?1 GROUP BY zone_owner, zone_name
            """, [.text(key.column)]
        ) { (ZoneName($0), Int($0.int64(at: 2)), Int($0.int64(at: 3))) }
    }

    private func records(_ name: ZoneName, _ key: DatabaseKey) throws -> [Inspection.Record] {
        try tables.rows(
            """
            SELECT record_name, record_type, change_tag, owner_count, generation FROM \(tables.table("record"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 ORDER BY record_name, generation LIMIT ?4
            """,
            [.text(key.column), .text(name.owner), .text(name.name), .integer(Int64(limits.recordsMax))]
        ) {
            Inspection.Record(
                recordName: $0.text(at: 0), recordType: $0.text(at: 1),
                changeTag: $0.isNull(at: 2) ? nil : $0.text(at: 2), ownerCount: $0.int64(at: 3),
                generation: $0.int64(at: 4))
        }
    }

    private func checksums(
        _ key: DatabaseKey
    ) throws -> [(ZoneName, ZoneChecksum?, ChecksumTables.Differences)] {
        let names = try tables.rows(
            "SELECT zone_owner, zone_name FROM \(tables.table("checksum")) WHERE database = ?1",
            [.text(key.column)]
        ) { ZoneName($0) }
        return try names.map { name in
            (
                name, try tables.checksums.checksum(name.zoneID, key),
                try tables.checksums.differences(name.zoneID, key)
            )
        }
    }

    private func stashedCount(_ key: DatabaseKey) throws -> Int {
        let sql = "SELECT count(*) FROM \(tables.table("stash")) WHERE database = ?1"
        return try tables.rows(sql, [.text(key.column)]) { Int($0.int64(at: 0)) }.first ?? 0
    }

    private func stashed(_ key: DatabaseKey) throws -> [(ZoneName, Inspection.Record)] {
        try tables.rows(
            """
            SELECT zone_owner, zone_name, record_name, record_type, change_tag FROM \(tables.table("stash"))
            WHERE database = ?1 ORDER BY record_name LIMIT ?2
            """, [.text(key.column), .integer(Int64(limits.stashedMax))]
        ) {
            let record = Inspection.Record(
                recordName: $0.text(at: 2), recordType: $0.text(at: 3),
                changeTag: $0.isNull(at: 4) ? nil : $0.text(at: 4))
            return (ZoneName($0), record)
        }
    }
}

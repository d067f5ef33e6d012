internal import CloudKit
internal import CloudWire
internal import SQLite

/// Tables of the extension. Each table has one owner, and only the owner writes it. This type has the statements that
/// read tables of several owners. All statements run in the app's own transaction.
struct CloudKitTables: SyncTable {
    let statements: SyncStatements

    let accounts: SyncAccountTables
    var records: MappingTables { MappingTables(statements: statements) }
    var queue: QueueTables { QueueTables(statements: statements) }
    var tokens: TokenTables { TokenTables(statements: statements) }
    var stash: StashTable { StashTable(statements: statements) }
    var checksums: ChecksumTables { ChecksumTables(statements: statements) }
    var queuedFiles: QueuedFileTable { QueuedFileTable(statements: statements) }
    var log: MergeLogTable { MergeLogTable(statements: statements) }
    var errors: KeptErrorTable { KeptErrorTable(statements: statements) }
    var registrations: RegistrationRows { RegistrationRows(statements: statements) }

    init(name: String, sqlite: Connection, texts: StatementTexts? = nil) {
        statements = SyncStatements(
            name: name, sqlite: sqlite, texts: texts ?? StatementTexts(name: name, database: sqlite.path))
        accounts = SyncAccountTables(statements)
    }

    static func tableNames(_ name: String) -> [String] {
        [
            "record", "mapping", "changeset", "change", "token", "stash", "log", "subscription", "user",
            "account",
            "count", "asset", "error", "refusal", "known", "checksum", "unread",
        ].map { "cloudKit_\($0)_\(name)" }
    }

    /// Returns true if any zone was fetched, or a version of any record is known.
    func hasFetched() throws -> Bool {
        try first(
            """
            SELECT 1 FROM \(table("token")) WHERE token IS NOT NULL OR full_fetch IS NOT NULL
            UNION ALL SELECT 1 FROM \(table("record")) WHERE change_tag IS NOT NULL LIMIT 1
            """
        ) { _ in true } ?? false
    }

    /// Returns the zones that were fetched, or with a record of which a version is known, and their databases.
    func knownZones() throws -> [(zoneID: CKRecordZone.ID, database: DatabaseKey)] {
        try rows(
            """
            SELECT database, zone_owner, zone_name FROM \(table("token"))
            WHERE token IS NOT NULL OR full_fetch IS NOT NULL
            UNION SELECT database, zone_owner, zone_name FROM \(table("record")) WHERE change_tag IS NOT NULL
            ORDER BY database, zone_owner, zone_name
            """
        ) {
            (
                CKRecordZone.ID(zoneName: $0.text(at: 2), ownerName: $0.text(at: 1)),
                DatabaseKey(column: $0.text(at: 0))
            )
        }
    }

    /// Notes that a record became known otherwise than by a fetch of its zone. If a full fetch is about to begin, it
    /// will show whether the server still has the record.
    func noteKnown(_ recordID: CKRecord.ID, _ database: DatabaseKey) throws {
        let mayBeGone =
            try tokens.fullFetch(recordID.zoneID, database) != nil
            && tokens.token(recordID.zoneID, database) == nil
        if mayBeGone {
            try records.markUnseen(recordID, database)
        } else {
            try records.markSeen(recordID, database)
        }
    }
}

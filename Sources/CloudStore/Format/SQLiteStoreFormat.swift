import SQLite

/// The tables of a store's file, and how a file is recognized. `docs/DISK_FORMAT.md` describes the columns.
enum SQLiteStoreFormat: SQLiteFileFormat {
    /// "YapC" in ASCII, in the file's header, where `file` and other tools see it.
    static let applicationID: Int64 = 0x5961_7043
    /// Format version. It grows when the previous version of the program can't read the file.
    static let version: Int64 = 13

    /// Makes the tables in a new file, and upgrades an older file to this version.
    static func prepare(_ connection: Connection, path: String) throws {
        try connection.transaction(.immediate) {
            if try !isPrepared(connection, path: path) {
                try connection.execute("PRAGMA application_id = \(applicationID)")
                try connection.execute(firstSchema)
            }
            let found = try value(of: "PRAGMA user_version", connection)
            if found < 2 { try connection.execute(secondSchema) }
            if found < 3 {
                let added = [schemaTables, indexTables, assetTables, notificationTables]
                for tables in added where !tables.isEmpty {
                    try connection.execute(tables)
                }
            }
            if found < 4 { try connection.execute(checksumColumns) }
            if found < 5 { try connection.execute(placeTables) }
            if found < 6 { try connection.execute(ageColumns) }
            if found < 7 { try connection.execute(answerTables) }
            if found < 8 { try connection.execute(rowColumns) }
            if found < 9 { try connection.execute(indexColumns) }
            if found < 10 { try connection.execute(clearingColumns) }
            if found < 11 { try connection.execute(indexesAnew) }
            if found < 12 { try connection.execute(namesCounted) }
            if found < 13 { try connection.execute(largeFieldsTable) }
            if found < version { try connection.execute("PRAGMA user_version = \(version)") }
        }
    }

    /// Rejects a file of an earlier version, which has other tables.
    ///
    /// - Throws: `CloudStoreError.olderFormat`.
    static func checkCurrent(_ connection: Connection, path: String) throws {
        let found = try CloudStoreError.translating(path: path) {
            try value(of: "PRAGMA user_version", connection)
        }
        guard found >= version else { throw CloudStoreError.olderFormat(path: path, version: found) }
    }

    // Keys start with the database's scope and owner, then the zone: the rows of one user are one contiguous range of
    // each table. The index on the counters is the change log. Zones without a feed have the counter 0 and aren't in
    // it.
    private static let firstSchema = """
        CREATE TABLE databases (
            scope INTEGER NOT NULL, owner TEXT NOT NULL,
            epoch INTEGER NOT NULL, counter INTEGER NOT NULL,
            PRIMARY KEY (scope, owner)
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE zones (
            scope INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL,
            epoch INTEGER NOT NULL, counter INTEGER NOT NULL, tombstoneFloor INTEGER NOT NULL,
            databaseCounter INTEGER NOT NULL, isDeleted INTEGER NOT NULL,
            PRIMARY KEY (scope, owner, zone)
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX zoneChanges ON zones (scope, owner, databaseCounter, zone);
        CREATE TABLE records (
            scope INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL, name TEXT NOT NULL,
            type TEXT NOT NULL, isDeleted INTEGER NOT NULL,
            tagEpoch INTEGER NOT NULL, counter INTEGER NOT NULL, parent TEXT,
            createdMilliseconds INTEGER NOT NULL, createdUser TEXT NOT NULL, createdDevice TEXT NOT NULL,
            modifiedMilliseconds INTEGER NOT NULL, modifiedUser TEXT NOT NULL, modifiedDevice TEXT NOT NULL,
            fields BLOB NOT NULL,
            PRIMARY KEY (scope, owner, zone, name)
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX recordChanges ON records (scope, owner, zone, counter, isDeleted) WHERE counter > 0;
        CREATE TABLE recordReferences (
            scope INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL, target TEXT NOT NULL,
            source TEXT NOT NULL, kind INTEGER NOT NULL,
            PRIMARY KEY (scope, owner, zone, target, source, kind)
        ) WITHOUT ROWID, STRICT;
        """

    // Version 2 added kept answers. Their table has row numbers: they are written and discarded in the order of time,
    // so the answers of a group share a page.
    private static let secondSchema = """
        ALTER TABLE databases ADD COLUMN subscriptions INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX referenceSources ON recordReferences (scope, owner, zone, source);
        CREATE TABLE subscriptions (
            scope INTEGER NOT NULL, owner TEXT NOT NULL, user TEXT NOT NULL, id TEXT NOT NULL,
            zone TEXT, content BLOB NOT NULL,
            PRIMARY KEY (scope, owner, user, id)
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE devices (
            user TEXT NOT NULL, device TEXT NOT NULL,
            token TEXT NOT NULL, environment TEXT NOT NULL, seenMilliseconds INTEGER NOT NULL,
            PRIMARY KEY (user, device)
        ) WITHOUT ROWID, STRICT;
        CREATE UNIQUE INDEX deviceTokens ON devices (token);
        CREATE INDEX devicesSeen ON devices (seenMilliseconds);
        CREATE TABLE pushTasks (
            scope INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL,
            makerUser TEXT, makerDevice TEXT,
            PRIMARY KEY (scope, owner, zone)
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE pushes (
            user TEXT NOT NULL, device TEXT NOT NULL,
            scope INTEGER NOT NULL, owner TEXT NOT NULL, subscription TEXT NOT NULL,
            notification TEXT NOT NULL, atMilliseconds INTEGER NOT NULL,
            PRIMARY KEY (user, device, scope, owner, subscription)
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX pushesMade ON pushes (atMilliseconds);
        CREATE TABLE answers (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL, owner TEXT NOT NULL, user TEXT NOT NULL, operation TEXT NOT NULL,
            requestHash BLOB NOT NULL, atMilliseconds INTEGER NOT NULL, answer BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX answersByOperation ON answers (scope, owner, user, operation);
        """
}

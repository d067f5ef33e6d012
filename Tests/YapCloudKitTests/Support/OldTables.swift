import SQLite

/// Makes of a device's file what an earlier version of the library would have left: the same content in the tables
/// of that time. All of it must belong to the first account, which they couldn't tell from others.
enum OldTables {
    static func rewrite(_ path: String, name: String, toVersion version: Int) throws {
        let sqlite = try Connection(path: path)
        try sqlite.execute("BEGIN")
        try toVersion4(sqlite, name)
        if version < 4 { try toVersion3(sqlite, name) }
        if version < 3 { try toVersion2(sqlite, name) }
        if version < 2 {
            try sqlite.execute("DROP TABLE cloudKit_subscription_\(name); DROP TABLE cloudKit_user_\(name)")
        }
        try sqlite.execute(
            """
            UPDATE yap2 SET data = CAST('\(version)' AS BLOB)
            WHERE extension = '\(name)' AND key = 'classVersion'; COMMIT
            """)
        try sqlite.close()
    }

    private static func toVersion4(_ sqlite: Connection, _ name: String) throws {
        try sqlite.execute(
            """
            ALTER TABLE cloudKit_token_\(name) DROP COLUMN is_unread_complete;
            ALTER TABLE cloudKit_changeset_\(name) DROP COLUMN name_series;
            DROP TABLE cloudKit_unread_\(name);
            """)
    }

    private static func toVersion3(_ sqlite: Connection, _ name: String) throws {
        try sqlite.execute(
            """
            DROP TRIGGER "cloudKit_known_\(name)_record_delete";
            DROP TRIGGER "cloudKit_row_hash_\(name)_change_insert";
            DROP TABLE cloudKit_known_\(name);
            DROP TABLE cloudKit_checksum_\(name);
            ALTER TABLE cloudKit_changeset_\(name) DROP COLUMN judgements;
            ALTER TABLE cloudKit_record_\(name) DROP COLUMN identity;
            ALTER TABLE cloudKit_record_\(name) DROP COLUMN content;
            ALTER TABLE cloudKit_record_\(name) DROP COLUMN row_hash;
            """)
    }

    private static func toVersion2(_ sqlite: Connection, _ name: String) throws {
        for kind in ["record", "changeset", "token", "stash", "subscription", "user"] {
            try sqlite.execute("UPDATE cloudKit_\(kind)_\(name) SET database = substr(database, 2)")
        }
        // The indexes and triggers go with their tables.
        try sqlite.execute(
            """
            CREATE TEMP TABLE sets AS SELECT sequence, uuid, database FROM cloudKit_changeset_\(name);
            CREATE TEMP TABLE changes AS
                SELECT id, sequence, record, kind, fields, originals, refusal FROM cloudKit_change_\(name);
            DROP TABLE cloudKit_changeset_\(name);
            DROP TABLE cloudKit_change_\(name);
            DROP TABLE cloudKit_count_\(name);
            DROP TABLE cloudKit_account_\(name);
            DROP TABLE cloudKit_asset_\(name);
            ALTER TABLE cloudKit_mapping_\(name) DROP COLUMN name_hash;
            CREATE TABLE cloudKit_changeset_\(name) (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, database TEXT NOT NULL);
            CREATE TABLE cloudKit_change_\(name) (
                id INTEGER PRIMARY KEY AUTOINCREMENT, sequence INTEGER NOT NULL, record INTEGER NOT NULL,
                kind INTEGER NOT NULL, fields BLOB NOT NULL, originals BLOB NOT NULL, refusal INTEGER,
                UNIQUE (sequence, record));
            CREATE INDEX "cloudKit_change_\(name)_record" ON cloudKit_change_\(name) (record);
            INSERT INTO cloudKit_changeset_\(name) SELECT * FROM sets;
            INSERT INTO cloudKit_change_\(name) SELECT * FROM changes;
            """)
    }
}

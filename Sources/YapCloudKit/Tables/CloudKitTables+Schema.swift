internal import SQLite

/// The tables' columns and indexes, and the upgrade from earlier versions.
extension CloudKitTables {
    /// Upgrades the tables of an earlier version, in the transaction of the registration.
    func upgrade(from version: Int) throws {
        if version < 2 { try createSubscriptions() }
        if version < 3 { try upgradeToAccounts() }
        if version < 4 { try checksums.createChecksums() }
        if version < 5 { try tokens.createUnreadFields() }
        try errors.createErrors()
        try queue.createQuarantineReasons()
        try indexUnanswered()
        try addNameSeries()
        try tokens.indexWanted()
    }

    /// Creates the tables. Index names include the registered name, because one file may have several registrations.
    func create() throws {
        try sqlite.execute(
            """
            CREATE TABLE \(table("record")) (
                id INTEGER PRIMARY KEY AUTOINCREMENT, database TEXT NOT NULL, zone_owner TEXT NOT NULL,
                zone_name TEXT NOT NULL, record_name TEXT NOT NULL, generation INTEGER NOT NULL,
                record_type TEXT NOT NULL, change_tag TEXT, system BLOB NOT NULL, owner_count INTEGER NOT NULL,
                wants_deletion INTEGER NOT NULL, unseen INTEGER NOT NULL,
                UNIQUE (database, zone_owner, zone_name, record_name, generation));
            CREATE TABLE \(table("mapping")) (
                rowid INTEGER PRIMARY KEY, record INTEGER NOT NULL, name_hash INTEGER);
            CREATE INDEX \(quoted("cloudKit_mapping_\(name)_record")) ON \(table("mapping")) (record);
            CREATE TABLE \(table("changeset")) (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, database TEXT NOT NULL,
                in_flight INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE \(table("token")) (
                database TEXT NOT NULL, zone_owner TEXT NOT NULL, zone_name TEXT NOT NULL, token TEXT,
                full_fetch TEXT, PRIMARY KEY (database, zone_owner, zone_name)) WITHOUT ROWID;
            CREATE TABLE \(table("stash")) (
                database TEXT NOT NULL, zone_owner TEXT NOT NULL, zone_name TEXT NOT NULL,
                record_name TEXT NOT NULL, record_type TEXT NOT NULL, change_tag TEXT, system BLOB NOT NULL,
                fields BLOB NOT NULL, PRIMARY KEY (database, zone_owner, zone_name, record_name)) WITHOUT ROWID;
            CREATE TABLE \(table("log")) (
                id INTEGER PRIMARY KEY AUTOINCREMENT, zone_owner TEXT NOT NULL, zone_name TEXT NOT NULL,
                record_name TEXT NOT NULL, field TEXT, rule TEXT NOT NULL, field_values BLOB NOT NULL);
            """)
        try createSubscriptions()
        try createChanges()
        try createAccounts()
        try createCounts()
        try queuedFiles.createAssets()
        try errors.createErrors()
        try queue.createQuarantineReasons()
        try checksums.createChecksums()
        try tokens.createUnreadFields()
        try indexUnanswered()
        try addNameSeries()
        try tokens.indexWanted()
    }

    /// Creates an index of the change-sets that were sent without a response. An app that fetches by itself reads them
    /// for each page, and they are few among the pending ones.
    private func indexUnanswered() throws {
        try sqlite.execute(
            """
            CREATE INDEX IF NOT EXISTS \(quoted("cloudKit_changeset_\(name)_unanswered"))
                ON \(table("changeset")) (database) WHERE in_flight <> 0;
            """)
    }

    /// Adds the column, which is younger than the others of version 5, to files that were created without it. Earlier
    /// versions of the app don't change it.
    private func addNameSeries() throws {
        let found = try first(
            "SELECT 1 FROM pragma_table_info(?1) WHERE name = 'name_series'",
            [.text("cloudKit_changeset_\(name)")]
        ) { _ in true }
        guard found == nil else { return }
        try sqlite.execute(
            "ALTER TABLE \(table("changeset")) ADD COLUMN name_series INTEGER NOT NULL DEFAULT 0;")
    }

    /// Since version 2: the subscriptions that were saved in databases of the cloud, and the users that have changes in
    /// the queue.
    private func createSubscriptions() throws {
        try sqlite.execute(
            """
            CREATE TABLE \(table("subscription")) (
                database TEXT PRIMARY KEY, subscription_id TEXT NOT NULL) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS \(table("user")) (
                database TEXT PRIMARY KEY, user_record_name TEXT NOT NULL) WITHOUT ROWID;
            """)
    }

    /// Creates the changes' table as in version 3: with an order within the change-set, and the rows that hold values
    /// which aren't stored.
    private func createChanges() throws {
        try sqlite.execute(
            """
            CREATE TABLE \(table("change")) (
                id INTEGER PRIMARY KEY AUTOINCREMENT, sequence INTEGER NOT NULL, record INTEGER NOT NULL,
                kind INTEGER NOT NULL, fields BLOB NOT NULL, originals BLOB NOT NULL, refusal INTEGER,
                ordinal INTEGER NOT NULL DEFAULT 0, restore BLOB, UNIQUE (record, sequence));
            CREATE INDEX \(quoted("cloudKit_change_\(name)_order")) ON \(table("change")) (sequence, ordinal);
            CREATE INDEX \(quoted("cloudKit_change_\(name)_special")) ON \(table("change")) (record)
                WHERE restore IS NOT NULL OR refusal IS NOT NULL;
            CREATE INDEX \(quoted("cloudKit_changeset_\(name)_database"))
                ON \(table("changeset")) (database, sequence);
            """)
    }

    /// Since version 3: the users that have changes and records in the file. One of them is the current user.
    private func createAccounts() throws {
        try sqlite.execute(
            """
            CREATE TABLE \(table("account")) (id INTEGER PRIMARY KEY AUTOINCREMENT, is_current INTEGER NOT NULL);
            INSERT INTO \(table("account")) (id, is_current) VALUES (\(DatabaseKey.firstAccount), 1);
            """)
    }

    /// Since version 3: numbers of pending changes by database. Triggers keep them correct for every writer.
    private func createCounts() throws {
        let count = table("count")
        let change = table("change")
        let changeset = table("changeset")
        func trigger(_ event: String, _ on: String, _ body: String) -> String {
            let words = event.lowercased().split(separator: " ").joined(separator: "_")
            let trigger = quoted("cloudKit_count_\(name)_\(on)_\(words)")
            return "CREATE TRIGGER \(trigger) AFTER \(event) ON \(table(on)) BEGIN \(body) END;"
        }
        func ofSequence(_ row: String) -> String {
            "WHERE database = (SELECT database FROM \(changeset) WHERE sequence = \(row).sequence)"
        }
        try sqlite.execute(
            """
            CREATE TABLE \(count) (
                database TEXT PRIMARY KEY, changesets INTEGER NOT NULL, changes INTEGER NOT NULL,
                refused INTEGER NOT NULL, in_flight INTEGER NOT NULL) WITHOUT ROWID;
            INSERT INTO \(count)
                SELECT s.database, count(DISTINCT s.sequence), count(c.id) - count(c.refusal), count(c.refusal), 0
                FROM \(changeset) AS s LEFT JOIN \(change) AS c ON c.sequence = s.sequence GROUP BY s.database;
            """
                + trigger(
                    "INSERT", "changeset",
                    """
                    INSERT INTO \(count) VALUES (NEW.database, 1, 0, 0, NEW.in_flight = 1)
                        ON CONFLICT DO UPDATE SET
                            changesets = changesets + 1, in_flight = in_flight + (NEW.in_flight = 1);
                    """)
                + trigger(
                    "DELETE", "changeset",
                    """
                    UPDATE \(count) SET changesets = changesets - 1, in_flight = in_flight - (OLD.in_flight = 1)
                        WHERE database = OLD.database;
                    """)
                + trigger(
                    "UPDATE OF in_flight", "changeset",
                    """
                    UPDATE \(count) SET in_flight = in_flight - (OLD.in_flight = 1) + (NEW.in_flight = 1)
                        WHERE database = NEW.database;
                    """)
                + trigger(
                    "INSERT", "change",
                    """
                    UPDATE \(count) SET changes = changes + (NEW.refusal IS NULL),
                        refused = refused + (NEW.refusal IS NOT NULL) \(ofSequence("NEW"));
                    """)
                + trigger(
                    "DELETE", "change",
                    """
                    UPDATE \(count) SET changes = changes - (OLD.refusal IS NULL),
                        refused = refused - (OLD.refusal IS NOT NULL) \(ofSequence("OLD"));
                    """)
                + trigger(
                    "UPDATE OF refusal", "change",
                    """
                    UPDATE \(count)
                        SET changes = changes - (OLD.refusal IS NULL) + (NEW.refusal IS NULL),
                        refused = refused - (OLD.refusal IS NOT NULL) + (NEW.refusal IS NOT NULL)
                        \(ofSequence("NEW"));
                    """))
    }

    /// Upgrades from version 2: all rows belong to the first account, and changes get new columns and indexes.
    private func upgradeToAccounts() throws {
        for kind in ["record", "changeset", "token", "stash", "subscription", "user"] {
            try sqlite.execute(
                "UPDATE \(table(kind)) SET database = '\(DatabaseKey.firstAccount)' || database")
        }
        try sqlite.execute(
            """
            ALTER TABLE \(table("mapping")) ADD COLUMN name_hash INTEGER;
            ALTER TABLE \(table("changeset")) ADD COLUMN in_flight INTEGER NOT NULL DEFAULT 0;
            CREATE TEMP TABLE cloudKit_upgrade AS SELECT * FROM \(table("change"));
            DROP TABLE \(table("change"));
            """)
        try createChanges()
        try sqlite.execute(
            """
            INSERT INTO \(table("change")) (id, sequence, record, kind, fields, originals, refusal)
                SELECT id, sequence, record, kind, fields, originals, refusal FROM temp.cloudKit_upgrade ORDER BY id;
            DROP TABLE temp.cloudKit_upgrade;
            """)
        try createAccounts()
        try createCounts()
        try queuedFiles.createAssets()
    }
}

/// Files of a server as earlier versions made them.
public enum OlderFormat {
    /// Brings a store's file of this version to what version 12 would have written: fields are in the rows of records.
    public static let storeTwelve = """
        UPDATE records SET fields = (SELECT l.fields FROM largeFields AS l WHERE l.id = fieldsRow)
            WHERE fieldsRow IS NOT NULL;
        ALTER TABLE records DROP COLUMN fieldsRow;
        DROP TABLE largeFields;
        PRAGMA user_version = 12;
        """

    /// A control file as version 2 made it, with the account ann and an app's token, whose digest is `token` in
    /// hexadecimal digits.
    public static func controlTwo(token: String) -> String {
        """
        PRAGMA application_id = \(0x5961_7053);
        PRAGMA user_version = 2;
        CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT;
        CREATE TABLE containers (
            identifier TEXT PRIMARY KEY, createdMilliseconds INTEGER NOT NULL
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE accounts (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE COLLATE NOCASE, key BLOB NOT NULL,
            givenName TEXT, familyName TEXT, passwordHash TEXT NOT NULL, createdMilliseconds INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE apiTokens (
            digest BLOB PRIMARY KEY, container TEXT NOT NULL, name TEXT NOT NULL,
            createdMilliseconds INTEGER NOT NULL, UNIQUE (container, name)
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE sessions (
            digest BLOB PRIMARY KEY, account INTEGER NOT NULL, container TEXT NOT NULL,
            environment TEXT NOT NULL, createdMilliseconds INTEGER NOT NULL,
            expiresMilliseconds INTEGER NOT NULL
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX sessionsOfAccount ON sessions (account, createdMilliseconds);
        CREATE INDEX sessionsByEnd ON sessions (expiresMilliseconds);
        CREATE TABLE signInTries (
            digest BLOB PRIMARY KEY, failures INTEGER NOT NULL, lastMilliseconds INTEGER NOT NULL,
            openMilliseconds INTEGER NOT NULL
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX signInTriesByTime ON signInTries (lastMilliseconds);
        ALTER TABLE accounts ADD COLUMN email TEXT COLLATE NOCASE;
        CREATE UNIQUE INDEX accountsByEmail ON accounts (email) WHERE email IS NOT NULL;
        CREATE TABLE discoverable (
            container TEXT NOT NULL, user TEXT NOT NULL, account INTEGER NOT NULL, isListed INTEGER NOT NULL,
            PRIMARY KEY (container, user)
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX discoverableAccounts ON discoverable (account, container);
        ALTER TABLE apiTokens ADD COLUMN origins TEXT;
        ALTER TABLE apiTokens ADD COLUMN callback TEXT;
        ALTER TABLE apiTokens ADD COLUMN notes TEXT;
        ALTER TABLE sessions ADD COLUMN lifeMilliseconds INTEGER;
        ALTER TABLE sessions ADD COLUMN step INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN stepMilliseconds INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE serverKeys (
            id TEXT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL, name TEXT NOT NULL,
            publicKey BLOB NOT NULL, createdMilliseconds INTEGER NOT NULL, UNIQUE (container, environment, name)
        ) WITHOUT ROWID, STRICT;
        INSERT INTO secrets VALUES ('userRecordName', zeroblob(32));
        INSERT INTO containers VALUES ('iCloud.com.example.todo', 1);
        INSERT INTO accounts VALUES (1, 'ann', zeroblob(16), NULL, NULL, 'hash', 1, 'ann@example.com');
        INSERT INTO apiTokens VALUES (x'\(token)', 'iCloud.com.example.todo', 'app', 1, NULL, NULL, NULL);
        """
    }

    /// A file as version 1 made it, with a zone, a reference and a record, whose fields are the bytes `fields`, in
    /// hexadecimal digits.
    public static func one(fields: String) -> String {
        """
        PRAGMA application_id = \(0x5961_7043);
        PRAGMA user_version = 1;
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
        INSERT INTO databases VALUES (2, '_ada', 11, 12);
        INSERT INTO zones VALUES (2, '_ada', 'todos', 21, 22, 0, 12, 0);
        INSERT INTO records VALUES (2, '_ada', 'todos', 'a', 'todo', 0, -2, 22, NULL, 1700000000000, '_ada',
            'phone', 1700000000000, '_ada', 'phone', x'\(fields)');
        INSERT INTO recordReferences VALUES (2, '_ada', 'todos', 'b', 'a', 1);
        """
    }
}

import SQLite

/// The tables of the control file, and how a file is recognized. `docs/DISK_FORMAT.md` describes the columns.
enum ControlFormat: SQLiteFileFormat {
    /// "YapS" in ASCII, for server, in the file's header.
    static let applicationID: Int64 = 0x5961_7053
    /// Format version. It grows when the previous version of the program can't read the file.
    static let version: Int64 = 3

    /// Upgrades an older file to this version. Call it in a write transaction.
    static func upgrade(_ connection: Connection) throws {
        let found = try value(of: "PRAGMA user_version", connection)
        for step in steps where found < step.version { try connection.execute(step.sql) }
        if found < version { try connection.execute("PRAGMA user_version = \(version)") }
        // Earlier versions of this program work without these tables, so the format version stays.
        let tables = [
            tryTable, removalTable, signInTable, folderTable, disabledTable, AdministrationFormat.tables,
        ]
        for table in tables { try connection.execute(table) }
        for column in ["address", "client"] { try addColumn(column, to: "sessions", connection) }
    }

    /// Adds a column that earlier versions of this program don't use.
    private static func addColumn(_ column: String, to table: String, _ connection: Connection) throws {
        let sql = "SELECT count(*) FROM pragma_table_info('\(table)') WHERE name = '\(column)'"
        guard try value(of: sql, connection) == 0 else { return }
        try connection.execute("ALTER TABLE \(table) ADD COLUMN \(column) TEXT")
    }

    /// SQL that upgrades from the previous version.
    private static let steps: [(version: Int64, sql: String)] = [
        (2, accountTables), (2, keyTables), (3, environmentColumns),
    ]

    /// Version 2 added email addresses of accounts, and the users that others can find.
    static let accountTables = """
        ALTER TABLE accounts ADD COLUMN email TEXT COLLATE NOCASE;
        CREATE UNIQUE INDEX accountsByEmail ON accounts (email) WHERE email IS NOT NULL;
        CREATE TABLE discoverable (
            container TEXT NOT NULL, user TEXT NOT NULL, account INTEGER NOT NULL, isListed INTEGER NOT NULL,
            PRIMARY KEY (container, user)
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX discoverableAccounts ON discoverable (account, container);
        """
    /// Version 2 added origins of tokens, lifetimes of sessions, and keys of servers.
    static let keyTables = """
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
        """

    /// Version 3 added environments of tokens and developers. Existing tokens are valid in both environments.
    static let environmentColumns = """
        ALTER TABLE apiTokens ADD COLUMN environments TEXT NOT NULL DEFAULT 'both';
        ALTER TABLE accounts ADD COLUMN isDeveloper INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX developers ON accounts (id) WHERE isDeveloper = 1;
        """

    /// Recent failed sign-ins, by the digest of the account or the address.
    static let tryTable = """
        CREATE TABLE IF NOT EXISTS signInTries (
            digest BLOB PRIMARY KEY, failures INTEGER NOT NULL, lastMilliseconds INTEGER NOT NULL,
            openMilliseconds INTEGER NOT NULL
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX IF NOT EXISTS signInTriesByTime ON signInTries (lastMilliseconds);
        """

    /// Places from which accounts were signed in to.
    static let signInTable = """
        CREATE TABLE IF NOT EXISTS signIns (
            account INTEGER NOT NULL, network TEXT NOT NULL, address TEXT NOT NULL, client TEXT,
            lastMilliseconds INTEGER NOT NULL, PRIMARY KEY (account, network)
        ) WITHOUT ROWID, STRICT;
        """

    /// Disabled accounts, each with its password hash. In `accounts` they have a hash that no password fits.
    static let disabledTable = """
        CREATE TABLE IF NOT EXISTS disabledAccounts (
            account INTEGER PRIMARY KEY, passwordHash TEXT NOT NULL
        ) STRICT;
        """

    /// Removals in progress. An empty environment means the whole container.
    static let removalTable = """
        CREATE TABLE IF NOT EXISTS removals (
            number INTEGER PRIMARY KEY AUTOINCREMENT, container TEXT NOT NULL, environment TEXT NOT NULL,
            startedMilliseconds INTEGER NOT NULL, UNIQUE (container, environment)
        ) STRICT;
        """

    /// Identity and number of the folder: `FolderMark`. One row, or none in a folder that an earlier version has made.
    static let folderTable =
        "CREATE TABLE IF NOT EXISTS folder (id INTEGER NOT NULL, mark INTEGER NOT NULL) STRICT"

    /// Tokens are found by their digest. The file doesn't have the tokens themselves.
    static let schema = """
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = 1;
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
        """
}

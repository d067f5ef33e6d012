import SQLite

/// The tables of the control file, and how a file is known to be one. `docs/DISK_FORMAT.md` tells the columns.
enum ControlFormat {
    /// "YapS" in ASCII, for server: SQLite keeps it in the file's header.
    static let applicationID: Int64 = 0x5961_7053
    /// Grows when a file of this version can't be read by the one before.
    static let version: Int64 = 3

    /// Whether the tables are there; false in a new file.
    ///
    /// - Throws: `CloudStoreError` for a file that another program has made, or a newer version of this one.
    static func isPrepared(_ connection: Connection, path: String) throws -> Bool {
        let applicationID = try value(of: "PRAGMA application_id", connection)
        let version = try value(of: "PRAGMA user_version", connection)
        let tables = try value(of: "SELECT count(*) FROM sqlite_schema", connection)
        if applicationID == 0 && version == 0 && tables == 0 { return false }
        guard applicationID == Self.applicationID else { throw CloudStoreError.foreignFile(path: path) }
        guard version <= Self.version else { throw CloudStoreError.newerFormat(path: path, version: version) }
        return true
    }

    static func value(of sql: String, _ connection: Connection) throws -> Int64 {
        try connection.withStatement(sql) { try $0.step() ? $0.int64(at: 0) : 0 }
    }

    /// Brings an older file to this version. Call it in a write transaction.
    static func upgrade(_ connection: Connection) throws {
        let found = try value(of: "PRAGMA user_version", connection)
        for step in steps where found < step.version { try connection.execute(step.sql) }
        if found < version { try connection.execute("PRAGMA user_version = \(version)") }
        // An earlier version of this program gets on without these, so they are no other version of the file.
        let tables = [
            tryTable, removalTable, signInTable, folderTable, disabledTable, AdministrationFormat.tables,
        ]
        for table in tables { try connection.execute(table) }
        for column in ["address", "client"] { try addColumn(column, to: "sessions", connection) }
    }

    /// Adds a column that an earlier version of this program doesn't ask for.
    private static func addColumn(_ column: String, to table: String, _ connection: Connection) throws {
        let sql = "SELECT count(*) FROM pragma_table_info('\(table)') WHERE name = '\(column)'"
        guard try value(of: sql, connection) == 0 else { return }
        try connection.execute("ALTER TABLE \(table) ADD COLUMN \(column) TEXT")
    }

    /// What each version adds to the one before.
    private static let steps: [(version: Int64, sql: String)] = [
        (2, accountTables), (2, keyTables), (3, environmentColumns),
    ]

    /// What version 2 adds to accounts: addresses, and where their names may be found.
    static let accountTables = """
        ALTER TABLE accounts ADD COLUMN email TEXT COLLATE NOCASE;
        CREATE UNIQUE INDEX accountsByEmail ON accounts (email) WHERE email IS NOT NULL;
        CREATE TABLE discoverable (
            container TEXT NOT NULL, user TEXT NOT NULL, account INTEGER NOT NULL, isListed INTEGER NOT NULL,
            PRIMARY KEY (container, user)
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX discoverableAccounts ON discoverable (account, container);
        """
    /// What version 2 adds to sign in with: origins of tokens, lives of sessions, keys of servers.
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

    /// What version 3 adds: which environments a token is good in, and who may use development. Tokens of before are
    /// good in both.
    static let environmentColumns = """
        ALTER TABLE apiTokens ADD COLUMN environments TEXT NOT NULL DEFAULT 'both';
        ALTER TABLE accounts ADD COLUMN isDeveloper INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX developers ON accounts (id) WHERE isDeveloper = 1;
        """

    /// Sign-ins that failed lately, by what they are counted for.
    static let tryTable = """
        CREATE TABLE IF NOT EXISTS signInTries (
            digest BLOB PRIMARY KEY, failures INTEGER NOT NULL, lastMilliseconds INTEGER NOT NULL,
            openMilliseconds INTEGER NOT NULL
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX IF NOT EXISTS signInTriesByTime ON signInTries (lastMilliseconds);
        """

    /// From where accounts were signed in to.
    static let signInTable = """
        CREATE TABLE IF NOT EXISTS signIns (
            account INTEGER NOT NULL, network TEXT NOT NULL, address TEXT NOT NULL, client TEXT,
            lastMilliseconds INTEGER NOT NULL, PRIMARY KEY (account, network)
        ) WITHOUT ROWID, STRICT;
        """

    /// Accounts with which nobody can sign in for now, each with the hash that it had: `accounts` has one that nothing
    /// fits.
    static let disabledTable = """
        CREATE TABLE IF NOT EXISTS disabledAccounts (
            account INTEGER PRIMARY KEY, passwordHash TEXT NOT NULL
        ) STRICT;
        """

    /// What is being removed; without an environment the whole container.
    static let removalTable = """
        CREATE TABLE IF NOT EXISTS removals (
            number INTEGER PRIMARY KEY AUTOINCREMENT, container TEXT NOT NULL, environment TEXT NOT NULL,
            startedMilliseconds INTEGER NOT NULL, UNIQUE (container, environment)
        ) STRICT;
        """

    /// Which folder the file belongs to, and how far that has come: `FolderMark`. One row, or none in a folder that an
    /// earlier version has made.
    static let folderTable =
        "CREATE TABLE IF NOT EXISTS folder (id INTEGER NOT NULL, mark INTEGER NOT NULL) STRICT"

    /// Tokens are found by their digest, and nothing in the file gives the token back.
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

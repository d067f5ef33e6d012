/// The tables of administrators in the control file. `docs/DISK_FORMAT.md` describes the columns.
///
/// An earlier version of the program works without them, so they don't change the version of the file.
enum AdministrationFormat {
    static let tables = """
        CREATE TABLE IF NOT EXISTS administrators (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE COLLATE NOCASE, role TEXT NOT NULL,
            passwordHash TEXT, createdMilliseconds INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS administratorSessions (
            digest BLOB PRIMARY KEY, administrator INTEGER NOT NULL, beganWithLink INTEGER NOT NULL,
            createdMilliseconds INTEGER NOT NULL, lastMilliseconds INTEGER NOT NULL, address TEXT NOT NULL,
            client TEXT
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX IF NOT EXISTS administratorSessionsByTime
            ON administratorSessions (administrator, createdMilliseconds);
        CREATE TABLE IF NOT EXISTS administratorLinks (
            administrator INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, expiresMilliseconds INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS audit (
            number INTEGER PRIMARY KEY AUTOINCREMENT, timeMilliseconds INTEGER NOT NULL,
            administrator TEXT NOT NULL, role TEXT NOT NULL, address TEXT NOT NULL, action TEXT NOT NULL,
            outcome TEXT NOT NULL, container TEXT, environment TEXT, database TEXT, user TEXT, zone TEXT,
            names BLOB NOT NULL, count INTEGER NOT NULL, requestID TEXT, note TEXT
        ) STRICT;
        CREATE INDEX IF NOT EXISTS auditByAdministrator ON audit (administrator COLLATE NOCASE, number);
        CREATE INDEX IF NOT EXISTS auditByContainer ON audit (container, number) WHERE container IS NOT NULL;
        CREATE INDEX IF NOT EXISTS auditSignIns ON audit (administrator COLLATE NOCASE, address)
            WHERE action = 'sign-in';
        """
}

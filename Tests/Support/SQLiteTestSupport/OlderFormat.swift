/// Files of a cloud's store as earlier versions made them.
public enum OlderFormat {
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

import CloudStore
import SQLite
import SQLiteTestSupport
import Testing

@Suite struct MigrationTests {
    /// A file as version 1 made it, with a zone, a record and a reference.
    private static let versionOne = """
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
            'phone', 1700000000000, '_ada', 'phone', x'010203');
        INSERT INTO recordReferences VALUES (2, '_ada', 'todos', 'b', 'a', 1);
        """

    @Test func aFileOfVersionOneIsBroughtToThisVersionWithAllThatIsInIt() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let connection = try Connection(path: path)
        try connection.execute(Self.versionOne)
        try connection.close()
        for _ in 1...2 {
            let store = try SQLiteCloudStore(path: path)
            let loaded = try store.load {
                $0.databases = [Rows.database]
                $0.zones = [Rows.zone]
                $0.records = [Rows.key("a")]
                $0.dependantsOf = [Rows.key("b")]
                $0.usageOf = [
                    UsageKey(scope: .privateDatabase, user: "_ada"),
                    UsageKey(scope: .publicDatabase, user: ""),
                ]
            }
            #expect(
                loaded.databases[Rows.database]
                    == DatabaseRow(key: Rows.database, epoch: 11, counter: 12, subscriptionCount: 0))
            #expect(loaded.zones[Rows.zone]?.counter == 22)
            #expect(loaded.records[Rows.key("a")] == Rows.record("a", counter: 22))
            #expect(loaded.dependants[Rows.key("b")]?.count == 1)
            #expect(
                loaded.usage == [
                    UsageKey(scope: .privateDatabase, user: "_ada"): UsageRow(
                        key: UsageKey(scope: .privateDatabase, user: "_ada"), records: 1, recordBytes: 3)
                ], "what was there is counted once")
            #expect(try store.integrityCheck() == [])
            try store.apply { $0.pushTasks = [PushTaskRow(zone: Rows.zone, maker: nil)] }
        }
        let new = folder.file("new.db")
        _ = try SQLiteCloudStore(path: new)
        #expect(try schema(of: path) == schema(of: new), "an old file ends as a new one begins")
    }

    private func schema(of path: String) throws -> [String] {
        let connection = try Connection(path: path)
        return try connection.withStatement(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
        ) {
            var lines: [String] = []
            while try $0.step() { lines.append($0.text(at: 0)) }
            return lines
        }
    }
}

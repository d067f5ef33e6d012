import CloudStore
import Foundation
import SQLite
import SQLiteTestSupport
import Testing

/// A store's file that an earlier version made, and that no server has opened since the upgrade.
@Suite(.timeLimit(.minutes(20))) struct OlderFormatTests {
    private static let todo = "iCloud.com.example.todo"

    @Test func aFileOfAnEarlierFormatIsSaidAndOpenedByTheCommandThatIsNamed() async throws {
        let folder = try TemporaryFolder()
        func yap(_ line: String) async throws -> YapProcess.Ended {
            try await YapProcess.shell("yap \(line)", in: folder)
        }
        #expect(try await yap("init --container \(Self.todo)").code == 0)
        let path = try DataFolder(path: folder.file("yap-data")).storePath(
            container: Self.todo, environment: "development", makesFolders: true)
        let connection = try Connection(path: path)
        try connection.execute(Self.formatOne)
        try connection.close()
        #expect(chmod(path, 0o600) == 0)

        let named = "yap schema export --container \(Self.todo) --environment development"
        let doctor = try await yap("doctor --port 0")
        #expect(doctor.code == 1 && doctor.output.contains("format 1"), "\(doctor.output) \(doctor.errors)")
        #expect(doctor.output.contains(named) && !doctor.output.contains("restore"), "\(doctor.output)")
        for line in ["stats", "zone list --container \(Self.todo)"] {
            let ended = try await yap(line)
            #expect(
                ended.code == 1 && ended.errors.contains("format 1 of an earlier version"), "\(ended.errors)")
            #expect(ended.errors.contains("yap schema export") && !ended.errors.contains("no such table"))
        }
        #expect(try await yap(String(named.dropFirst("yap ".count))).code == 0)
        #expect(try await yap("doctor --port 0").code == 0)
        let stats = try await yap("stats --json")
        #expect(stats.code == 0 && stats.output.contains("\"records\":1"), "\(stats.output)")
    }

    private static let formatOne = """
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
            'phone', 1700000000000, '_ada', 'phone', x'0100');
        INSERT INTO recordReferences VALUES (2, '_ada', 'todos', 'b', 'a', 1);
        """
}

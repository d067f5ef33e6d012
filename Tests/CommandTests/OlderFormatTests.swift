import CloudStore
import Foundation
import SQLite
import SQLiteTestSupport
import Testing

/// A store's file that an earlier version made, and that no server has opened since the upgrade.
@Suite struct OlderFormatTests {
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
        try connection.execute(OlderFormat.one(fields: "0100"))
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
}

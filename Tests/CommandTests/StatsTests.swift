import Foundation
import SQLiteTestSupport
import Testing

@testable import YapCommand

/// `yap stats` shows limits beside use, and who is full.
@Suite struct StatsTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @discardableResult
    private func done(_ line: String, code: Int32 = 0) async throws -> YapProcess.Ended {
        try await YapProcess.done(line, code: code, in: folder)
    }

    private func set(_ settings: String) throws {
        try Data(settings.utf8).write(to: URL(filePath: folder.file("yap-data/yap.json")))
    }

    private func full() async throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(
            with: Data(try await done("yap stats --json").output.utf8))
        return try #require((object as? [String: Any])?["full"] as? [[String: Any]])
    }

    @Test func whoIsFullIsNamedWithTheLimitOverBothEnvironments() async throws {
        try await done(
            "yap init --container \(Self.todo) && yap account create ann && yap account create bob")
        let ann = "--container \(Self.todo) --account ann"
        let text = "--set text=$(printf 'x%.0s' {1..5000})"
        try await done(
            "yap record save Note a \(ann) \(text) && yap schema deploy --container \(Self.todo) --yes")
        try await done("yap record save Note b \(ann) --environment production \(text)")
        try await done("yap record save Note a --container \(Self.todo) --account bob --set text=short")
        #expect(try await full().isEmpty)
        // Two records of 5,000 bytes, 1,200 of index entries, and 2,048 for each: in each environment alone it is half.
        try set(#"{"limits": {"privateBytesMax": 17500, "publicBytesBase": 30000, "publicBytesPerUser": 0}}"#)
        let found = try await full()
        #expect(found.count == 1)
        #expect(found.first?["account"] as? String == "ann")
        #expect(found.first?["limit"] as? String == "limits.privateBytesMax")
        #expect(found.first?["max"] as? Int == 17_500)
        let percent = try #require(found.first?["percent"] as? Int)
        #expect((90...99).contains(percent))
        let shown = try await done("yap stats").output
        #expect(shown.contains("full, or nearly, in \(Self.todo):"))
        #expect(shown.contains(/\nann +limits\.privateBytesMax +16\.\d kB +9\d % of 17\.5 kB/))
        #expect(shown.contains(/\nann +1 +6\.\d kB +9\d % of 17\.5 kB/), "\(shown)")
        #expect(shown.contains(/PUBLIC +OF\n.* 0 B +0 % of 30\.0 kB\n/), "\(shown)")
        // Told before it is so, and told of what refuses.
        let refused = try await done("yap record save Note c \(ann) --set text=short", code: 4)
        #expect(refused.errors.contains("Quota exceeded"), "\(refused.errors)")

        try set(#"{"limits": {"privateRecordsMax": 2}}"#)
        let records = try await full()
        #expect(records.map { $0["limit"] as? String } == ["limits.privateRecordsMax"])
        #expect(records.first?["percent"] as? Int == 100 && records.first?["used"] as? Int == 2)
        try await done("yap stats --container iCloud.com.example.tood", code: 3)
    }
}

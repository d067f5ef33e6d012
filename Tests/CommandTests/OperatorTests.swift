import CloudServer
import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLite
import SQLiteTestSupport
import Testing

@testable import YapCommand

/// What a person does who runs a server: settings, exports, counts, and looking for what is wrong.
@Suite struct OperatorTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @discardableResult
    private func done(_ line: String, code: Int32 = 0) async throws -> YapProcess.Ended {
        try await YapProcess.done(line, code: code, in: folder)
    }

    private func json(_ ended: YapProcess.Ended) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
    }

    // MARK: Settings

    @Test func theCommandLineOverridesTheFileAndTheFileTheDefaults() throws {
        var settings = ServeSettings()
        let file = #"{"port": 81, "host": "0.0.0.0", "metrics": true, "limits": {"recordBytesMax": 500}}"#
        try settings.read(file: "yap.json", Array(file.utf8))
        var line = Invocation()
        line.add("82", to: "port")
        line.add("limits.itemsMax=7", to: "set")
        try settings.read(line)
        let options = try settings.serverOptions()
        let values = Dictionary(
            uniqueKeysWithValues: settings.effective.map { ($0.setting.name, $0.value.text) })
        #expect(values["port"] == "82" && values["host"] == "\"0.0.0.0\"" && options.servesMetrics)
        #expect(options.limits.recordBytesMax == 500 && options.limits.itemsMax == 7)
        #expect(options.limits.nameBytesMax == ServiceLimits().nameBytesMax)
        let origins = Dictionary(
            uniqueKeysWithValues: settings.effective.map { ($0.setting.name, $0.origin) })
        #expect(origins["port"] == .commandLine && origins["limits.itemsMax"] == .commandLine)
        #expect(origins["host"] == .file("yap.json") && origins["limits.nameBytesMax"] == .ownDefault)
    }

    @Test(arguments: [
        ("{\n \"port\": 1,\n \"limts\": {\"itemsMax\": 3}\n}", 3, "limts.itemsMax"),
        ("{\n\"port\": \"x\"}", 2, "port"), ("{\"port\": 70000}", 1, "65535"),
        ("{\"limits\":\n{\"itemsMax\": -1}}", 2, "itemsMax"), ("{\"metrics\": 1}", 1, "true or false"),
        ("{\"port\": 1,\n\n\"port\": 2}", 3, ""), ("{\n", 2, ""), ("[]", 1, ""),
        ("{\"limits\": {}, \"publicURL\": 4}", 1, "publicURL"),
    ]) func aMistakeInTheFileIsNamedByItsLine(_ text: String, _ line: Int, _ word: String) {
        var settings = ServeSettings()
        let error = #expect(throws: Failure.self) { try settings.read(file: "a.json", Array(text.utf8)) }
        guard case .failed(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("a.json:\(line): ") && (word.isEmpty || reason.contains(word)), "\(reason)")
    }

    @Test func everySettingIsPrintedWithWhereItComesFrom() async throws {
        try await done("yap init --data d")
        try Data(#"{"logLinesMax": 99}"#.utf8).write(to: URL(filePath: folder.file("d/yap.json")))
        let ended = try await done("yap serve --data d --print-config --json --set limits.itemsMax=5")
        let rows = try #require(try json(ended)["settings"] as? [[String: Any]])
        #expect(rows.count == ServeSettings.all.count)
        func row(_ name: String) -> [String: Any]? { rows.first { $0["name"] as? String == name } }
        #expect(row("logLinesMax")?["value"] as? Int == 99)
        #expect(row("logLinesMax")?["from"] as? String == "d/yap.json")
        #expect(row("limits.itemsMax")?["from"] as? String == "command line")
        #expect(row("port")?["from"] as? String == "default")
        let text = try await done("yap serve --data d --print-config")
        #expect(text.output.contains(/logLinesMax +99 +number +16384 +d\/yap.json +queued log lines/))
        let wrong = try await done("yap serve --data d --set nothing=5", code: 2)
        #expect(wrong.errors.contains("nothing"))
    }

    // MARK: Data

    @Test func recordsAndZonesAreChangedBesideTheServerAndComeBackFromAnExport() async throws {
        try await done(
            "yap init --container \(Self.todo) && yap account create ann && yap account create bob")
        let server = try await ServeProcess(in: folder)
        let ann = "--container \(Self.todo) --account ann"
        try await done("yap zone create lists \(ann)")
        try await done(
            "yap record save Todo t1 \(ann) --zone lists --set title=Milk --set priority=4 --set 'tags=[\"a\",\"b\"]'"
        )
        try await done("yap record save Todo t2 \(ann) --zone lists --set title=Bread")
        try await done("yap record save Todo t1 \(ann) --zone lists --set priority=5 --unset tags")
        try await done("yap record delete t2 \(ann) --zone lists")
        let missing = try await done("yap record delete t2 \(ann) --zone lists", code: 3)
        #expect(missing.errors.contains("t2"))
        let wrong = try await done("yap record save Todo t1 \(ann) --zone lists --set priority=high", code: 4)
        #expect(wrong.errors.contains("priority"), "the schema holds: \(wrong.errors)")
        let found = try await done("yap record get t1 \(ann)")
        #expect(found.output.contains("priority=5  title=\"Milk\""))

        try await done("yap export ann.jsonl \(ann) && yap export all.jsonl --container \(Self.todo)")
        try await done("yap export ann.jsonl \(ann)", code: 4)
        #expect(try await server.end() == 0)
        let there = try await done("yap import ann.jsonl \(ann)", code: 1)
        #expect(there.errors.contains("--merge"))
        try await done("yap import ann.jsonl --container \(Self.todo) --account bob")
        let bob = try await done("yap export - --container \(Self.todo) --account bob")
        #expect(bob.output == (try String(contentsOfFile: folder.file("ann.jsonl"), encoding: .utf8)))

        // On another server, whose users have other record names.
        try await done("yap init --container \(Self.todo) --data other")
        let stranger = try await done("yap import all.jsonl --container \(Self.todo) --data other", code: 1)
        #expect(stranger.errors.contains("yap account create ann"))
        try await done("yap account create ann --data other")
        try await done("yap import all.jsonl --container \(Self.todo) --data other --json")
        let all = try await done("yap export - --container \(Self.todo) --data other")
        #expect(all.output == (try String(contentsOfFile: folder.file("all.jsonl"), encoding: .utf8)))

        let stats = try await done("yap stats --json --data other")
        let environment = try #require((try json(stats)["environments"] as? [[String: Any]])?.first)
        #expect(environment["records"] as? Int == 1 && environment["zones"] as? Int == 1)
        let largest = try #require((environment["largestUsers"] as? [[String: Any]])?.first)
        #expect(largest["account"] as? String == "ann" && largest["records"] as? Int == 1)
        try await done("yap doctor --port 0 --data other && yap doctor --port 0")

        try await done("yap zone delete lists \(ann)", code: 2)
        try await done("yap account delete ann --erase --yes")
        let emptied = try await done("yap stats --json")
        let left = try #require((try json(emptied)["environments"] as? [[String: Any]])?.first)
        #expect(left["records"] as? Int == 1 && left["users"] as? Int == 1, "bob's")
        try await done("yap zone list \(ann)", code: 3)
    }

    @Test func aRecordIsDeletedWhereItIsFoundAndNoneOfTwo() async throws {
        try await done("yap init --container \(Self.todo) && yap account create ann")
        let ann = "--container \(Self.todo) --account ann"
        try await done("yap zone create lists \(ann) && yap zone create notes \(ann)")
        try await done(
            "yap record save Todo t1 \(ann) --zone lists && yap record save Todo t2 \(ann) --zone lists")
        try await done("yap record save Todo t2 \(ann) --zone notes && yap record save Todo t3 \(ann)")
        let several = try await done("yap record delete t1 t2 \(ann)", code: 4)
        #expect(several.errors.contains("t2 is in the zones lists, notes. Say which with --zone."))
        let missing = try await done("yap record delete t1 t4 \(ann)", code: 3)
        #expect(missing.errors.contains("not there: t4. Nothing was deleted."))
        let zone = try await done("yap record delete t1 \(ann) --zone list", code: 3)
        #expect(zone.errors.contains("lists"))
        try await done("yap record get t1 t2 t3 \(ann)")
        let deleted = try await done("yap record delete t1 t3 \(ann) --json")
        #expect(try json(deleted)["deleted"] as? [String] == ["t1", "t3"])
        try await done("yap record delete t2 \(ann) --zone notes")
        let left = try await done("yap record get t1 t2 t3 \(ann)", code: 3)
        #expect(left.errors.contains("not there: t1, t3") && left.output.contains("t2"))
        try await done("yap record save Post p1 \(ann) --public && yap record delete p1 \(ann) --public")
    }

    @Test func doctorsFirstLineSaysWhetherSomethingIsWrongAndTheLastOneWhichSQLiteItHas() async throws {
        try await done("yap init")
        let sound = try await done("yap doctor --port 0").output.split(separator: "\n")
        #expect(sound.count == 2 && sound.first?.hasPrefix("nothing is wrong (") == true, "\(sound)")
        #expect(sound.last?.hasPrefix("SQLite \(SQLiteVersion.loaded.text)") == true)
        #expect(chmod(folder.file("yap-data"), 0o755) == 0)
        let open = try await done("yap doctor --port 0", code: 1)
        let lines = open.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("1 thing is wrong (") == true && lines.count == 4, "\(lines)")
        #expect(lines.last?.hasPrefix("SQLite ") == true && open.errors.contains("1 thing is wrong"))
        let (older, newer) = (SQLiteVersion("3.40.1"), SQLiteVersion("3.51.3"))
        let bug = DoctorCommand.sqliteText(try #require(older))
        #expect(bug.contains("yap's checkpoints avoid its WAL-reset bug") && bug.contains("safe from it"))
        #expect(DoctorCommand.sqliteText(try #require(newer)) == "SQLite 3.51.3")
    }

    @Test func whatIsWrongIsFoundNamedAndSaidWhatToDoAbout() async throws {
        try await done("yap init --container \(Self.todo) && yap account create ann")
        let ann = "--container \(Self.todo) --account ann"
        try await done("yap record save Todo t1 \(ann) --set title=Milk")
        let sound = try await done("yap doctor --port 0").output
        #expect(sound.contains("nothing is wrong"))
        let version = SQLiteVersion.loaded
        #expect(sound.contains("SQLite \(version.text)"))
        #expect(sound.contains("yap's checkpoints avoid it") == version.hasWALResetBug)
        let store = try DataFolder(path: folder.file("yap-data")).storePath(
            container: Self.todo, environment: "development")
        #expect(chmod(store, 0o644) == 0)
        let open = try await done("yap doctor --port 0", code: 1)
        #expect(open.output.contains("permissions") && open.output.contains("chmod go="))
        #expect(chmod(store, 0o600) == 0)

        let connection = try Connection(path: store, options: OpenOptions())
        try connection.execute(
            """
            UPDATE usage SET records = records + 1 WHERE scope = 2;
            INSERT INTO recordReferences (scope, owner, zone, target, source, kind)
            VALUES (2, 'x', '_defaultZone', 'a', 'b', 2);
            INSERT INTO recordAssets (scope, owner, zone, name, digest, bytes)
            SELECT scope, owner, zone, name, zeroblob(32), 5 FROM records WHERE name = 't1';
            """)
        try connection.close()
        let found = try json(try await done("yap doctor --port 0 --json", code: 1))
        let sqlite = try #require(found["sqlite"] as? [String: Any])
        #expect(sqlite["version"] as? String == version.text)
        #expect(sqlite["hasWALResetBug"] as? Bool == version.hasWALResetBug)
        let findings = try #require(found["findings"] as? [[String: Any]])
        let checks = findings.compactMap { $0["check"] as? String }
        for word in ["usage", "references"] {
            #expect(checks.contains { $0.contains(word) }, "\(word): \(checks)")
        }
        #expect(findings.allSatisfy { ($0["todo"] as? String)?.isEmpty == false })

        let bytes = try Data(contentsOf: URL(filePath: store))
        var broken = bytes
        for index in 8192..<min(broken.count, 40_000) { broken[index] = 0x55 }
        try broken.write(to: URL(filePath: store))
        let damaged = try await done("yap doctor --port 0", code: 1)
        #expect(damaged.output.contains("what to do:"), "\(damaged.output)")
        let certificate = try await done("yap doctor --port 0 --tls-certificate nowhere.pem", code: 1)
        #expect(certificate.output.contains("nowhere.pem"))
    }

    @Test func aCertificateThatRunsOutSoonIsFound() async throws {
        try await done("yap init")
        try await done(
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 5 -subj /CN=x 2>/dev/null"
        )
        let found = try await done("yap doctor --port 0 --tls-certificate c.pem", code: 1)
        #expect(found.output.contains("is valid for 4 days") || found.output.contains("is valid for 5 days"))
        try await done(
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out d.pem -days 90 -subj /CN=x 2>/dev/null"
        )
        try await done("yap doctor --port 0 --tls-certificate d.pem")
    }
}

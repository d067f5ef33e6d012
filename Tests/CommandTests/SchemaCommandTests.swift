import Foundation
import SQLiteTestSupport
import Testing

/// `yap schema` and `yap role` as processes, beside a server that runs.
@Suite struct SchemaCommandTests {
    private static let container = "--container iCloud.com.example.todo"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func done(_ line: String) async throws -> String {
        let ended = try await YapProcess.shell(line, in: folder)
        #expect(ended.code == 0, "\(line): \(ended.errors)")
        return ended.output
    }

    private func refused(_ line: String, code: Int32 = 1) async throws -> YapProcess.Ended {
        let ended = try await YapProcess.shell(line, in: folder)
        #expect(ended.code == code, "\(line): \(ended.output)")
        return ended
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.file(name)))
    }

    @Test func aSchemaIsImportedAndDeployedBesideARunningServer() async throws {
        _ = try await done("yap init \(Self.container)")
        let server = try await ServeProcess(in: folder)
        try write(
            "DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE, GRANT READ TO \"_world\");",
            to: "one.ckdb")
        #expect(try await done("yap schema import \(Self.container) one.ckdb").contains("+ field Note.title"))
        #expect(try await refused("yap schema diff \(Self.container) --exit-code").output.contains("Note"))
        let asked = try await refused("yap schema deploy \(Self.container)")
        #expect(asked.output.contains("+ record type Note") && asked.errors.contains("--yes"))
        #expect(
            try await done("yap schema deploy \(Self.container) --dry-run").contains("production would get"))
        let production = "yap schema export \(Self.container) --environment production"
        #expect(try await !done(production).contains("Note"), "nothing was done yet")
        #expect(try await done("yap schema deploy \(Self.container) --yes").contains("production got"))
        #expect(try await done(production) == done("yap schema export \(Self.container)"))
        #expect(try await done("yap schema diff \(Self.container) --exit-code") == "")
        #expect(try await done("yap schema deploy \(Self.container)").contains("has all"))
        #expect(try await server.end() == 0)
    }

    @Test func whatProductionHasIsNotImportedAway() async throws {
        _ = try await done("yap init \(Self.container)")
        try write("DEFINE SCHEMA RECORD TYPE Note (title STRING, count INT64);", to: "one.ckdb")
        try write("DEFINE SCHEMA RECORD TYPE Note (count STRING);", to: "two.ckdb")
        _ = try await done("yap schema import \(Self.container) one.ckdb")
        _ = try await done("yap schema deploy \(Self.container) --yes")
        let ended = try await refused("yap schema import \(Self.container) two.ckdb")
        #expect(ended.errors.contains("the field 'count' of record type 'Note' is STRING, not INT64"))
        #expect(ended.errors.contains("has no field 'title' in record type 'Note'"))
        #expect(try await done("yap schema export \(Self.container)").contains("title"))
        let asked = try await refused("yap schema reset \(Self.container)")
        #expect(asked.errors.contains("deletes all data"))
        _ = try await done("yap schema reset \(Self.container) --yes")
    }

    @Test func aTextThatIsNoSchemaIsNamedWithItsPlace() async throws {
        _ = try await done("yap init \(Self.container)")
        try write("DEFINE SCHEMA RECORD TYPE Note (\n  title STRNG\n);", to: "bad.ckdb")
        for line in ["validate bad.ckdb", "import \(Self.container) bad.ckdb"] {
            let ended = try await refused("yap schema \(line)")
            #expect(ended.errors.contains("bad.ckdb:2:9: expected a type"), "\(ended.errors)")
        }
        #expect(try await refused("yap schema validate none.ckdb").errors.contains("none.ckdb can't be read"))
        #expect(try await done("yap schema export \(Self.container) --output out.ckdb") == "")
        #expect(try await done("yap schema validate out.ckdb").contains("1 record types"))
    }

    @Test func aRoleMustBeInTheSchemaToBeGiven() async throws {
        _ = try await done("yap init \(Self.container) && yap account create ann")
        let ended = try await refused("yap role assign editor --account ann \(Self.container)", code: 4)
        #expect(ended.errors.contains("the schema has no role 'editor'"))
        _ = try await refused("yap role assign editor --account bob \(Self.container)", code: 3)
        try write("DEFINE SCHEMA CREATE ROLE editor;", to: "roles.ckdb")
        _ = try await done("yap schema import \(Self.container) roles.ckdb")
        #expect(try await done("yap role assign editor --account ann \(Self.container)").contains("now has"))
        #expect(try await done("yap role list \(Self.container)").contains("editor"))
        #expect(try await done("yap role revoke editor --account ann \(Self.container)").contains("ann"))
    }
}

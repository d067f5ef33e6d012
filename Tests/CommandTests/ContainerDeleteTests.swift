import CloudStore
import Foundation
import SQLiteTestSupport
import Testing

/// `yap container delete` as a person types it, beside a server and without one.
@Suite struct ContainerDeleteTests {
    private static let old = "iCloud.com.example.old"
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var data: DataFolder { DataFolder(path: folder.file("yap-data")) }

    @discardableResult
    private func done(_ line: String, code: Int32 = 0) async throws -> YapProcess.Ended {
        try await YapProcess.done(line, code: code, in: folder)
    }

    private func made() async throws {
        try await done(
            """
            yap init --container \(Self.old) && yap init --container \(Self.todo) && yap account create ann
            for c in \(Self.old) \(Self.todo); do
            yap zone create lists --container $c --account ann &&
            yap record save Todo buy --container $c --account ann --set title=milk &&
            yap token create --container $c --name app; done
            """)
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.file("yap-data/\(path)"))
    }

    @Test func theContainersAreListedWithWhatTheyHave() async throws {
        try await done("yap init")
        #expect(
            try await done("yap container list").errors.contains("no containers: yap init --container ID"))
        try await made()
        try await done("yap init --container iCloud.com.example.empty")
        let lines = try await done("yap container list").output.split(separator: "\n")
            .map { $0.split(separator: " ").map(String.init) }
        #expect(lines.map(\.first) == ["CONTAINER", "iCloud.com.example.empty", Self.old, Self.todo])
        #expect(lines[1].suffix(3) == ["0", "0", "-"])
        #expect(lines[2].suffix(3) == ["1", "0", "development"])
        let json = try await done("yap container list --json").output
        #expect(
            json.contains(#""environments":["development"],"tokens":1,"keys":0,"isBeingRemoved":false"#),
            "\(json)")
    }

    @Test func itListsTheDeletionsAndWithoutYesOrATerminalNothingIsDeleted() async throws {
        try await made()
        let asked = try await done("yap container delete \(Self.old)", code: 1)
        for words in ["ENVIRONMENT", "development", "production", "1 app token"] {
            #expect(asked.output.contains(words), "\(asked.output)")
        }
        let row = try #require(asked.output.split(separator: "\n").first { $0.hasPrefix("development") })
        let columns = row.split(separator: " ").map(String.init)
        #expect(Array(columns.prefix(2)) == ["development", "1"], "\(row)")
        #expect(asked.errors.contains("Nothing was removed"))
        #expect(exists("containers/\(Self.old)/development.sqlite"))
        #expect(try ControlStore(path: data.controlPath).containers.removals().isEmpty)
        let gone = try await done("yap container delete \(Self.old) --yes")
        #expect(gone.output.contains("removed \(Self.old)"))
        #expect(!exists("containers/\(Self.old)") && exists("containers/\(Self.todo)/development.sqlite"))
        let again = try await done("yap container delete \(Self.old) --yes", code: 3)
        #expect(again.errors.contains("There is no container \(Self.old)"))
        try await done("yap account list | grep ann")
        try await done("yap record get buy --container \(Self.todo) --account ann")
        try await done("yap doctor --port 0")
    }

    @Test func onATerminalTheNameMustBeTyped() async throws {
        try await made()
        func typed(_ text: String) async throws -> YapProcess.Ended {
            let program = try YapProcess.program
            return try await YapProcess.shell(
                "script -qec '\(program) container delete \(Self.old)' /dev/null <<< \(text)", in: folder)
        }
        let wrong = try await typed("yes")
        #expect(wrong.code == 1 && wrong.output.contains("Type \(Self.old)"), "\(wrong)")
        #expect(exists("containers/\(Self.old)/development.sqlite"))
        let right = try await typed(Self.old)
        #expect(right.code == 0, "\(right)")
        #expect(!exists("containers/\(Self.old)"))
    }

    @Test func oneEnvironmentIsDeletedAndTheOtherStaysWithTheAppsTokens() async throws {
        try await made()
        try await done(
            "yap schema deploy --container \(Self.old) --yes && "
                + "yap zone create lists --container \(Self.old) --account ann --environment production")
        try await done("yap container delete \(Self.old) --environment development --yes")
        #expect(!exists("containers/\(Self.old)/development.sqlite"))
        #expect(exists("containers/\(Self.old)/production.sqlite"))
        try await done("yap token list --container \(Self.old) | grep app")
        try await done("yap zone list --container \(Self.old) --environment production | grep lists")
        try await done("yap zone create lists --container \(Self.old) --account ann")
    }

    @Test func whatCannotBeReadCanBeRemoved() async throws {
        try await made()
        try await done("head -c 8192 /dev/urandom > yap-data/containers/\(Self.old)/production.sqlite")
        let gone = try await done("yap container delete \(Self.old) --yes")
        #expect(gone.output.contains("production can't be counted"))
        #expect(!exists("containers/\(Self.old)"))
    }

    /// The command returns when the server has let go and nothing is left, and the server goes on.
    @Test func besideARunningServerItIsDeletedWhenTheCommandReturns() async throws {
        try await made()
        let server = try await ServeProcess(in: folder, ["--data", "yap-data"])
        let path = "\(server.url)/database/1/\(Self.old)/development/public/users/caller"
        let token = try await done("yap token create --container \(Self.old) --name two").output
        let secret = try #require(token.firstMatch(of: /[0-9a-f]{64}/)).output
        try await done("curl -s '\(path)?ckAPIToken=\(secret)' | grep AUTHENTICATION")
        #expect(exists("containers/\(Self.old)/development.sqlite-wal"), "the server has it open")
        try await done("yap container delete \(Self.old) --yes")
        #expect(!exists("containers/\(Self.old)"))
        try await done("curl -s '\(path)?ckAPIToken=\(secret)' | grep NOT_FOUND")
        // Made again, it is served when the server has heard of it, and knows nothing of the former one's tokens.
        try await done("yap init --container \(Self.old)")
        try await done(
            "until curl -s '\(path)?ckAPIToken=\(secret)' | grep AUTHENTICATION_FAILED; do :; done")
        #expect(try await server.end() == 0)
    }

    /// Killed between the mark and the first file: other commands are refused, and a server ends it.
    @Test func aKilledCommandIsContinuedByTheNextServer() async throws {
        try await made()
        let control = try ControlStore(path: data.controlPath)
        var hold = try data.hold(container: Self.old, environment: "development", in: control)
        try await done(
            """
            mkfifo errors; (exec 2> errors; exec yap container delete \(Self.old) --yes > /dev/null) & id=$!
            head -n 1 errors | grep waiting; kill -9 $id; wait $id; true
            """)
        #expect(try control.containers.removals().map(\.container) == [Self.old])
        for line in [
            "zone create x --container \(Self.old) --account ann", "init --container \(Self.old)",
            "token create --container \(Self.old) --name late",
            "schema export --container \(Self.old)",
        ] { try await done("yap \(line)", code: 4) }
        try await done("yap account password ann --password-stdin <<< 'a secret'")
        #expect(exists("containers/\(Self.old)/development.sqlite"))
        #expect(hold != nil)
        hold = nil
        try await done(
            """
            mkfifo log; yap serve --port 0 > log 2> /dev/null & id=$!
            exec 9< log; grep -m 1 'container removed' <&9 && kill $id && wait $id
            """)
        #expect(!exists("containers/\(Self.old)"))
        try await done("yap init --container \(Self.old)")
    }
}

import SQLiteTestSupport
import Testing

@testable import YapCommand

/// Names that aren't there, and what scripts are told by exit codes.
@Suite struct TypoTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @discardableResult
    private func ended(_ line: String, code: Int32) async throws -> String {
        let ended = try await YapProcess.shell(line, in: folder)
        #expect(ended.code == code, "\(line): \(ended.output) \(ended.errors)")
        return ended.errors
    }

    @Test func theNearestNamesComeFirst() {
        #expect(Nearest.changes("title", "titel") == 2 && Nearest.changes("Note", "note") == 0)
        #expect(Nearest.changes("", "abc") == 3 && Nearest.changes("abc", "") == 3)
        #expect(Nearest.sorted(["tags", "title", "done"], to: "titel").first == "title")
        #expect(Nearest.list([String](), to: "x") == nil)
        #expect(Nearest.list((1...9).map { "n\($0)" }, to: "n7") == "n7, n1, n2, n3, n4 and 4 more")
    }

    @Test func aTokenForAContainerThatIsNotThereNeedsCreate() async throws {
        try await ended("yap init --container \(Self.todo)", code: 0)
        try await ended("yap init --container org.yap.notes", code: 0)
        let typo = try await ended("yap token create --container iCloud.com.example.tood --name app", code: 3)
        #expect(typo.contains("There are: \(Self.todo), org.yap.notes. ") && typo.contains("--create"))
        #expect(try await YapProcess.shell("yap token list", in: folder).output.isEmpty)
        try await ended("yap token create --container org.yap.maps --create --name app", code: 0)
        try await ended("yap token create --container org.yap.maps --name second", code: 0)
        let key = try await ended(
            "yap key create --container org.yap.map --name jobs --private-key jobs.pem", code: 3)
        #expect(key.contains("org.yap.maps") && !key.contains("--create"))
        try await ended("test ! -e jobs.pem", code: 0)
    }

    @Test func aMissingTypeFieldOrZoneIsReportedWithTheNearest() async throws {
        try await ended("yap init --container \(Self.todo) && yap account create ann", code: 0)
        let ann = "--container \(Self.todo) --account ann"
        let none = try await ended("yap record query Note \(ann)", code: 3)
        #expect(none.contains("no record type Note"))
        try await ended("yap record save Note n1 \(ann) --set title=Milk --set priority=4", code: 0)
        try await ended("yap record save Place p1 \(ann) --set name=Rome", code: 0)
        let type = try await ended("yap record query note \(ann)", code: 3)
        #expect(type.contains("development of \(Self.todo) has no record type note. There are: Note, "))
        let field = try await ended("yap record query Note \(ann) --where 'titel = Milk'", code: 3)
        #expect(field.contains("Note has no field titel. There are: title, "))
        let time = try await ended("yap record query Note \(ann) --where 'modifiedTimestamp > now'", code: 2)
        #expect(time.contains("modifiedTimestamp is a TIMESTAMP") && time.contains("2026-11-25T10:34:25Z"))
        let sort = try await ended("yap record query Note \(ann) --sort=-prority", code: 3)
        #expect(sort.contains("There are: priority, "))
        let zone = try await ended("yap record query Note \(ann) --zone _defaultZon", code: 3)
        #expect(zone.contains("There are: _defaultZone"))
        for rest in [
            "--where 'title = Milk'", "--sort=-___modTime", "--where 'recordName = n1' --sort priority",
            "--where 'modifiedTimestamp > 2026-01-01'",
        ] {
            let found = try await YapProcess.shell("yap record query Note \(ann) \(rest)", in: folder)
            #expect(found.code == 0 && found.output.contains("Milk"), "\(rest): \(found.errors)")
        }
    }

    @Test func aMissingAccountTokenKeyOrWebhookIsReportedWithTheNearest() async throws {
        let container = "--container \(Self.todo)"
        try await ended("yap init \(container)", code: 0)
        let none = try await ended("yap account delete ann --yes", code: 3)
        #expect(none.contains("There is no account ann. None exists yet. See: yap account list"))
        for name in ["ann", "zoe"] { try await ended("yap account create \(name)", code: 0) }
        for line in [
            "account set an --email a@example.com", "account password an", "account delete an --yes",
            "account sessions an", "record query Note \(container) --account an",
        ] {
            let account = try await ended("yap \(line)", code: 3)
            #expect(account.contains("There is no account an. There are: ann, zoe. See: yap account list"))
        }
        for name in ["app", "website"] {
            try await ended("yap token create \(container) --name \(name)", code: 0)
        }
        let token = try await ended("yap token revoke \(container) --name websit", code: 3)
        #expect(token.contains("There is no token websit in \(Self.todo). There are: website, app. "))
        try await ended("yap key create \(container) --name jobs --private-key jobs.pem", code: 0)
        let key = try await ended("yap key revoke \(container) --name job", code: 3)
        #expect(key.contains("There is no key job in development of \(Self.todo). There are: jobs. "))
        let webhook = try await ended("yap webhook remove \(container) --name hook", code: 3)
        #expect(webhook.contains("There is no webhook hook. None exists yet. See: yap webhook list"))
    }

    @Test func unknownCommandsOptionsAndSettingsAreReportedWithTheNearest() async throws {
        #expect(try await ended("yap tokn create", code: 2).contains("the nearest is token create"))
        #expect(try await ended("yap init --contaner x", code: 2).contains("the nearest is --container"))
        try await ended("yap init", code: 0)
        let setting = try await ended("yap serve --set limits.itemMax=5", code: 2)
        #expect(setting.contains("the nearest is limits.itemsMax"))
    }

    /// Each code by a line that a script may have.
    @Test func theExitCodeHasTheResultForScripts() async throws {
        let login = "login --container \(Self.todo) --api-token x --account ann --password-stdin <<< 12345678"
        let lines: [(code: ExitCode, line: String)] = [
            (.notThere, "account list"), (.done, "init --container \(Self.todo)"),
            (.done, "account create ann"), (.refused, "account create ann"),
            (.notThere, "account password bob"), (.notThere, "zone list --container iCloud.x"),
            (.notThere, "token revoke --container \(Self.todo) --name app"),
            (.notThere, "record get n1 --container \(Self.todo) --account ann"),
            (.refused, "account create 'not a name'"), (.usage, "account frob"), (.usage, "account create"),
            (.failed, "schema validate /dev/null/none"), (.done, "backup b.tar"), (.refused, "backup b.tar"),
            (.unreachable, "\(login.replacing("login", with: "login --server http://127.0.0.1:1"))"),
        ]
        for (code, line) in lines { try await ended("yap \(line)", code: code.rawValue) }
        #expect(Set(lines.map(\.code)) == Set(ExitCode.allCases))
        let help = try await YapProcess.shell("yap help", in: folder).output
        for code in ExitCode.allCases { #expect(help.contains("\(code.rawValue) \(code.what)")) }
    }
}

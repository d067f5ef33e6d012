import CloudServer
import CloudStore
import CloudWire
import Crypto
import Foundation
import HTTPClient
import HTTPServer
import SQLiteTestSupport
import Testing
import Waiting

@testable import YapCommand

/// `yap serve` as a process, and the commands beside it.
@Suite struct ServeTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder
    private let http = HTTPClient()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func yap(_ words: String..., input: String = "") async throws -> YapProcess.Ended {
        let ended = try await YapProcess.run(words, in: folder, input: input)
        #expect(ended.code == 0, "\(words): \(ended.errors)")
        return ended
    }

    private func value(_ key: String, _ ended: YapProcess.Ended) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
        return try #require(object?[key] as? String)
    }

    private func signIn(
        _ server: ServeProcess, _ account: String, _ password: String, _ apiToken: String
    ) async throws -> HTTPClientResponse {
        let request = SignInRequest(
            account: account, password: password, container: Self.todo, apiToken: apiToken)
        return try await http.post("\(server.url)/yap/1/sign-in", request.json())
    }

    @Test func whoListensBeyondThisMachineWithoutTLSIsWarned() {
        for (host, isWarned) in [
            ("127.0.0.1", false), ("localhost", false), ("::1", false), ("127.8.0.1", false),
            ("0.0.0.0", true),
            ("::", true), ("192.0.2.1", true),
        ] {
            var options = CloudServerOptions()
            options.http.host = host
            let warning = PlainWarning.text(for: options)
            #expect((warning != nil) == isWarned, "\(host)")
            if let warning {
                #expect(
                    ["plain http", "passwords, tokens and records", "--tls-certificate"].allSatisfy(
                        warning.contains))
            }
            options.http.tls = HTTPServerTLSOptions(certificatePath: "c", privateKeyPath: "k")
            #expect(PlainWarning.text(for: options) == nil)
        }
    }

    @Test func anAccountMadeWhileItServesSignsInAtOnce() async throws {
        _ = try await yap("init", "--container", Self.todo)
        let server = try await ServeProcess(in: folder)
        let apiToken = try value(
            "token", await yap("token", "create", "--container", Self.todo, "--name", "app", "--json"))
        _ = try await yap("account", "create", "ann", "--password-stdin", input: "the password of ann")
        let answer = try await signIn(server, "ann", "the password of ann", apiToken)
        #expect(answer.status == 200)
        #expect(try await signIn(server, "ann", "another", apiToken).status == 401)
        _ = try await yap("token", "revoke", "--container", Self.todo, "--name", "app")
        var status = 200
        try await Polling.until {
            status = try await signIn(server, "ann", "the password of ann", apiToken).status
            return status != 200
        }
        #expect(status == 401, "a revoked token is refused soon")
        #expect(try await server.end() == 0)
    }

    @Test func whatToTypeNextIsSaidOnlyWhereItIsNext() async throws {
        func said() async throws -> String {
            let server = try await ServeProcess(in: folder)
            #expect(try await server.end() == 0)
            return server.said
        }
        #expect(
            try await yap("init").output.contains("token create --container iCloud.com.example.todo --create")
        )
        #expect(try await said().contains("What to type next:"))
        let named = try await yap("init", "--container", Self.todo).output
        #expect(named.contains("token create --container \(Self.todo) --name"))
        _ = try await yap("account", "create", "ann")
        #expect(try await said().contains("What to type next:"), "no app may ask yet")
        _ = try await yap("token", "create", "--container", Self.todo, "--name", "app")
        let ready = try await said()
        #expect(!ready.contains("What to type next") && ready.contains("serving yap-data: \(Self.todo)\n"))
    }

    @Test func aShortPasswordOfBeforeStaysGood() async throws {
        _ = try await yap("init", "--container", Self.todo)
        let apiToken = try value(
            "token", await yap("token", "create", "--container", Self.todo, "--name", "app", "--json"))
        let control = try ControlStore(path: folder.file("yap-data/control.sqlite"))
        _ = try control.accounts.add(
            name: "ann", givenName: nil, familyName: nil, passwordHash: PasswordHash(hashing: "old").text)
        let server = try await ServeProcess(in: folder)
        #expect(try await signIn(server, "ann", "old", apiToken).status == 200)
        #expect(try await server.end() == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT]) func itEndsInOrderWhenItIsAsked(_ signal: Int32) async throws {
        _ = try await yap("init")
        let server = try await ServeProcess(in: folder)
        #expect(server.portFile.map { server.url.hasSuffix(":" + $0.dropLast()) } == true)
        #expect(try await server.end(with: signal) == 0)
        #expect(server.portFile == nil, "gone with the server")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("yap-data")).sorted()
        #expect(left == ["control.sqlite", "history.sqlite", "serve.lock"], "no write-ahead log is left")
    }

    @Test func aSecondServerOnTheFolderIsRefused() async throws {
        _ = try await yap("init")
        let server = try await ServeProcess(in: folder)
        let second = try await YapProcess.run(["serve", "--port", "0"], in: folder)
        #expect(second.code == 1)
        #expect(second.errors.contains("process \(server.id)"))
        kill(server.id, SIGKILL)
        #expect(try await server.end(with: SIGKILL) == 128 + SIGKILL)
        let third = try await ServeProcess(in: folder)
        #expect(try await third.end() == 0, "the lock goes with the process, however it ends")
    }

    @Test func aPortThatIsTakenIsSaid() async throws {
        _ = try await yap("init")
        let server = try await ServeProcess(in: folder)
        _ = try await yap("init", "--data", "other")
        let port = try #require(server.portFile).dropLast()
        let second = try await YapProcess.run(
            ["serve", "--data", "other", "--port", String(port)], in: folder)
        #expect(second.code == 1)
        #expect(second.errors.contains(port), "\(second.errors)")
        #expect(try await server.end() == 0)
    }

    @Test func recordsAreQueriedBesideTheServer() async throws {
        _ = try await yap("init", "--container", Self.todo)
        let apiToken = try value(
            "token", await yap("token", "create", "--container", Self.todo, "--name", "app", "--json"))
        _ = try await yap("account", "create", "ann", "--password-stdin", input: "the password of ann")
        let server = try await ServeProcess(in: folder)
        let answer = try await signIn(server, "ann", "the password of ann", apiToken)
        let signedIn = try SignInResponse(json: answer.body)
        let base = "\(server.url)/database/1/\(Self.todo)/development/private"
        let who = "?ckAPIToken=\(apiToken)&ckWebAuthToken=\(signedIn.webAuthToken)"
        let zone = #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"list"}}}]}"#
        #expect(try await http.post("\(base)/zones/modify\(who)", Array(zone.utf8)).status == 200)
        let records = (1...30).map { number in
            #"{"operationType":"create","record":{"recordName":"todo-\#(number)","recordType":"Todo","#
                + #""fields":{"title":{"value":"number \#(number)"},"priority":{"value":\#(number % 5)}}}}"#
        }.joined(separator: ",")
        let body = #"{"zoneID":{"zoneName":"list"},"operations":[\#(records)]}"#
        #expect(try await http.post("\(base)/records/modify\(who)", Array(body.utf8)).status == 200)
        let options = ["--container", Self.todo, "--account", "ann"]
        let found = try await YapProcess.run(
            ["record", "query", "Todo"] + options
                + ["--where", "priority > 3", "--sort", "-recordName", "--limit", "4", "--json"], in: folder)
        let object =
            try JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: [[String: Any]]]
        let names = object?["records"]?.compactMap { $0["recordName"] as? String }
        #expect(names == ["todo-9", "todo-4", "todo-29", "todo-24"])
        let get = try await YapProcess.run(["record", "get", "todo-7", "absent"] + options, in: folder)
        #expect(get.code == 3 && get.errors.contains("absent"))
        #expect(get.output.contains(/list  Todo  todo-7  .*  priority=2  title="number 7"/))
        let zones = try await YapProcess.run(["zone", "list", "--container", Self.todo], in: folder)
        #expect(zones.output.contains(/list +ann +\d+ +_[0-9a-f]{32}/))
        #expect(zones.output.contains(signedIn.userRecordName))
        let pipe = try await YapProcess.shell(
            "yap record query Todo --container \(Self.todo) --account ann | head -n 1", in: folder)
        #expect(pipe.code == 0 && pipe.output.split(separator: "\n").count == 1)
        #expect(try await server.end() == 0)
        try await expectNoSecrets(["the password of ann", apiToken, signedIn.webAuthToken], server)
        let after = try await YapProcess.run(["record", "get", "todo-7"] + options, in: folder)
        #expect(after.code == 0, "also without the server")
    }

    @Test func aLoginKeepsTheTokenForTheAppsOfTheMachine() async throws {
        _ = try await yap("init", "--container", Self.todo)
        let apiToken = try value(
            "token", await yap("token", "create", "--container", Self.todo, "--name", "app", "--json"))
        _ = try await yap("account", "create", "ann", "--password-stdin", input: "the password of ann")
        let server = try await ServeProcess(in: folder)
        let line = try #require(LoginCommand.command.examples.first)
            .replacing("http://127.0.0.1:8080", with: server.url).replacing("TOKEN", with: apiToken)
        let wrong = try await YapProcess.shell("yap \(line) --password-stdin <<< wrong", in: folder)
        #expect(wrong.code == 4 && wrong.errors.contains("password"), "\(wrong.errors)")
        let asked = try await YapProcess.shell("setsid yap \(line)", in: folder)
        #expect(asked.code == 2 && asked.errors.contains("--password-stdin"), "without a terminal")
        #expect(!FileManager.default.fileExists(atPath: folder.file("config/yap/credentials.json")))
        let right = try await YapProcess.shell(
            "yap \(line) --json --password-stdin <<< 'the password of ann'", in: folder)
        #expect(right.code == 0, "\(right.errors)")
        let path = folder.file("config/yap/credentials.json")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let kept = try CredentialsDocument(json: Array(Data(contentsOf: URL(filePath: path))))
        let entry = try #require(kept.credentials.first)
        #expect(try value("userRecordName", right) == entry.userRecordName)
        #expect(entry.server == server.url && entry.container == Self.todo)
        let caller = try await http.post(
            "\(server.url)/database/1/\(Self.todo)/development/public/users/caller?ckAPIToken=\(apiToken)"
                + "&ckWebAuthToken=\(entry.webAuthToken)", [])
        #expect(caller.status == 200, "\(String(decoding: caller.body, as: UTF8.self))")
        #expect(try await server.end() == 0)
        let gone = try await YapProcess.shell("yap \(line) --password-stdin <<< x", in: folder)
        #expect(gone.code == 5 && gone.errors.contains("Is the server running"), "\(gone.errors)")
    }

    /// No secret is in the log, nor in a file of the folder.
    private func expectNoSecrets(_ secrets: [String], _ server: ServeProcess) async throws {
        let log = try server.log
        #expect(log.contains("records/modify"))
        let root = folder.file("yap-data")
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            let path = root + "/" + name
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue
            else {
                continue
            }
            let content = try Data(contentsOf: URL(filePath: path))
            for secret in secrets { #expect(content.range(of: Data(secret.utf8)) == nil, "\(name)") }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0, "\(name)")
        }
        for secret in secrets { #expect(!log.contains(secret)) }
        for line in log.split(separator: "\n") {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        }
    }
}

import CloudWire
import Crypto
import Foundation
import HTTPClient
import SQLiteTestSupport
import Testing

/// Secrets lie in files that only the owner can read.
@Suite struct SecretFileTests {
    private let folder: TemporaryFolder
    private let http = HTTPClient()

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func whateverYapWritesIsForItsOwnerOnly() async throws {
        let todo = "iCloud.com.example.todo"
        let made = try await YapProcess.shell(
            """
            umask 000
            yap init --container \(todo) && yap account create ann --password-stdin
            yap key create --container \(todo) --name jobs \
            --private-key jobs.pem && yap token create --container \(todo) --name app --json
            """, in: folder, input: "the password of ann\n")
        #expect(made.code == 0, "\(made.errors)")
        let token = try #require(made.output.firstMatch(of: #/"token":"([0-9a-f]{64})"/#)).output.1
        let server = try await ServeProcess(in: folder)
        let signIn = SignInRequest(
            account: "ann", password: "the password of ann", container: todo, apiToken: String(token))
        let signedIn = try await http.post("\(server.url)/yap/1/sign-in", signIn.json())
        let session = try SignInResponse(json: signedIn.body).webAuthToken
        let body = #"{"operations":[{"operationType":"create","record":{"recordType":"t"}}]}"#
        let saved = try await http.post(
            "\(server.url)/database/1/\(todo)/development/private/records/modify?ckAPIToken=\(token)"
                + "&ckWebAuthToken=\(session)", Array(body.utf8))
        #expect(saved.status == 200)
        let archived = try await YapProcess.shell(
            """
            umask 000
            yap export all.jsonl --container \(todo) && yap export ann.jsonl --container \(todo) --account ann \
            && yap backup backup.tar && yap restore backup.tar --data restored
            """, in: folder)
        #expect(archived.code == 0, "\(archived.errors)")
        let manager = FileManager.default
        let own = try manager.subpathsOfDirectory(atPath: folder.file("yap-data")).map { "yap-data/\($0)" }
        #expect(own.contains { $0.hasSuffix("development.sqlite") } && own.contains { $0.hasSuffix("-wal") })
        let restored = try manager.subpathsOfDirectory(atPath: folder.file("restored")).map {
            "restored/\($0)"
        }
        #expect(restored.contains { $0.hasSuffix("development.sqlite") })
        let files = ["jobs.pem", "backup.tar", "all.jsonl", "ann.jsonl", "yap-data", "restored"]
        for name in files + own + restored {
            let mode = try manager.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0, "\(name)")
        }
    }

    @Test func aKeyIsMadeOrTakenInAndNoFileIsOverwritten() async throws {
        let todo = ["--container", "iCloud.com.example.todo"]
        func yap(_ words: String...) async throws -> YapProcess.Ended {
            try await YapProcess.run(words + (words.first == "key" ? todo : []), in: folder)
        }
        #expect(try await yap("init", "--container", todo[1]).code == 0)
        let made = try await yap("key", "create", "--name", "a", "--private-key", "a.pem", "--json")
        #expect(made.code == 0 && !made.output.contains("PRIVATE"))
        let pem = try String(contentsOfFile: folder.file("a.pem"), encoding: .utf8)
        _ = try P256PrivateKey(pem: pem)
        let again = try await yap("key", "create", "--name", "b", "--private-key", "a.pem")
        #expect(again.code == 4 && again.errors.contains("a.pem"))
        #expect(try String(contentsOfFile: folder.file("a.pem"), encoding: .utf8) == pem)
        let twice = try await yap("key", "create", "--name", "a", "--private-key", "c.pem")
        #expect(twice.code == 4 && !FileManager.default.fileExists(atPath: folder.file("c.pem")))
        // The public half alone, as openssl writes it.
        let text = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJuxECYo8RRx+Y4Me5YxfRxYJLqB1
            nxAcffemgpE3bhjIrSsKzt2usTjN5QOPEk+G+//8Fecc+7Hgtn4XDWC3Ow==
            -----END PUBLIC KEY-----
            """
        try text.write(toFile: folder.file("public.pem"), atomically: true, encoding: .utf8)
        #expect(try await yap("key", "create", "--name", "b", "--public-key", "public.pem").code == 0)
        #expect(try await yap("key", "create", "--name", "c", "--public-key", "a.pem").code == 1)
        #expect(try await yap("key", "create", "--name", "c").code == 2)
        let listed = try await YapProcess.run(["key", "list"], in: folder)
        #expect(listed.output.contains(#/ a +\d{4}-.* [0-9a-f]{64}\n/#) && !listed.output.contains("BEGIN"))
    }
}

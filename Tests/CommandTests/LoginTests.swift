import Foundation
import SQLiteTestSupport
import Testing

/// What `yap login` says to somebody who has typed something wrong, and whom it trusts.
@Suite struct LoginTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Makes ann's account and an app's token, which is returned.
    private func prepare() async throws -> String {
        _ = try await YapProcess.run(["init", "--container", Self.todo], in: folder)
        _ = try await YapProcess.run(
            ["account", "create", "ann", "--password-stdin"], in: folder, input: "the password of ann\n")
        let made = try await YapProcess.run(
            ["token", "create", "--container", Self.todo, "--name", "app", "--json"], in: folder)
        return String(try #require(made.output.firstMatch(of: #/"token":"([0-9a-f]{64})"/#)).output.1)
    }

    private func login(
        _ url: String, _ token: String, container: String = todo, account: String = "ann",
        password: String = "the password of ann", _ words: [String] = [], environment: [String: String] = [:]
    ) async throws -> YapProcess.Ended {
        try await YapProcess.run(
            [
                "login", "--server", url, "--container", container, "--api-token", token, "--account",
                account,
                "--password-stdin",
            ] + words, in: folder, input: password + "\n", environment: environment)
    }

    private func expect(
        _ ended: YapProcess.Ended, _ code: Int32, says parts: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(ended.code == code, "\(ended.output)", sourceLocation: sourceLocation)
        for part in parts {
            #expect(ended.errors.contains(part), "\(part): \(ended.errors)", sourceLocation: sourceLocation)
        }
    }

    @Test func aLogoutForgetsTheSignInOfItsServerAlone() async throws {
        let token = try await prepare()
        let server = try await ServeProcess(in: folder)
        #expect(try await login(server.url, token, ["--credential-file", "kept.json"]).code == 0)
        func kept() throws -> String { try String(contentsOfFile: folder.file("kept.json"), encoding: .utf8) }
        func logout(_ url: String) async throws -> YapProcess.Ended {
            try await YapProcess.run(
                ["logout", "--server", url, "--container", Self.todo, "--credential-file", "kept.json"],
                in: folder)
        }
        #expect(try await logout("https://cloud.example.com").code == 0)
        #expect(try kept().contains(server.url))
        let ended = try await logout(server.url + "/")
        #expect(ended.code == 0 && ended.output == "signed out of \(server.url)\n")
        #expect(try !kept().contains("webAuthToken"))
        #expect(try await logout(server.url).code == 0, "also if no user is signed in")
        #expect(try await logout("cloud.example.com").code == 2)
    }

    @Test func aRefusedLoginSaysWhichOfContainerTokenAndPasswordIsWrong() async throws {
        let token = try await prepare()
        let server = try await ServeProcess(in: folder)
        let other = String(repeating: "0", count: 64)
        expect(
            try await login(server.url, other), 4, says: ["doesn't know this API token", "yap token list"])
        let nowhere = try await login(server.url, token, container: "iCloud.com.example.nowhere")
        expect(nowhere, 4, says: ["no container iCloud.com.example.nowhere"])
        let password = try await login(server.url, token, password: "wrong")
        let account = try await login(server.url, token, account: "carol")
        expect(password, 4, says: ["the account doesn't exist, or the password is wrong"])
        #expect(account.errors == password.errors && account.code == 4)
        let secure = try await login(server.url.replacing("http:", with: "https:"), token)
        expect(secure, 1, says: ["its port uses plain HTTP", "Begin the server's URL with http://"])
        #expect(try await login(server.url, token).code == 0)
        #expect(try await server.end() == 0)
    }

    @Test func anUntrustedCertificateIsReportedWithAWorkingRemedy() async throws {
        let token = try await prepare()
        let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"))
        try Data(Self.certificate.utf8).write(to: URL(filePath: certificate))
        try Data(Self.key.utf8).write(to: URL(filePath: key))
        let server = try await ServeProcess(in: folder, ["--tls-certificate", certificate, "--tls-key", key])
        #expect(server.url.hasPrefix("https://"))
        expect(
            try await login(server.url, token), 1,
            says: ["certificate isn't trusted", "CLOUDKIT_AUTHORITIES_FILE", "--authorities FILE"])
        let none = try await login(server.url, token, ["--authorities", folder.file("none.pem")])
        expect(none, 1, says: ["can't be read", "none.pem"])
        let plain = try await login(server.url.replacing("https:", with: "http:"), token)
        expect(plain, 1, says: ["its port uses HTTPS", "Begin the server's URL with https://"])
        for (words, environment) in [
            (["--authorities", "certificate.pem"], [:]), ([], ["CLOUDKIT_AUTHORITIES_FILE": certificate]),
        ] {
            let right = try await login(server.url, token, words, environment: environment)
            #expect(right.code == 0, "\(right.errors)")
            #expect(
                right.output.contains("export CLOUDKIT_AUTHORITIES_FILE=\(certificate)"), "\(right.output)")
        }
        #expect(try await server.end() == 0)
    }

    /// For 127.0.0.1 and localhost, by itself, good until 2120.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAkxMjcuMC4w
        LjEwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
        CTEyNy4wLjAuMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLEVlqWh2t3ifvVw
        jvKhb3IV6wdoz/4D/ridrA99UYqEMn4jb+wjUNro08GdFJUwo8lRV1M0bnBIIOs9
        vW2rloajTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYcEfwAAAYIJbG9j
        YWxob3N0MB0GA1UdDgQWBBRO/jZbNCAuhguh4+I4mWn9q7/TizAKBggqhkjOPQQD
        AgNIADBFAiBh97pNUGqAELGVlklXd+62GvGldLDhQE28gr9GXrjS4QIhAJwceD/F
        ykGLBOZnrzuK5eB7foF2NXmYMmvIfU1972UK
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgud1kkDDiT7zJj2hQ
        c4j1InHPCOHnommlWcZNwAaRHOihRANCAASxFZalodrd4n71cI7yoW9yFesHaM/+
        A/64nawPfVGKhDJ+I2/sI1Da6NPBnRSVMKPJUVdTNG5wSCDrPb1tq5aG
        -----END PRIVATE KEY-----
        """
}

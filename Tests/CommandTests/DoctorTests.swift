import Foundation
import SQLiteTestSupport
import Testing

@testable import YapCommand

/// `yap doctor` looks at what is served: the settings in the folder, the port, the certificate and its key.
@Suite struct DoctorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @discardableResult
    private func ended(_ line: String, code: Int32 = 0) async throws -> String {
        let ended = try await YapProcess.shell(line, in: folder)
        #expect(ended.code == code, "\(line): \(ended.output) \(ended.errors)")
        return ended.output
    }

    private func set(_ settings: String) throws {
        try Data(settings.utf8).write(to: URL(filePath: folder.file("yap-data/yap.json")))
    }

    /// Certificates as an operator has them: of an authority of one's own, by way of another.
    private func makeCertificates() async throws {
        try await ended(
            """
            new() { openssl req -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj "/CN=$1" 2> /dev/null; }
            sign() { openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -days $3 -out $1.pem \
                -extfile $4 2> /dev/null; }
            echo basicConstraints=critical,CA:TRUE > ca.ext; echo basicConstraints=CA:FALSE > leaf.ext
            openssl req -x509 -newkey rsa:2048 -nodes -keyout root.key -out root.pem -days 900 -subj /CN=root \
                2> /dev/null
            new middle && sign middle root 800 ca.ext && new leaf && sign leaf middle 90 leaf.ext
            new soon && sign soon middle 5 leaf.ext
            cat leaf.pem middle.pem root.pem > chain.pem; cat leaf.pem root.pem middle.pem > mixed.pem
            cat leaf.pem middle.pem > short.pem; cat soon.pem middle.pem root.pem > soonchain.pem
            chmod 640 *.key; cp leaf.key open.key; chmod 644 open.key
            """)
    }

    @Test func theCertificateOfTheSettingsIsLookedAtWithItsChainAndItsKey() async throws {
        try await ended("yap init")
        try await makeCertificates()
        let cases: [(certificate: String, key: String, words: [String])] = [
            ("chain.pem", "leaf.key", []), ("root.pem", "root.key", []),
            ("soonchain.pem", "soon.key", ["soonchain.pem is valid for"]),
            ("short.pem", "leaf.key", ["short.pem ends before an authority"]),
            ("leaf.pem", "leaf.key", ["leaf.pem ends before an authority", "fullchain.pem"]),
            ("mixed.pem", "leaf.key", ["the certificate 1 is not issued by the one behind it"]),
            ("chain.pem", "middle.key", ["middle.key is not the key of the certificate in chain.pem"]),
            (
                "chain.pem", "open.key",
                ["open.key, a private key, can be read", "chmod u=rw,g=r,o= open.key"]
            ),
            ("chain.pem", "absent.key", ["absent.key can't be read"]),
            ("absent.pem", "leaf.key", ["absent.pem can't be read"]),
            ("chain.pem", "chain.pem", ["chain.pem holds no private key"]),
            ("leaf.key", "leaf.key", ["leaf.key holds no certificate"]),
        ]
        for (certificate, key, words) in cases {
            try set(#"{"port": 0, "tlsCertificate": "\#(certificate)", "tlsKey": "\#(key)"}"#)
            let found = try await ended("yap doctor", code: words.isEmpty ? 0 : 1)
            #expect(words.allSatisfy(found.contains), "\(certificate), \(key): \(found)")
        }
        try set(#"{"port": 0, "tlsCertificate": "chain.pem"}"#)
        #expect(
            try await ended("yap doctor", code: 1).contains("--tls-certificate and --tls-key go together"))
        try set(#"{"prt": 0}"#)
        let wrong = try await ended("yap doctor --port 0", code: 1)
        #expect(wrong.contains("yap-data/yap.json:1: there is no setting \"prt\""))
    }

    @Test func thePortOfTheSettingsIsTheOneThatIsLookedAt() async throws {
        try await ended("yap init --container iCloud.x && yap init --data other")
        let server = try await ServeProcess(in: folder)
        let port = try #require(server.portFile?.dropLast())
        try set(#"{"port": \#(port)}"#)
        try await ended("yap doctor")
        try FileManager.default.copyItem(
            atPath: folder.file("yap-data/yap.json"), toPath: folder.file("other/yap.json"))
        let taken = try await ended("yap doctor --data other", code: 1)
        #expect(taken.contains("127.0.0.1, port \(port) can't be listened on"))
        try set(#"{"port": 1}"#)
        let silent = try await ended("yap doctor", code: 1)
        #expect(silent.contains("the folder is served, but there is no response at 127.0.0.1, port 1"))
        try await ended("yap doctor --port \(port)")
        #expect(try await server.end() == 0)
        try set(#"{"port": \#(port), "host": "no address"}"#)
        #expect(try await ended("yap doctor", code: 1).contains("no address is no address of this machine"))
    }
}

import CloudKit
import CloudKitAdditions
import CloudService
import CloudStore
import CloudWire
import Crypto
import Foundation
import HTTPServer
import System
import Testing

@testable import CloudKit

/// The requests of a program that signs with a key of its own.
@Suite struct ServerSignatureTests {
    /// The key of RFC 6979, appendix A.2.5, as openssl writes it.
    static let pem = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIMmvqdhFunUWa1whV2ex1pNOUMPbNuibEnuKYisSD2choAoGCCqGSM49
        AwEHoUQDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Z5A/4QCLi8
        maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==
        -----END EC PRIVATE KEY-----

        """
    private static let body = #"{"query":{"recordType":"todo"}}"#
    private static let path = "/database/1/iCloud.com.example.todo/development/public/"

    /// Dates, targets and bodies; what is signed, written by hand; and a signature of it that `openssl dgst -sha256
    /// -sign` made with the key above.
    private static let vectors: [(target: String, body: String, message: String, signature: String)] = [
        (
            path + "records/query", body,
            "2016-01-25T22:15:43Z:fJlx8dFhbbjG0nIvpBFtkkmtRaTtKLY+xRmDggzpDUQ=:\(path)records/query",
            "MEUCIQD00KiWIHpWujdF8RMGImMXzV2E47tVGUURLC9/Jc8snAIgKxIYHzbqvxr1ulXdB8tyhKRin+SmkxFaH9UgH93AQfc="
        ),
        (
            path + "users/caller", "",
            "2016-01-25T22:15:43Z:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:\(path)users/caller",
            "MEYCIQDUaRrg2boo0TWWtIJvvCayXMQI6ZoZ/c1txYLFJ3tlAAIhANfxQ8Cz1jG9DxD6oBQjSysl9wkRUNaZjKjW52ki87tO"
        ),
    ]

    @Test func whatIsSignedIsWhatOthersSign() throws {
        let key = try P256PrivateKey(pem: Self.pem).publicKey
        for vector in Self.vectors {
            let message = try ServerKey.message(
                "2016-01-25T22:15:43Z", vector.target, Array(vector.body.utf8))
            #expect(String(decoding: message, as: UTF8.self) == vector.message)
            let signature = try #require(Data(base64Encoded: vector.signature))
            #expect(try key.verifies(signature: [UInt8](signature), of: message))
        }
        // RFC 6979, appendix A.2.5, SHA-256, message "sample": r and s in DER.
        let sample =
            "3046022100EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
            + "022100F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
        let bytes = stride(from: 0, to: sample.count, by: 2).compactMap { offset -> UInt8? in
            let start = sample.index(sample.startIndex, offsetBy: offset)
            return UInt8(sample[start..<sample.index(start, offsetBy: 2)], radix: 16)
        }
        #expect(try key.verifies(signature: bytes, of: Array("sample".utf8)))
        #expect(try !key.verifies(signature: bytes, of: Array("sample!".utf8)))
    }

    @Test func aRequestCarriesTheKeysNameTheDateAndTheSignatureAndNoToken() async throws {
        let key = try ServerKey(keyID: "abc", pem: Self.pem)
        let clock = ManualTimeSource(milliseconds: 1_453_760_143_999)
        let line = Line()
        let account = FixedAccount(CloudCredential(apiToken: "app", deviceID: "device", serverKey: key))
        let container = appleContainer(line, account: account, timers: line.timers, clock: clock)
        container.publicCloudDatabase.add(
            CKQueryOperation(query: CKQuery(recordType: "todo", predicate: NSPredicate(value: true))))
        let request = try #require(line.requests.all.first)
        #expect(request.query.isEmpty)
        #expect(
            request.headers.map(\.name) == [
                "Content-Type", "X-Apple-CloudKit-Request-KeyID", "X-Apple-CloudKit-Request-ISO8601Date",
                "X-Apple-CloudKit-Request-SignatureV1",
            ])
        #expect(request.header(WireHeader.keyID) == "abc")
        #expect(request.header(WireHeader.signedDate) == "2016-01-25T22:15:43Z")
        let signature = try #require(request.header(WireHeader.signature).flatMap { Data(base64Encoded: $0) })
        let message =
            "2016-01-25T22:15:43Z:\(SignedRequest.base64(try SHA256.hash(request.body))):\(request.path)"
        #expect(
            try P256PrivateKey(pem: Self.pem).publicKey
                .verifies(signature: [UInt8](signature), of: Array(message.utf8)))
    }

    @Test func aRequestDoesNotReadTheKeyAgain() throws {
        let key = try ServerKey(keyID: "abc", pem: Self.pem)
        let counter = P256KeyReads()
        try P256KeyReads.$counter.withValue(counter) {
            for number in 0..<5 {
                let headers = try key.headers(
                    target: Self.path + "\(number)", body: [], clock: ManualTimeSource(milliseconds: 0))
                #expect(headers.count == 3)
            }
        }
        #expect(counter.count == 0)
    }

    // MARK: At a service that checks it

    private struct KeyAccounts: ServiceAccounts {
        func user(webAuthToken: String, container: CloudService.Container) -> ServiceUser? { nil }
        func admits(apiToken: String?, container: CloudService.Container) -> Bool { apiToken == nil }
        func serverKey(_ keyID: String, container: CloudService.Container) throws -> ServiceServerKey? {
            guard keyID == "abc" else { return nil }
            return ServiceServerKey(
                publicKey: try P256PrivateKey(pem: ServerSignatureTests.pem).publicKey,
                userRecordName: "_0123456789abcdef0123456789abcdef")
        }
    }

    private final class Service: HTTPHandler {
        private let service: CloudService
        let targets = Collected<String>()

        init(_ service: CloudService) { self.service = service }

        func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            targets.append(request.head.target)
            let wire = WireRequest(
                method: request.head.method, path: request.head.path, query: request.head.query,
                headers: request.head.headers, body: request.body, rawTarget: request.head.target)
            let response = service.respond(to: wire)
            exchange.respond(
                HTTPResponse(status: response.status, headers: response.headers, body: .bytes(response.body)))
        }
    }

    @Test(arguments: ["yap", "apple"]) func aServiceThatChecksSignaturesTakesThem(kind: String) async throws {
        let folder = try Folder()
        try folder.write("key.pem", Self.pem)
        let handler = Service(
            CloudService(
                store: MemoryCloudStore(), clock: SystemTimeSource(), random: SystemRandomSource(),
                container: CloudService.Container(identifier: "iCloud.a", environment: "development"),
                accounts: KeyAccounts()))
        let server = HTTPServer(options: HTTPServerOptions(), handler: handler)
        try server.start()
        func container(keyID: String) throws -> CKContainer {
            CKContainer(
                identifier: nil,
                configuration: CloudConfiguration(
                    environment: [
                        "CLOUDKIT_CONTAINER": "iCloud.a",
                        "CLOUDKIT_SERVER": "http://127.0.0.1:\(server.port)",
                        "CLOUDKIT_KEY_ID": keyID, "CLOUDKIT_KEY_FILE": "key.pem", "CLOUDKIT_PROTOCOL": kind,
                        "XDG_CONFIG_HOME": folder.path + "/config",
                    ], currentFolder: folder.path))
        }
        let database = try container(keyID: "abc").publicCloudDatabase
        let record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "one & two"))
        record["title"] = "milk"
        try await database.save(record)
        #expect(try await database.record(for: record.recordID)["title"] as? String == "milk")
        #expect(handler.targets.all.allSatisfy { !$0.contains("?") })
        let stranger = try container(keyID: "xyz").publicCloudDatabase
        #expect(await codeThrown { try await stranger.record(for: record.recordID) } == .notAuthenticated)
        server.stop(graceMilliseconds: 0)
    }
}

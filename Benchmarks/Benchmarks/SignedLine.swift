import COpenSSL
import CloudService
import CloudStore
import CloudWire
import Crypto
import Foundation
import System

/// Requests that a program signs with its server's key, in one process, against OpenSSL's bare check of the signature.
func signedLine() -> Line {
    Line(name: "service.signed", unit: "requests/s") { _ in try SignedRun() }
}

private final class SignedRun: LineRun {
    private static let requestsCount = 1_000

    private struct Accounts: ServiceAccounts {
        let key: P256PublicKey

        func user(webAuthToken: String, container: CloudService.Container) -> ServiceUser? { nil }
        func admits(apiToken: String?, container: CloudService.Container) -> Bool { false }
        func serverKey(_ keyID: String, container: CloudService.Container) -> ServiceServerKey? {
            ServiceServerKey(publicKey: key, userRecordName: "_bench")
        }
    }

    private let service: CloudService
    private let request: WireRequest
    private let message: [UInt8]
    private let signature: [UInt8]
    private let bareKey: OpaquePointer

    init() throws {
        let key = try P256PrivateKey()
        service = CloudService(
            store: MemoryCloudStore(), clock: SystemTimeSource(), random: SystemRandomSource(),
            container: CloudService.Container(identifier: ServiceRequests.container),
            accounts: Accounts(key: key.publicKey))
        let path = "/database/1/\(ServiceRequests.container)/development/public/records/lookup"
        let body = Array(#"{"records":[{"recordName":"a"}]}"#.utf8)
        let date = Date().formatted(.iso8601)
        message = Array("\(date):\(SignedRequest.base64(try SHA256.hash(body))):\(path)".utf8)
        signature = try key.signature(of: message)
        request = WireRequest(
            method: "POST", path: path,
            headers: [
                (WireHeader.keyID, "bench"), (WireHeader.signedDate, date),
                (WireHeader.signature, SignedRequest.base64(signature)),
            ], body: body, rawTarget: path)
        let der = key.publicKey.der
        let bareKey = der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_PUBKEY(nil, &start, bytes.count)
        }
        guard let bareKey else { throw BenchError("OpenSSL reads no key") }
        self.bareKey = bareKey
    }

    func close() { EVP_PKEY_free(bareKey) }

    func ours() throws -> Double {
        try rate(Self.requestsCount) {
            for _ in 0..<Self.requestsCount {
                guard service.respond(to: request).status == 200 else {
                    throw BenchError("the service takes no signature")
                }
            }
        }
    }

    func reference() throws -> Double {
        try rate(Self.requestsCount) {
            for _ in 0..<Self.requestsCount {
                let context = EVP_MD_CTX_new()
                defer { EVP_MD_CTX_free(context) }
                guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, bareKey) == 1,
                    EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
                else { throw BenchError("OpenSSL takes no signature") }
            }
        }
    }
}

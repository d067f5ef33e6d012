import COpenSSL
import Foundation
import HTTPClient
import HTTPServer
import Testing

@Suite struct TLSTests {
    /// A server with a certificate for `name`, valid until so many seconds from now.
    private static func withServer(
        _ name: String = "127.0.0.1", validSeconds: Int = 3_600,
        _ body: (_ url: String, _ certificatePath: String) async throws -> Void
    ) async throws {
        let folder = NSTemporaryDirectory() + "yap-tls-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (certificatePath, keyPath) = (folder + "/certificate.pem", folder + "/key.pem")
        try makeCertificate(name, validSeconds: validSeconds, certificatePath, keyPath)
        var options = HTTPServerOptions()
        options.tls = HTTPServerTLSOptions(certificatePath: certificatePath, privateKeyPath: keyPath)
        let server = HTTPServer(options: options, handler: PathEcho())
        try server.start()
        try await body("https://127.0.0.1:\(server.port)/x", certificatePath)
        server.stop(graceMilliseconds: 0)
    }

    private static func client(trusting path: String?) -> HTTPClient {
        var options = HTTPClientOptions()
        options.authoritiesFile = path
        return HTTPClient(options: options)
    }

    @Test func aServerWhoseAuthorityIsTrustedAnswers() async throws {
        try await Self.withServer { url, certificatePath in
            let client = Self.client(trusting: certificatePath)
            #expect(await client.answer(url).text == "/x")
            #expect(await client.answer(url).text == "/x")
        }
    }

    @Test func anUnknownAuthorityIsRefused() async throws {
        try await Self.withServer { url, _ in
            let error = await Self.client(trusting: nil).answer(url)
            #expect(error.code == .untrustedCertificate)
        }
    }

    @Test func aCertificateForAnotherNameIsRefused() async throws {
        try await Self.withServer("example.org") { url, certificatePath in
            let error = await Self.client(trusting: certificatePath).answer(url)
            #expect(error.code == .certificateOfOtherName)
        }
    }

    @Test func aCertificateThatRanOutIsRefused() async throws {
        try await Self.withServer(validSeconds: -60) { url, certificatePath in
            let error = await Self.client(trusting: certificatePath).answer(url)
            #expect(error.code == .certificateOfOtherTime)
        }
    }

    @Test func httpsToAPlainPortAndAMissingFileAreReported() async throws {
        let plain = RawServer { connection in
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.waitForHangup()
        }
        let url = "https://127.0.0.1:\(plain.port)/"
        #expect(await Self.client(trusting: nil).answer(url).code == .notTLS)
        #expect(await Self.client(trusting: "/nowhere.pem").answer(url).code == .noAuthorities)
        // Ours, to which a handshake is a request that makes no sense.
        let server = HTTPServer(options: HTTPServerOptions(), handler: PathEcho())
        try server.start()
        defer { server.stop(graceMilliseconds: 0) }
        let ours = await Self.client(trusting: nil).answer("https://127.0.0.1:\(server.port)/x")
        #expect(ours.code == .notTLS)
    }

    @Test func plainHTTPToATLSPortIsReported() async throws {
        try await Self.withServer { url, _ in
            let plain = url.replacing("https://", with: "http://")
            #expect(await Self.client(trusting: nil).answer(plain).code == .needsTLS)
            let body = HTTPClientRequest(method: "POST", url: plain, body: [1, 2, 3])
            #expect(await Self.client(trusting: nil).answer(body).code == .needsTLS)
        }
    }

    @Test(arguments: [
        "<center>The plain HTTP request was sent to HTTPS port</center>",
        "Client sent an HTTP request to an HTTPS server.\n",
    ]) func otherServersWordsForAPortOfTLSAreKnown(body: String) async {
        let server = RawServer { connection in
            while connection.request() != nil { connection.answer(body, status: "400 Bad Request") }
        }
        #expect(await HTTPClient().answer(server.url).code == .needsTLS)
        let other = RawServer { connection in
            while connection.request() != nil { connection.answer("no", status: "400 Bad Request") }
        }
        #expect(await HTTPClient().answer(other.url).code == nil)
    }

    private struct NoCertificate: Error {}

    private static func makeCertificate(
        _ name: String, validSeconds: Int, _ certificatePath: String, _ keyPath: String
    ) throws {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &key) == 1,
            let certificate = X509_new()
        else { throw NoCertificate() }
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        X509_set_version(certificate, 2)
        X509_gmtime_adj(X509_getm_notBefore(certificate), -86400)
        X509_gmtime_adj(X509_getm_notAfter(certificate), validSeconds)
        X509_set_pubkey(certificate, key)
        let subject = X509_get_subject_name(certificate)
        let names = Array(name.utf8)
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, names, Int32(names.count), -1, 0)
        X509_set_issuer_name(certificate, subject)
        guard X509_sign(certificate, key, nil) > 0 else { throw NoCertificate() }
        let certificateFile = fopen(certificatePath, "w")
        PEM_write_X509(certificateFile, certificate)
        fclose(certificateFile)
        let keyFile = fopen(keyPath, "w")
        PEM_write_PrivateKey(keyFile, key, nil, nil, 0, nil, nil)
        fclose(keyFile)
    }
}

/// Answers with the path.
private final class PathEcho: HTTPHandler {
    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        exchange.respond(HTTPResponse(status: 200, body: .bytes(Array(request.head.path.utf8))))
    }
}

import CloudWire
import Foundation
import HTTPClient
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Makes a certificate for loopback and its key, as PEM files.
func makeCertificate(_ certificate: String, _ key: String) throws {
    try run(
        "/usr/bin/openssl",
        [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
            key, "-out", certificate,
        ])
}

@Suite struct TLSTests {
    @Test func aHangUpHasTheCommandReadARenewedCertificate() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let (certificate, key) = (folder.path + "/certificate.pem", folder.path + "/key.pem")
            try makeCertificate(certificate, key)
            let server = try ServerProcess(
                folder: folder.path, arguments: ["--tls-certificate", certificate, "--tls-key", key])
            defer { server.end() }
            let url = "https://127.0.0.1:\(try server.port())/yap/1/sign-out"
            try makeCertificate(certificate, key)
            server.signal(SIGHUP)
            _ = try server.waitForOutput { $0.contains("\"certificate read\"") }
            var options = HTTPClientOptions()
            options.authoritiesFile = certificate
            #expect(try exchange(options, url, []).get().status == 200)
        }
    }

    @Test func theCommandServesHTTPSToTheClientThatKnowsItsAuthority() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let certificate = folder.path + "/certificate.pem"
            let key = folder.path + "/key.pem"
            try makeCertificate(certificate, key)
            let server = try ServerProcess(
                folder: folder.path, arguments: ["--tls-certificate", certificate, "--tls-key", key])
            defer { server.end() }
            let port = try server.port()
            let url = "https://127.0.0.1:\(port)/database/1/\(RawDevice.container)/development"
            let query = folder.tokens[0].query
            var options = HTTPClientOptions()
            options.authoritiesFile = certificate
            let body = try ZonesListRequest().json()
            let good = try exchange(options, "\(url)/private/zones/list?\(query)", body).get()
            #expect(good.status == 200)
            #expect(try !ZonesResponse(json: good.body).zones.isEmpty)
            let device = try TokensCreateRequest(apnsEnvironment: .development, clientID: "phone").json()
            let tokens = try exchange(
                options,
                "https://127.0.0.1:\(port)/device/1/\(RawDevice.container)/development/tokens/create?\(query)",
                device
            ).get()
            let courierURL = try TokensResponse(json: tokens.body).webcourierURL
            #expect(courierURL.hasPrefix("https://127.0.0.1:\(port)/device/1/"))
            let stranger = exchange(HTTPClientOptions(), "\(url)/private/zones/list?\(query)", body)
            #expect(throws: HTTPClientError.self) { try stranger.get() }
            let plain = try RawConnection(port: port)
            try plain.send("GET /yap/1/health HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = String(decoding: try plain.receiveUntilClosed(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 426 ") && answer.contains("https://"), "\(answer)")
        }
    }

    private func exchange(
        _ options: HTTPClientOptions, _ url: String, _ body: [UInt8]
    ) -> Result<HTTPClientResponse, HTTPClientError> {
        let client = HTTPClient(options: options)
        defer { client.stop() }
        let ended = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: Result<HTTPClientResponse, HTTPClientError>?
        let request = HTTPClientRequest(method: "POST", url: url, body: body)
        _ = client.send(request) {
            result = $0
            ended.signal()
        }
        ended.wait()
        return result ?? .failure(HTTPClientError(.internalError, "no result"))
    }
}

private func run(_ path: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("\(path): \(process.terminationStatus)") }
}

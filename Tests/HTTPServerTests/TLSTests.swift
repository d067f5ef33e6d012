import CLinux
import COpenSSL
import Foundation
import Glibc
import HTTPServer
import SQLiteTestSupport
import Testing

/// HTTP inside TLS.
@Suite struct TLSTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

    private static func withTLS(
        _ handler: TestHandler = TestHandler(), _ change: (inout HTTPServerOptions) -> Void = { _ in },
        _ body: @escaping @Sendable (Int, TestCertificate, HTTPServer) throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(folder, "server")
        let changed: (inout HTTPServerOptions) -> Void = { options in
            options.tls = HTTPServerTLSOptions(
                certificatePath: certificate.certificatePath, privateKeyPath: certificate.keyPath)
            change(&options)
        }
        try await withServer(handler, changed) { port, server in try body(port, certificate, server) }
    }

    @Test func requestsTravelThroughTLS() async throws {
        try await Self.withTLS { port, certificate, _ in
            let client = try TLSClient(port: port, trusting: certificate)
            for number in 0..<3 {
                client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n\(number)")
                let text = try client.receive(until: "POST /a \(number)")
                #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
            client.send("GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            _ = try client.receive(until: "GET /b ")
            // The end comes as TLS's own goodbye, not as a cut.
            #expect(client.seesGoodbye())
        }
    }

    @Test func aNewCertificateIsForNewConnectionsAndABadOneForNone() async throws {
        let folder = try TemporaryFolder()
        let next = try TestCertificate(folder, "next")
        try await Self.withTLS { port, first, server in
            let old = try TLSClient(port: port, trusting: first)
            try Self.replace(first.keyPath, with: next.keyPath)
            #expect(failure { try server.reloadTLS() }?.code == .keyMismatch)
            _ = try TLSClient(port: port, trusting: first)
            try Self.replace(first.certificatePath, with: next.certificatePath)
            try server.reloadTLS()
            let new = try TLSClient(port: port, trusting: next)
            for client in [old, new] {
                client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.receive(until: "GET /a ").hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
        }
    }

    private static func replace(_ path: String, with other: String) throws {
        try Data(contentsOf: URL(filePath: other)).write(to: URL(filePath: path))
    }

    @Test func megabytesTravelThroughTLSBothWays() async throws {
        try await Self.withTLS { port, certificate, _ in
            let client = try TLSClient(port: port, trusting: certificate)
            let count = 1 << 20
            client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \(count)\r\n\r\n")
            client.send(String(repeating: "x", count: count - 3) + "END")
            #expect(try client.receive(until: "END").utf8.count > count)
        }
    }

    @Test func oldVersionsAndOtherProtocolsAreRefused() async throws {
        try await Self.withTLS { port, certificate, _ in
            #expect(throws: RawClient.Failure.self) {
                try TLSClient(port: port, trusting: certificate, versionMax: 0x0302)
            }
            #expect(throws: RawClient.Failure.self) {
                try TLSClient(port: port, trusting: certificate, offering: ["h2"])
            }
            let both = try TLSClient(port: port, trusting: certificate, offering: ["h2", "http/1.1"])
            #expect(both.chosenProtocol == "http/1.1")
            let twelve = try TLSClient(port: port, trusting: certificate, versionMax: TLS1_2_VERSION)
            twelve.send(Self.get)
            _ = try twelve.receive(until: "GET /a ")
        }
    }

    @Test(arguments: [get, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"])
    func plainHTTPOnATLSPortGetsAnExplainingError(request: String) async throws {
        try await Self.withTLS { port, certificate, _ in
            let plain = try RawClient(port: port)
            plain.send(request)
            let answer = String(decoding: try plain.receiveAll(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 426 Upgrade Required\r\n"), "\(answer)")
            #expect(answer.contains("\r\nUpgrade: TLS/1.2, HTTP/1.1\r\n"), "\(answer)")
            let client = try TLSClient(port: port, trusting: certificate)
            client.send(Self.get)
            _ = try client.receive(until: "GET /a ")
        }
    }

    @Test func aHandshakeThatDoesNotEndIsCut() async throws {
        try await Self.withTLS(TestHandler(), { $0.headerTimeoutSeconds = 0.2 }) {
            port, certificate, server in
            let silent = try RawClient(port: port)
            #expect(try silent.isClosed())
            let plain = try RawClient(port: port)
            plain.send(Self.get)
            while try !plain.receive().isEmpty {}
            let client = try TLSClient(port: port, trusting: certificate)
            client.send(Self.get)
            _ = try client.receive(until: "GET /a ")
        }
    }

    @Test func aClientThatLeavesATLSConnectionIsNoticed() async throws {
        let left = Inbox<Void>()
        let kept = Inbox<HTTPExchange>()
        let handler = TestHandler { _, exchange in
            exchange.onDisconnect { left.add(()) }
            kept.add(exchange)
        }
        try await Self.withTLS(handler) { port, certificate, _ in
            var client: TLSClient? = try TLSClient(port: port, trusting: certificate)
            client?.send(Self.get)
            let exchange = try kept.next()
            client = nil
            try left.next()
            exchange.respond(HTTPResponse(status: 200))
            #expect(try handler.summaries.next().ending == .clientLeft)
        }
    }

    @Test func whatIsWrongWithTheFilesIsSaid() throws {
        let folder = try TemporaryFolder()
        let one = try TestCertificate(folder, "one")
        let two = try TestCertificate(folder, "two")
        let cases: [(String, String, HTTPServerError.Code)] = [
            (folder.file("none.pem"), one.keyPath, .badCertificate),
            (one.keyPath, one.keyPath, .badCertificate),
            (one.certificatePath, folder.file("none.pem"), .badPrivateKey),
            (one.certificatePath, one.certificatePath, .badPrivateKey),
            (one.certificatePath, two.keyPath, .keyMismatch),
        ]
        for (certificate, key, code) in cases {
            var options = HTTPServerOptions()
            options.tls = HTTPServerTLSOptions(certificatePath: certificate, privateKeyPath: key)
            let error = failure {
                try HTTPServer(options: options, handler: TestHandler()).start()
            }
            #expect(error?.code == code)
            #expect(error?.message.contains(folder.path) == true)
        }
    }
}

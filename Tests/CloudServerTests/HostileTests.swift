import CloudWire
import Foundation
import Testing

/// Clients that mean ill, against the real server: each gets the right error or a closed connection, the server's
/// memory stays bounded, and others are served meanwhile.
@Suite(.serialized) struct HostileTests {
    private static let memoryBytesMax = 400 << 20

    @Test func whateverIsSentOthersAreServedAndMemoryIsBounded() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let server = try ServerProcess(folder: folder.path)
            defer { server.end() }
            let port = try server.port()
            let device = try RawDevice(port: port, token: folder.tokens[0])
            try device.makeZone("todos")
            let drips = Drips(port: port, target: device.target("private/zones/list"))
            let silent = try silentConnections(port)
            for attack in Self.attacks {
                try attack(port, device)
                try expectServed(device)
            }
            #expect(silent.count == 5_000)
            #expect(try server.residentBytes() < Self.memoryBytesMax)
            print("hostile: \(try server.residentBytes() >> 20) MB resident with 5,000 silent connections")
            for answer in try drips.answers() {
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 408"), "\(answer)")
            }
            try expectServed(device)
            server.signal(SIGTERM)
            #expect(server.wait() == 0)
        }
    }

    @Test func withFewDescriptorsTheServerRefusesConnectionsAndKeepsItsFiles() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let server = try ServerProcess(folder: folder.path, descriptorsMax: 500)
            defer { server.end() }
            let port = try server.port()
            let device = try RawDevice(port: port, token: folder.tokens[0])
            // It has its place before the crowd comes, on whichever loop.
            try device.reachServer()
            var crowd = try (0..<400).map { _ in try RawConnection(port: port) }
            // The file of its container is opened only now.
            try device.makeZone("todos")
            // The first beyond the limit are told so; in a throng beyond that the connection is closed.
            let told = crowd.dropFirst(60).compactMap { $0.hasInput(seconds: 0) ? try? $0.receive() : nil }
            #expect(!told.isEmpty)
            for response in told {
                #expect(response.status == 503)
                #expect(try WireError(json: response.body).serverErrorCode == .tryAgainLater)
            }
            crowd = []
            var isServed = false
            for _ in 0..<100 where !isServed {
                isServed = (try? expectServed(device)) != nil
            }
            #expect(isServed)
        }
    }

    private func expectServed(_ device: RawDevice) throws {
        let other = try RawDevice(port: device.port, token: device.token)
        let response = try other.post("private/zones/list", ZonesListRequest())
        guard response.status == 200 else { throw Failure("\(response.status) \(response.text)") }
    }

    private func silentConnections(_ port: Int) throws -> [RawConnection] {
        try (0..<5_000).map { _ in try RawConnection(port: port) }
    }

    private typealias Attack = @Sendable (Int, RawDevice) throws -> Void

    private static let attacks: [Attack] = [
        hugeContentLength, hugeChunkedBody, deepJSON, badUTF8, dottedPaths, foreignContainers, duplicateKeys,
        longNames, manyTokens,
    ]

    private static let hugeContentLength: Attack = { port, device in
        let connection = try RawConnection(port: port)
        try connection.send(
            "POST \(device.target("private/records/modify")) HTTP/1.1\r\nHost: x\r\n"
                + "Content-Length: 2147483648\r\n\r\n")
        let response = try connection.receive()
        #expect(response.status == 400)
        #expect(try WireError(json: response.body).reason?.hasPrefix("LimitExceeded") == true)
    }

    private static let hugeChunkedBody: Attack = { port, device in
        let connection = try RawConnection(port: port)
        try connection.send(
            "POST \(device.target("private/records/modify")) HTTP/1.1\r\nHost: x\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n")
        let chunk = Array("100000\r\n".utf8) + [UInt8](repeating: 0x20, count: 1 << 20) + Array("\r\n".utf8)
        for _ in 0..<64 { guard (try? connection.send(chunk)) != nil else { break } }
        let answer = String(decoding: (try? connection.receiveUntilClosed()) ?? [], as: UTF8.self)
        #expect(answer.isEmpty || (answer.hasPrefix("HTTP/1.1 413") && answer.contains("LimitExceeded: ")))
    }

    private static let deepJSON: Attack = { port, device in
        let connection = try RawConnection(port: port)
        for opening in ["[", "{\"a\":"] {
            let body = Array(String(repeating: opening, count: 100_000).utf8)
            let response = try connection.exchange(
                "POST", device.target("private/records/modify"), body: body)
            #expect(response.status == 400)
            #expect(try WireError(json: response.body).serverErrorCode == .badRequest)
        }
    }

    private static let badUTF8: Attack = { port, device in
        let connection = try RawConnection(port: port)
        let bodies: [[UInt8]] = [
            [0xFF], [0x7B, 0x22, 0xC3, 0x28, 0x22, 0x3A, 0x31, 0x7D], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0, 0, 0],
            [0xFE, 0xFF, 0, 0x7B],
        ]
        for body in bodies {
            let response = try connection.exchange(
                "POST", device.target("private/records/lookup"), body: body)
            #expect(response.status == 400)
        }
        let head = try RawConnection(port: port)
        try head.send(
            "POST /database/1/%ff%fe/development/private/zones/list HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
        )
        #expect([400, 404].contains(try head.receive().status))
    }

    private static let dottedPaths: Attack = { port, _ in
        let containers = [
            "..", ".", "...", "%2e%2e", "..%2f..%2fetc", "%252e%252e", "....//....//",
            "iCloud.test%2f..%2f..%2fx",
            "iCloud.test/../../..", ".hidden", "-rf", "con.", "a%00b",
        ]
        for container in containers {
            let connection = try RawConnection(port: port)
            let response = try connection.exchange(
                "POST", "/database/1/\(container)/development/private/zones/list", body: Array("{}".utf8))
            #expect([400, 404].contains(response.status), "\(container)")
        }
    }

    /// Names nobody made: no file comes into being for them.
    private static let foreignContainers: Attack = { port, device in
        let connection = try RawConnection(port: port)
        for index in 0..<300 {
            let response = try connection.exchange(
                "POST", "/database/1/iCloud.foreign\(index)/production/private/zones/list",
                body: Array("{}".utf8))
            #expect(response.status == 404)
        }
        // Another case of the name is another container.
        let other = RawDevice.container.uppercased()
        let response = try connection.exchange(
            "POST", "/database/1/\(other)/development/private/zones/list", body: [])
        #expect(response.status == 404)
    }

    private static let duplicateKeys: Attack = { port, device in
        let connection = try RawConnection(port: port)
        let response = try connection.exchange(
            "POST", device.target("private/records/lookup"), body: Array(#"{"records":[],"records":[]}"#.utf8)
        )
        #expect(response.status == 400)
    }

    private static let longNames: Attack = { port, device in
        let connection = try RawConnection(port: port)
        let name = String(repeating: "x", count: 100_000)
        let body = #"{"records":[{"recordName":"\#(name)"}]}"#
        let response = try connection.exchange(
            "POST", device.target("private/records/lookup"), body: Array(body.utf8))
        #expect(response.status == 200 || response.status == 400)
        let long = try RawConnection(port: port)
        try long.send("GET /\(name) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect([414, 431].contains(try long.receive().status))
    }

    private static let manyTokens: Attack = { port, _ in
        let connection = try RawConnection(port: port)
        for index in 0..<300 {
            let target =
                "/database/1/\(RawDevice.container)/development/private/zones/list"
                + "?ckWebAuthToken=x\(index)&ckAPIToken=y\(index)"
            #expect(try connection.exchange("POST", target, body: []).status == 401)
        }
    }
}

/// Two clients that send a byte a second, one of a head and one of a body, until they are cut.
private final class Drips: @unchecked Sendable {
    // Sendable because the thread writes `result` before the signal, and who reads it has waited for that.
    private let ended = DispatchSemaphore(value: 0)
    private var result: Result<[String], any Error> = .success([])

    init(port: Int, target: String) {
        Thread { [self] in
            result = Result {
                let beginnings = [
                    "POST ", "POST \(target) HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
                ]
                let connections = try beginnings.map { beginning in
                    let connection = try RawConnection(port: port)
                    try connection.send(beginning)
                    return connection
                }
                var open = connections[...]
                // Longer than any client is given: they must be cut before.
                for _ in 0..<60 where !open.isEmpty {
                    open = open.filter { (try? $0.send("x")) != nil && !$0.hasInput(seconds: 0) }[...]
                    _ = open.first?.hasInput(seconds: 1)
                }
                return try connections.map { String(decoding: try $0.receiveUntilClosed(), as: UTF8.self) }
            }
            ended.signal()
        }.start()
    }

    func answers() throws -> [String] {
        ended.wait()
        return try result.get()
    }
}

import Dispatch
import Foundation
import System

@testable import FaultProxy

/// A server that answers each request with its number and its body, and remembers what it got.
final class CountingServer: Sendable {
    let port: Int
    private let stop: Signal
    private let bodies = Lock<[String]>([])
    private let running = DispatchGroup()

    /// - Parameter isChunked: Whether replies come in chunks, without a length.
    init(isChunked: Bool = false) throws {
        let listener = try Sockets.listener(port: 0)
        port = try Sockets.port(of: listener)
        stop = try Signal()
        running.enter()
        Thread { [self] in
            let waiting = ByteStream(listener, stop: stop)
            while (try? waiting.waitForInput()) != nil, let client = Sockets.accepted(from: listener) {
                start(client, isChunked)
            }
            running.leave()
        }.start()
    }

    /// The bodies of the whole requests that came.
    var received: [String] { bodies.withLock { $0 } }

    func end() {
        stop.raise()
        running.wait()
    }

    private func start(_ client: Descriptor, _ isChunked: Bool) {
        running.enter()
        Thread { [self] in
            let stream = ByteStream(client, stop: stop)
            while let request = try? HTTPMessage.request(from: stream) {
                let body = String(decoding: request.body, as: UTF8.self)
                let number = bodies.withLock { bodies in
                    bodies.append(body)
                    return bodies.count
                }
                let text = "\(number):\(body)"
                let reply =
                    isChunked
                    ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n0\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
                try? stream.write(reply.utf8)
            }
            running.leave()
        }.start()
    }
}

let noReply = "no reply"

/// A client's connection that sends a request and reads what comes.
final class Client {
    private let stream: ByteStream

    init(port: Int) throws {
        stream = ByteStream(try Sockets.connection(port: port), stop: try Signal())
    }

    func send(_ body: String, path: String = "/a") throws {
        let head = "POST \(path)?q=1 HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        try stream.write((head + body).utf8)
    }

    /// The reply's body, `noReply` if the connection ended before one was there.
    func reply() -> String {
        guard let reply = try? HTTPMessage.reply(to: "POST", from: stream, watching: stream) else {
            return noReply
        }
        return String(decoding: reply.body, as: UTF8.self)
    }

    func exchange(_ body: String, path: String = "/a") -> String {
        guard (try? send(body, path: path)) != nil else { return noReply }
        return reply()
    }

    /// Everything until the connection ends.
    func rest() -> String {
        String(decoding: (try? stream.takeRest(watching: nil)) ?? [], as: UTF8.self)
    }
}

/// An exchange on a connection of its own.
func ask(_ proxy: FaultProxy, _ body: String) -> String {
    (try? Client(port: proxy.port))?.exchange(body) ?? noReply
}

/// Runs `body`, which blocks, on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Swift.Result { try body() }) }.start()
    }
}

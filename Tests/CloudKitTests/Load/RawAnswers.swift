import Foundation
import System

/// A server that reads each request whole and answers with the bytes that the test says, on a free port of this
/// machine. Each connection has a thread. It ends when it is let go.
final class RawAnswers: Sendable {
    /// What follows a request.
    enum Answer: Sendable {
        /// The bytes, and the end of the connection.
        case bytes([UInt8])
        /// The bytes one by one, with a pause before each, until the client hangs up.
        case slowly([UInt8], pauseMilliseconds: Int)
        /// Nothing, until the client hangs up.
        case nothing
    }

    /// An answer of HTTP with a body of JSON.
    static func http(_ status: String, _ json: String, headers: String = "") -> [UInt8] {
        let head = "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\(headers)"
        return Array("\(head)Content-Length: \(json.utf8.count)\r\n\r\n\(json)".utf8)
    }

    /// The same in pieces, the last of which says that it is the last.
    static func chunked(_ json: String) -> [UInt8] {
        let bytes = Array(json.utf8)
        let pieces = stride(from: 0, to: bytes.count, by: 40).map {
            Array(bytes[$0..<min($0 + 40, bytes.count)])
        }
        return Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
            + pieces.flatMap { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + [13, 10] }
            + Array("0\r\n\r\n".utf8)
    }

    let port: Int
    var url: String { "http://127.0.0.1:\(port)" }
    /// Requests so far.
    var requestCount: Int { count.withLock { $0 } }

    private let listener: Int32
    private let count = Lock(0)
    private let isStopped = Lock(false)
    private let sockets = Lock<Set<Int32>>([])

    /// - Parameter answer: called with the request's number, which counts from 0.
    init(_ answer: @escaping @Sendable (Int) -> Answer) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 512) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard listener >= 0, isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        self.listener = listener
        port = Int(address.sin_port.bigEndian)
        let (count, sockets) = (count, sockets)
        Thread.detachNewThread {
            while case let socket = accept(listener, nil, nil), socket >= 0 {
                sockets.withLock { _ = $0.insert(socket) }
                Thread.detachNewThread {
                    Self.serve(socket, count, answer)
                    sockets.withLock { sockets in
                        sockets.remove(socket)
                        close(socket)
                    }
                }
            }
            close(listener)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        sockets.withLock { for socket in $0 { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    private static func serve(_ socket: Int32, _ count: Lock<Int>, _ answer: (Int) -> Answer) {
        guard readRequest(socket) else { return }
        let number = count.withLock { count in
            defer { count += 1 }
            return count
        }
        switch answer(number) {
        case .bytes(let bytes): send(bytes, to: socket)
        case .slowly(let bytes, let pauseMilliseconds):
            for byte in bytes {
                // Ends at once when the client hangs up: that is the pause.
                var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                guard poll(&descriptor, 1, Int32(pauseMilliseconds)) == 0, send([byte], to: socket) else {
                    return
                }
            }
        case .nothing:
            var byte: UInt8 = 0
            while read(socket, &byte, 1) > 0 {}
        }
        // What is unread when a socket is closed resets the connection, and takes what was sent with it.
        shutdown(socket, Int32(SHUT_WR))
    }

    private static func readRequest(_ socket: Int32) -> Bool {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = bytes.firstRange(of: [13, 10, 13, 10]) {
                let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
                let length = head.components(separatedBy: "content-length: ").dropFirst().first
                    .flatMap { Int($0.prefix { $0.isNumber }) }
                if bytes.count - end.upperBound >= length ?? 0 { return true }
            }
            let count = read(socket, &buffer, buffer.count)
            guard count > 0 else { return false }
            bytes += buffer[..<count]
        }
    }

    @discardableResult
    private static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}

import Foundation
import System
import Waiting

/// A server of raw bytes on a free port of this machine: each connection has a thread that runs the test's
/// script. It ends when it is let go.
final class RawServer: Sendable {
    struct Request: Sendable {
        var head: String
        var body: [UInt8]

        var requestLine: String { head.components(separatedBy: "\r\n")[0] }
        var target: String { requestLine.components(separatedBy: " ")[1] }
        func header(_ name: String) -> String? {
            head.components(separatedBy: "\r\n").dropFirst()
                .first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { String($0.dropFirst(name.count + 1)).trimmingCharacters(in: .whitespaces) }
        }
    }

    /// One connection, used by its script's thread alone.
    final class Connection {
        /// POLLRDHUP, which Swift's Glibc doesn't show.
        private static let peerClosed: Int16 = 0x2000
        let number: Int
        private let socket: Int32
        private let seen: Lock<[Request]>
        private var buffer: [UInt8] = []

        fileprivate init(number: Int, socket: Int32, seen: Lock<[Request]>) {
            self.number = number
            self.socket = socket
            self.seen = seen
        }

        /// The next request with its body; nil when the client has hung up.
        /// - Parameter pauseMilliseconds: pause before each piece of the body is read.
        func request(pauseMilliseconds: Int32 = 0) -> Request? {
            let end: [UInt8] = [13, 10, 13, 10]
            while true {
                if let range = buffer.firstRange(of: end) {
                    let head = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                    buffer.removeFirst(range.upperBound)
                    var request = Request(head: head, body: [])
                    let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
                    while buffer.count < length {
                        hangsUp(withinMilliseconds: pauseMilliseconds)
                        guard fill() else { return nil }
                    }
                    request.body = Array(buffer.prefix(length))
                    buffer.removeFirst(length)
                    seen.withLock { $0.append(request) }
                    return request
                }
                guard fill() else { return nil }
            }
        }

        @discardableResult
        func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return false }
                sent += count
            }
            return true
        }

        func answer(_ body: String, status: String = "200 OK") {
            send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }

        /// Waits until the client has hung up.
        func waitForHangup() { while fill() { buffer = [] } }

        /// Waits until the client hangs up, up to so many milliseconds: the pauses of a slow server.
        @discardableResult
        func hangsUp(withinMilliseconds milliseconds: Int32) -> Bool {
            var descriptor = pollfd(fd: socket, events: Self.peerClosed, revents: 0)
            return poll(&descriptor, 1, milliseconds) > 0
        }

        private func fill() -> Bool {
            var bytes = [UInt8](repeating: 0, count: 65536)
            let count = bytes.withUnsafeMutableBytes { read(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            buffer += bytes[..<count]
            return true
        }
    }

    let port: Int
    /// Connections so far.
    var connectionCount: Int { sockets.value.count }
    /// Returns when there have been so many connections.
    func hasConnections(_ count: Int) async { await sockets.becomes { $0.count >= count } }
    /// Requests so far, in the order in which they came.
    var requests: [Request] { seen.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(port)" }

    private let listener: Int32
    private let sockets: WatchedValue<[Int32]>
    private let seen: Lock<[Request]>

    /// Runs `script` for each connection; the connection is closed when it returns.
    /// - Parameter receiveBytes: what the system takes of a connection before the script reads; nil for the usual.
    init(receiveBytes: Int32? = nil, _ script: @escaping @Sendable (Connection) -> Void) {
        let listener = Self.listen(backlog: 128)
        if var receiveBytes {
            setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &receiveBytes, socklen_t(MemoryLayout<Int32>.size))
        }
        port = Self.port(of: listener)
        self.listener = listener
        let sockets = WatchedValue<[Int32]>([]), seen = Lock<[Request]>([])
        self.sockets = sockets
        self.seen = seen
        Thread.detachNewThread {
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { break }
                let number = sockets.change { sockets in
                    sockets.append(socket)
                    return sockets.count
                }
                Thread.detachNewThread {
                    script(Connection(number: number, socket: socket, seen: seen))
                    // Under the lock, so that nobody shuts down a socket whose number is another's by now.
                    sockets.change { sockets in
                        sockets[number - 1] = -1
                        close(socket)
                    }
                }
            }
            close(listener)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        sockets.change { for socket in $0 where socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    /// A server that answers every request with its target.
    static func echo() -> RawServer {
        RawServer { connection in
            while let request = connection.request() { connection.answer(request.target) }
        }
    }

    /// A server that reads a request and says nothing.
    static func silent() -> RawServer { RawServer { $0.waitForHangup() } }

    static func listen(backlog: Int32) -> Int32 {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        precondition(listener >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(bound == 0 && Glibc.listen(listener, backlog) == 0)
        return listener
    }

    static func port(of socket: Int32) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        precondition(code == 0)
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

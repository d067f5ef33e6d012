import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// An answer as it came over a socket.
struct RawResponse: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A connection that sends bytes as they are given, and reads answers. Its calls block, with a deadline.
final class RawConnection {
    private let descriptor: Int32
    private let port: Int
    private var received: [UInt8] = []
    /// Called when a request has been sent, before its response is read.
    var sent: () -> Void = {}

    init(port: Int, receiveSeconds: Int = 30) throws {
        self.port = port
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("no socket: \(errno)") }
        var limit = timeval(tv_sec: receiveSeconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // The end of `self` closes the descriptor, here too: a second close would hit another thread's.
        guard code == 0 else { throw Failure("can't connect: \(errno)") }
    }

    deinit { close(descriptor) }

    /// Sends all bytes. Throws when the other side has closed.
    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure("can't send: \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends a request with a body and reads the answer.
    func exchange(
        _ method: String = "POST", _ target: String, headers: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) throws -> RawResponse {
        try sendRequest(method, target, headers: headers, body: body)
        sent()
        return try receive()
    }

    func sendRequest(
        _ method: String = "POST", _ target: String, headers: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) throws {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
        for header in headers { head += "\(header.name): \(header.value)\r\n" }
        if method != "GET" { head += "Content-Length: \(body.count)\r\n" }
        try send(Array("\(head)\r\n".utf8) + body)
    }

    /// Reads one answer.
    func receive() throws -> RawResponse {
        let end = try readUntil("\r\n\r\n")
        let head = String(decoding: received[..<(end - 4)], as: UTF8.self)
        received.removeFirst(end)
        let lines = head.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { throw Failure("no answer: \(head)") }
        let headers = lines.dropFirst().map { line -> (name: String, value: String) in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            return (String(line[..<colon]), line[colon...].dropFirst().trimmingCharacters(in: .whitespaces))
        }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        while received.count < length { try readMore() }
        let body = Array(received[..<length])
        received.removeFirst(length)
        return RawResponse(status: status, headers: headers, body: body)
    }

    /// Reads until the other side closes, and says what came. A reset counts as closing.
    func receiveUntilClosed() throws -> [UInt8] {
        while true {
            do { try readMore() } catch is Closed { return received }
        }
    }

    /// Waits until there is something to read, the other side's end included; false after so many seconds.
    func hasInput(seconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, seconds * 1000) > 0
    }

    private struct Closed: Error {}

    private func readUntil(_ mark: String) throws -> Int {
        let mark = Array(mark.utf8)
        var from = 0
        while true {
            if received.count >= mark.count {
                for start in from...(received.count - mark.count)
                where received[start] == mark[0] && Array(received[start..<start + mark.count]) == mark {
                    return start + mark.count
                }
                from = received.count - mark.count + 1
            }
            try readMore()
        }
    }

    private func readMore() throws {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count > 0 {
            received += bytes[..<count]
        } else if count == 0 || errno == ECONNRESET {
            throw Closed()
        } else {
            throw Failure("nothing came: \(errno)")
        }
    }
}

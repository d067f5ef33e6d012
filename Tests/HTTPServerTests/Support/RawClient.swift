import CLinux
import Glibc

/// A client that sends exactly the bytes it is told to. Every wait ends after a minute.
final class RawClient {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// An answer, taken apart leniently.
    struct Answer: Equatable {
        var status: Int
        var headers: [String: String]
        var body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    static let timeoutMilliseconds: Int32 = 60_000
    let descriptor: Int32
    private var received = [UInt8]()

    init(port: Int, receiveBufferBytes: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "socket: \(errno)") }
        if var bytes = receiveBufferBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // The end of `self` closes the descriptor, here too: a second close would hit another thread's.
        guard code == 0 else {
            throw Failure(description: "connect: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Sends; returns how many bytes the kernel took before the connection was gone.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return sent }
            sent += count
        }
        return sent
    }

    @discardableResult
    func send(_ text: String) -> Int { send(Array(text.utf8)) }

    /// Says that nothing more will be sent.
    func sendEnd() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Waits until there is something to read (also the end).
    func waitUntilReadable(milliseconds: Int32 = timeoutMilliseconds) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, milliseconds) > 0
    }

    /// The next bytes; empty at the end of the stream or when the connection was reset.
    func receive(bytesMax: Int = 65536) throws -> [UInt8] {
        guard waitUntilReadable() else { throw Failure(description: "nothing came in a minute") }
        var buffer = [UInt8](repeating: 0, count: bytesMax)
        let count = recv(descriptor, &buffer, bytesMax, 0)
        return count > 0 ? Array(buffer[..<count]) : []
    }

    /// All bytes until the connection is closed.
    func receiveAll() throws -> [UInt8] {
        defer { received = [] }
        while true {
            let bytes = try receive()
            if bytes.isEmpty { return received }
            received += bytes
        }
    }

    /// The next answer. `hasBody` is false for an answer to HEAD.
    func answer(hasBody: Bool = true) throws -> Answer {
        let head = try take(through: Array("\r\n\r\n".utf8))
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "),
            let status = Int(first.split(separator: " ")[1])
        else { throw Failure(description: "no status line: \(lines)") }
        var headers = [String: String]()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].drop { $0 == " " }.description
        }
        var body = [UInt8]()
        if hasBody, status >= 200 {
            if let length = headers["content-length"].flatMap(Int.init) {
                body = try take(count: length)
            } else if headers["transfer-encoding"] == "chunked" {
                body = try takeChunks()
            } else if status != 204, status != 304 {
                body = try receiveAll()
            }
        }
        return Answer(status: status, headers: headers, body: body)
    }

    /// Sends a request and reads its answer.
    func exchange(_ text: String) throws -> Answer {
        send(text)
        return try answer()
    }

    /// Whether the server closes without another byte.
    func isClosed() throws -> Bool { try received.isEmpty && receive().isEmpty }

    private func takeChunks() throws -> [UInt8] {
        var body = [UInt8]()
        while true {
            let line = try take(through: [0x0D, 0x0A]).dropLast(2)
            guard let size = Int(String(decoding: line, as: UTF8.self), radix: 16) else {
                throw Failure(description: "a bad chunk size: \(line)")
            }
            body += try take(count: size)
            _ = try take(count: 2)
            if size == 0 { return body }
        }
    }

    private func take(count: Int) throws -> [UInt8] {
        while received.count < count { try more() }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    private func take(through end: [UInt8]) throws -> [UInt8] {
        var searched = 0
        while true {
            while searched + end.count <= received.count {
                if received[searched..<searched + end.count].elementsEqual(end) {
                    return try take(count: searched + end.count)
                }
                searched += 1
            }
            try more()
        }
    }

    private func more() throws {
        let bytes = try receive()
        guard !bytes.isEmpty else {
            throw Failure(
                description: "closed after \(String(decoding: received, as: UTF8.self).debugDescription)")
        }
        received += bytes
    }
}

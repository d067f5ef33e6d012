/// A request or a reply, as its bytes, cut where HTTP/1.1 says that it ends.
struct HTTPMessage {
    static let headBytesMax = 65_536
    static let bodyBytesMax = 64 * 1024 * 1024

    /// The words of the first line.
    let firstLine: [String]
    let headers: [(name: String, value: String)]
    let head: [UInt8]
    let body: [UInt8]
    /// Whether the connection can carry another message after this one.
    let keepsConnection: Bool

    var bytes: [UInt8] { head + body }
    var status: Int { firstLine.count > 1 ? Int(firstLine[1]) ?? 0 : 0 }

    private enum BodyLength {
        case bytes(Int)
        case chunks
        case untilClose
    }

    /// The next request; nil when the client closed between two.
    static func request(from client: ByteStream) throws -> HTTPMessage? {
        guard let head = try client.take(through: Array("\r\n\r\n".utf8), bytesMax: headBytesMax) else {
            return nil
        }
        let (firstLine, headers) = parsed(head)
        guard firstLine.count == 3 else {
            throw ProxyError.notHTTP("a request line of \(firstLine.count) words")
        }
        if value("expect", headers)?.lowercased() == "100-continue", client.isEmpty {
            try client.write("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        }
        let length = try length(headers) ?? .bytes(0)
        return HTTPMessage(
            firstLine: firstLine, headers: headers, head: head,
            body: try body(length, from: client, watching: nil),
            keepsConnection: value("connection", headers)?.lowercased() != "close")
    }

    /// The reply to a request; interim replies (1xx) are left out.
    static func reply(to method: String, from server: ByteStream, watching client: ByteStream) throws
        -> HTTPMessage
    {
        while true {
            guard
                let head = try server.take(
                    through: Array("\r\n\r\n".utf8), bytesMax: headBytesMax, watching: client)
            else { throw ProxyError.closed }
            let (firstLine, headers) = parsed(head)
            guard firstLine.count >= 2, let status = Int(firstLine[1]) else {
                throw ProxyError.notHTTP("a status line of \(firstLine.count) words")
            }
            if (100..<200).contains(status) { continue }
            var length = try length(headers) ?? .untilClose
            if method == "HEAD" || status == 204 || status == 304 { length = .bytes(0) }
            var keepsConnection = value("connection", headers)?.lowercased() != "close"
            if case .untilClose = length { keepsConnection = false }
            return HTTPMessage(
                firstLine: firstLine, headers: headers, head: head,
                body: try body(length, from: server, watching: client), keepsConnection: keepsConnection)
        }
    }

    private static func parsed(_ head: [UInt8]) -> ([String], [(name: String, value: String)]) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            return (line[..<colon].lowercased(), String(value))
        }
        return ((lines.first ?? "").split(separator: " ").map(String.init), headers)
    }

    private static func value(_ name: String, _ headers: [(name: String, value: String)]) -> String? {
        headers.first { $0.name == name }?.value
    }

    private static func length(_ headers: [(name: String, value: String)]) throws -> BodyLength? {
        if value("transfer-encoding", headers)?.lowercased().hasSuffix("chunked") == true { return .chunks }
        guard let text = value("content-length", headers) else { return nil }
        guard let count = Int(text), (0...bodyBytesMax).contains(count) else {
            throw ProxyError.notHTTP("a body of \(text) bytes")
        }
        return .bytes(count)
    }

    private static func body(
        _ length: BodyLength, from stream: ByteStream, watching other: ByteStream?
    ) throws -> [UInt8] {
        switch length {
        case .bytes(let count): return try stream.take(count, watching: other)
        case .untilClose: return try stream.takeRest(watching: other)
        case .chunks: return try chunks(from: stream, watching: other)
        }
    }

    /// The chunks as they are on the wire, with their lengths and the trailers.
    private static func chunks(from stream: ByteStream, watching other: ByteStream?) throws -> [UInt8] {
        let lineEnd = Array("\r\n".utf8)
        var bytes = [UInt8]()
        while true {
            guard let line = try stream.take(through: lineEnd, bytesMax: 1024, watching: other) else {
                throw ProxyError.closed
            }
            bytes += line
            let digits = String(decoding: line, as: UTF8.self).prefix { $0.isHexDigit }
            guard let count = Int(digits, radix: 16), bytes.count + count <= bodyBytesMax else {
                throw ProxyError.notHTTP("a chunk of \(digits) bytes")
            }
            if count > 0 {
                bytes += try stream.take(count + lineEnd.count, watching: other)
                continue
            }
            while true {
                guard let trailer = try stream.take(through: lineEnd, bytesMax: headBytesMax, watching: other)
                else { throw ProxyError.closed }
                bytes += trailer
                if trailer == lineEnd { return bytes }
            }
        }
    }
}

import System

extension HTTPResponse {
    /// True if no header field contains a line break.
    var isWellFormed: Bool {
        guard (200...599).contains(status) else { return false }
        return headers.allSatisfy { header in
            !header.name.isEmpty && header.name.utf8.allSatisfy(isTokenByte)
                && header.value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
        }
    }

    /// True if the handler wants the connection closed.
    var asksToClose: Bool {
        headers.contains { Self.isName($0.name, "connection") && Self.isName($0.value, "close") }
    }

    /// Returns the response's head.
    func headBytes(exchange: Exchange, length: Int?, date: [UInt8], requestIDHeader: String) -> [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(256)
        bytes += "HTTP/1.1 ".utf8
        bytes.append(decimal: status)
        bytes.append(0x20)
        bytes += Self.phrase(status).utf8
        bytes += "\r\nDate: ".utf8
        bytes += date
        bytes += "\r\n".utf8
        bytes += requestIDHeader.utf8
        bytes += ": ".utf8
        bytes += exchange.requestID.utf8
        bytes += "\r\n".utf8
        for header in headers where !Self.isOwnedByServer(header.name, requestIDHeader) {
            bytes += header.name.utf8
            bytes += ": ".utf8
            bytes += header.value.utf8
            bytes += "\r\n".utf8
        }
        if exchange.isChunked {
            bytes += "Transfer-Encoding: chunked\r\n".utf8
        } else if let length, status != 204, status != 304 {
            bytes += "Content-Length: ".utf8
            bytes.append(decimal: length)
            bytes += "\r\n".utf8
        }
        if !exchange.keepsAlive {
            bytes += "Connection: close\r\n".utf8
        } else if exchange.isVersion10 {
            bytes += "Connection: keep-alive\r\n".utf8
        }
        bytes += "\r\n".utf8
        return bytes
    }

    /// Returns true for fields about the framing of the body, which only the server sets.
    private static func isOwnedByServer(_ name: String, _ requestIDHeader: String) -> Bool {
        switch name.utf8.count {
        case 4: if isName(name, "date") { return true }
        case 10: if isName(name, "connection") || isName(name, "keep-alive") { return true }
        case 14: if isName(name, "content-length") { return true }
        case 17: if isName(name, "transfer-encoding") { return true }
        default: break
        }
        return name == requestIDHeader
    }

    private static func isName(_ name: String, _ lowercase: String) -> Bool {
        name.utf8.count == lowercase.utf8.count
            && zip(name.utf8, lowercase.utf8).allSatisfy { lowered($0) == $1 }
    }

    private static func phrase(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 206: "Partial Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}

extension Exchange {
    /// True if a response to this request has a body on the wire.
    var sendsBody: Bool { method != "HEAD" && status != 204 && status != 304 }
}

extension [UInt8] {
    /// Appends a number that is not negative.
    mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(UInt8(0x30 + number % 10))
    }
}

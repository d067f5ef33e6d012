/// A head, and its information about the body and the connection.
package struct HTTPParsedHead {
    /// The way in which the body's end is found.
    package enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    /// The checked head, without request ID and peer.
    package var head: HTTPRequestHead
    /// The way in which the body's end is found.
    package var framing = Framing.none
    /// True if the client may send another request on the connection.
    package var keepsAlive: Bool
    /// True if the client waits for a 100 before it sends the body.
    package var expectsContinue = false

    /// Parses a head whose end the scanner has found.
    init(bytes: [UInt8], fieldCount: Int, limits: HTTPParserLimits) throws(HTTPParseFailure) {
        // A closure can't throw a typed error, so the result is returned as a value.
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<HTTPHeadReader, HTTPParseFailure> in
            do throws(HTTPParseFailure) {
                return .success(try HTTPHeadReader(buffer, fieldCount: fieldCount, limits: limits))
            } catch {
                return .failure(error)
            }
        }
        let reader = try result.get()
        head = HTTPRequestHead(
            method: reader.method, target: reader.target, path: reader.path, query: reader.query,
            fields: HTTPFields(bytes: bytes, places: reader.places), isVersion10: reader.isVersion10)
        framing = reader.framing
        keepsAlive = reader.keepsAlive
        expectsContinue = reader.expectsContinue
    }
}

/// Reads the lines of a head.
struct HTTPHeadReader {
    typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private(set) var method = ""
    private(set) var target = ""
    private(set) var path = ""
    private(set) var query = [(name: String, value: String)]()
    private(set) var places = [HTTPFields.Place]()
    private(set) var isVersion10 = false
    private(set) var framing = HTTPParsedHead.Framing.none
    private(set) var keepsAlive = true
    private(set) var expectsContinue = false

    private var authority: Bytes?
    private var host: Bytes?
    private var length: Int?
    private var isChunked = false
    private var saysClose = false
    private var saysKeepAlive = false

    init(
        _ buffer: UnsafeBufferPointer<UInt8>, fieldCount: Int, limits: HTTPParserLimits
    ) throws(HTTPParseFailure) {
        // The scanner allows one empty line, and only whole lines.
        var lineStart = buffer.count > 1 && buffer[0] == 0x0D ? 2 : 0
        let lineEnd = Self.end(of: buffer, from: lineStart)
        try readRequestLine(buffer[lineStart..<lineEnd], limits)
        lineStart = lineEnd + 2
        places.reserveCapacity(fieldCount)
        while lineStart < buffer.count, buffer[lineStart] != 0x0D {
            let lineEnd = Self.end(of: buffer, from: lineStart)
            try readField(buffer[lineStart..<lineEnd])
            lineStart = lineEnd + 2
        }
        try conclude()
    }

    private static func end(of buffer: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var end = start
        while end < buffer.count, buffer[end] != 0x0D { end += 1 }
        return end
    }

    private mutating func readRequestLine(_ line: Bytes, _ limits: HTTPParserLimits) throws(HTTPParseFailure)
    {
        let bad = HTTPParseFailure(400, "a request line that is not: method, space, target, space, version")
        guard let first = line.firstIndex(of: 0x20),
            let second = line[(first + 1)...].firstIndex(of: 0x20),
            !line[(second + 1)...].contains(where: { $0 == 0x20 || $0 == 0x09 })
        else { throw bad }
        let methodBytes = line[..<first]
        let targetBytes = line[(first + 1)..<second]
        guard !methodBytes.isEmpty, methodBytes.allSatisfy(isTokenByte), !targetBytes.isEmpty else {
            throw bad
        }
        try readVersion(line[(second + 1)...])
        method = try Self.knownMethod(methodBytes)
        guard targetBytes.count <= limits.targetBytesMax else {
            throw HTTPParseFailure(414, "the target is longer than \(limits.targetBytesMax) bytes")
        }
        let parts = try HTTPTarget(targetBytes, method: method)
        target = String(decoding: targetBytes, as: UTF8.self)
        path = parts.path
        query = parts.query
        authority = parts.authority
    }

    private mutating func readVersion(_ bytes: Bytes) throws(HTTPParseFailure) {
        let start = bytes.startIndex
        guard bytes.count == 8, bytes[start] == 0x48, bytes[start + 1] == 0x54, bytes[start + 2] == 0x54,
            bytes[start + 3] == 0x50, bytes[start + 4] == 0x2F, (0x30...0x39).contains(bytes[start + 5]),
            bytes[start + 6] == 0x2E, (0x30...0x39).contains(bytes[start + 7])
        else { throw HTTPParseFailure(400, "a version that is not HTTP/1.1") }
        guard bytes[start + 5] == 0x31, bytes[start + 7] <= 0x31 else {
            throw HTTPParseFailure(505, "only HTTP/1.1 and HTTP/1.0 are spoken")
        }
        isVersion10 = bytes[start + 7] == 0x30
    }

    private static func knownMethod(_ bytes: Bytes) throws(HTTPParseFailure) -> String {
        func isExactly(_ text: StaticString) -> Bool {
            bytes.count == text.utf8CodeUnitCount
                && zip(bytes, UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
                    .allSatisfy { $0 == $1 }
        }
        if isExactly("POST") { return "POST" }
        if isExactly("GET") { return "GET" }
        if isExactly("HEAD") { return "HEAD" }
        if isExactly("PUT") { return "PUT" }
        if isExactly("PATCH") { return "PATCH" }
        if isExactly("DELETE") { return "DELETE" }
        if isExactly("OPTIONS") { return "OPTIONS" }
        throw HTTPParseFailure(501, "an unknown method")
    }

    private mutating func readField(_ line: Bytes) throws(HTTPParseFailure) {
        guard let colon = line.firstIndex(of: 0x3A) else {
            throw HTTPParseFailure(400, "a header field without a colon")
        }
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(isTokenByte) else {
            throw HTTPParseFailure(400, "a bad name of a header field (or a space before its colon)")
        }
        let value = trimmed(line[(colon + 1)...])
        if value.contains(where: { $0 >= 0x80 }), String(validating: value, as: UTF8.self) == nil {
            throw HTTPParseFailure(400, "a header field that is not UTF-8")
        }
        places.append(
            HTTPFields.Place(
                nameStart: Int32(name.startIndex), nameEnd: Int32(name.endIndex),
                valueStart: Int32(value.startIndex), valueEnd: Int32(value.endIndex)))
        switch name.count {
        case 4 where isEqual(name, toLowercase: "host"): try readHost(value)
        case 6 where isEqual(name, toLowercase: "expect"): try readExpect(value)
        case 10 where isEqual(name, toLowercase: "connection"): readConnection(value)
        case 14 where isEqual(name, toLowercase: "content-length"): try readLength(value)
        case 17 where isEqual(name, toLowercase: "transfer-encoding"): try readEncoding(value)
        default: break
        }
    }

    /// A name of 253 bytes (RFC 1035, section 2.3.4) with a trailing dot, and a port.
    private static let hostBytesMax = 260

    private mutating func readHost(_ value: Bytes) throws(HTTPParseFailure) {
        guard host == nil else { throw HTTPParseFailure(400, "two Host fields") }
        guard Self.isHost(value) else { throw HTTPParseFailure(400, "a bad Host field") }
        host = value
    }

    private mutating func readExpect(_ value: Bytes) throws(HTTPParseFailure) {
        guard !expectsContinue, isEqual(value, toLowercase: "100-continue") else {
            throw HTTPParseFailure(417, "an expectation other than 100-continue")
        }
        expectsContinue = true
    }

    private mutating func readConnection(_ value: Bytes) {
        for option in value.split(separator: 0x2C) {
            let option = trimmed(option)
            if isEqual(option, toLowercase: "close") { saysClose = true }
            if isEqual(option, toLowercase: "keep-alive") { saysKeepAlive = true }
        }
    }

    private mutating func readLength(_ value: Bytes) throws(HTTPParseFailure) {
        guard length == nil else { throw HTTPParseFailure(400, "two Content-Length fields") }
        guard !value.isEmpty, value.count <= 19, value.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw HTTPParseFailure(400, "a bad Content-Length")
        }
        var count = 0
        for digit in value {
            let (product, overflowed) = count.multipliedReportingOverflow(by: 10)
            let (sum, overflowedAgain) = product.addingReportingOverflow(Int(digit - 0x30))
            guard !overflowed, !overflowedAgain else { throw HTTPParseFailure(400, "a bad Content-Length") }
            count = sum
        }
        length = count
    }

    private mutating func readEncoding(_ value: Bytes) throws(HTTPParseFailure) {
        guard !isChunked else { throw HTTPParseFailure(400, "two Transfer-Encoding fields") }
        guard isEqual(value, toLowercase: "chunked") else {
            let codings = value.split(separator: 0x2C, omittingEmptySubsequences: false)
            let isRepeated = codings.filter { isEqual(trimmed($0), toLowercase: "chunked") }.count > 1
            throw isRepeated
                ? HTTPParseFailure(400, "chunked twice")
                : HTTPParseFailure(501, "a Transfer-Encoding other than chunked")
        }
        isChunked = true
    }

    /// Checks the fields in combination.
    private mutating func conclude() throws(HTTPParseFailure) {
        if host == nil, !isVersion10 { throw HTTPParseFailure(400, "no Host field") }
        if let authority {
            guard Self.isHost(authority) else { throw HTTPParseFailure(400, "a target with a bad host") }
            if let host, !host.elementsEqual(authority, by: { lowered($0) == lowered($1) }) {
                throw HTTPParseFailure(400, "the target's host is not the Host field's")
            }
        }
        if isChunked, length != nil {
            throw HTTPParseFailure(400, "Content-Length together with Transfer-Encoding")
        }
        if isChunked, isVersion10 { throw HTTPParseFailure(400, "Transfer-Encoding in HTTP/1.0") }
        if isChunked {
            framing = .chunked
        } else if let length {
            framing = length == 0 ? .none : .length(length)
        } else if method == "POST" || method == "PUT" || method == "PATCH" {
            throw HTTPParseFailure(411, "\(method) without Content-Length")
        }
        keepsAlive = !saysClose && (!isVersion10 || saysKeepAlive)
        if isVersion10 { expectsContinue = false }
    }

    /// Accepts a name, an IPv4 address or an IPv6 address in brackets, with an optional port.
    private static func isHost(_ bytes: Bytes) -> Bool {
        guard bytes.count <= hostBytesMax else { return false }
        var rest = bytes
        if rest.first == 0x5B {
            guard let close = rest.firstIndex(of: 0x5D), close > rest.startIndex + 1 else { return false }
            let address = rest[(rest.startIndex + 1)..<close]
            guard address.allSatisfy({ hexadecimalDigit($0) != nil || $0 == 0x3A || $0 == 0x2E }) else {
                return false
            }
            rest = rest[(close + 1)...]
        } else {
            let end = rest.firstIndex(of: 0x3A) ?? rest.endIndex
            let name = rest[..<end]
            guard !name.isEmpty, name.allSatisfy(isHostByte) else { return false }
            rest = rest[end...]
        }
        guard let colon = rest.first else { return true }
        let port = rest.dropFirst()
        return colon == 0x3A && (1...5).contains(port.count)
            && port.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}

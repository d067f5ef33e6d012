/// The reason that a multipart body is invalid.
package struct MultipartError: Error, Equatable {
    /// A description of the error.
    package let reason: String
}

/// Parses a body of `multipart/form-data` incrementally (RFC 7578), and returns the bytes of its one part,
/// `files`.
///
/// It is strict: no preamble, line ends are CRLF, and any other part is rejected. It buffers no more than a
/// part's header fields, or a boundary.
package struct MultipartParser {
    static let boundaryBytesMax = 70
    static let headerBytesMax = 4_096
    private static let partName = "files"

    private enum State {
        /// Before the first boundary.
        case start
        /// After a boundary: a line end, or the two dashes of the last one.
        case boundary
        case headers
        case body
        /// After the last boundary, where only a line end may follow.
        case end
    }

    /// `\r\n--` and the boundary.
    private let delimiter: [UInt8]
    private var state = State.start
    private var partCount = 0
    /// Bytes that can't be classified yet.
    private var held: [UInt8] = []

    /// Makes a parser for bodies of this content type, or returns nil if it isn't a multipart form.
    ///
    /// - Throws: `MultipartError` if its boundary is invalid.
    package init?(contentType: String) throws(MultipartError) {
        let parts = contentType.utf8.split(separator: UInt8(ascii: ";"), maxSplits: 1)
        guard let type = parts.first, Self.lowered(Self.trimmed(type)) == Array("multipart/form-data".utf8)
        else {
            return nil
        }
        let parameters = parts.count > 1 ? try Self.parameters(parts[1]) : [:]
        guard let boundary = parameters["boundary"], 1...Self.boundaryBytesMax ~= boundary.count,
            boundary.allSatisfy({ 0x20..<0x7F ~= $0 }), boundary.last != UInt8(ascii: " ")
        else {
            throw MultipartError(reason: "the boundary must have 1 to \(Self.boundaryBytesMax) characters")
        }
        delimiter = Array("\r\n--".utf8) + boundary
    }

    /// Parses the next bytes, and returns the bytes of the file that are certain.
    ///
    /// - Throws: `MultipartError`; then the parser must not be used again.
    package mutating func take(_ bytes: [UInt8]) throws(MultipartError) -> [UInt8] {
        held += bytes
        var file: [UInt8] = []
        while try step(&file) {}
        return file
    }

    /// Ends the body.
    ///
    /// - Throws: `MultipartError` if the last boundary is missing.
    package func finish() throws(MultipartError) {
        guard case .end = state, held.isEmpty || held == [0x0D, 0x0A] else {
            throw MultipartError(reason: "the body ends before its last boundary, or continues after it")
        }
        guard partCount == 1 else { throw MultipartError(reason: "there is no part 'files'") }
    }

    /// Advances by one state. Returns false if more bytes are needed.
    private mutating func step(_ file: inout [UInt8]) throws(MultipartError) -> Bool {
        switch state {
        case .start: return try takeFirstBoundary()
        case .boundary: return try takeBoundaryEnd()
        case .headers: return try takeHeaders()
        case .body: return takeBody(&file)
        case .end:
            guard held.count <= 2 else { throw MultipartError(reason: "something follows the last boundary") }
            return false
        }
    }

    private mutating func takeFirstBoundary() throws(MultipartError) -> Bool {
        let first = delimiter.dropFirst(2)
        guard held.starts(with: first.prefix(held.count)) || held.starts(with: first) else {
            throw MultipartError(reason: "the body doesn't begin with its boundary")
        }
        guard held.count >= first.count else { return false }
        held.removeFirst(first.count)
        state = .boundary
        return true
    }

    private mutating func takeBoundaryEnd() throws(MultipartError) -> Bool {
        guard held.count >= 2 else { return false }
        switch (held[0], held[1]) {
        case (0x0D, 0x0A): state = .headers
        case (UInt8(ascii: "-"), UInt8(ascii: "-")): state = .end
        default: throw MultipartError(reason: "text after a boundary")
        }
        held.removeFirst(2)
        return true
    }

    private mutating func takeHeaders() throws(MultipartError) -> Bool {
        // A part without header fields begins with the empty line.
        guard let end = Self.find(Array("\r\n\r\n".utf8), in: [0x0D, 0x0A] + held) else {
            guard held.count <= Self.headerBytesMax else {
                throw MultipartError(
                    reason: "a part's header fields have more than \(Self.headerBytesMax) bytes")
            }
            return false
        }
        guard end <= Self.headerBytesMax else {
            throw MultipartError(reason: "a part's header fields have more than \(Self.headerBytesMax) bytes")
        }
        try check(headers: held.prefix(max(0, end - 2)))
        held.removeFirst(end + 2)
        partCount += 1
        guard partCount == 1 else { throw MultipartError(reason: "more than one part") }
        state = .body
        return true
    }

    private mutating func takeBody(_ file: inout [UInt8]) -> Bool {
        if let end = Self.find(delimiter, in: held) {
            file += held[..<end]
            held.removeFirst(end + delimiter.count)
            state = .boundary
            return true
        }
        // The last bytes may be the start of a boundary.
        let certain = held.count - (delimiter.count - 1)
        if certain > 0 {
            file += held[..<certain]
            held.removeFirst(certain)
        }
        return false
    }

    private func check(headers: ArraySlice<UInt8>) throws(MultipartError) {
        var names: [String] = []
        for line in headers.split(separator: 0x0A) {
            var line = line
            if line.last == 0x0D { line.removeLast() }
            let parts = line.split(
                separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty,
                line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else { throw MultipartError(reason: "a part's header field can't be read") }
            guard Self.lowered(parts[0]) == Array("content-disposition".utf8) else { continue }
            let value = parts[1].split(separator: UInt8(ascii: ";"), maxSplits: 1)
            guard let kind = value.first, Self.lowered(Self.trimmed(kind)) == Array("form-data".utf8) else {
                throw MultipartError(reason: "a part that isn't form-data")
            }
            let name = value.count > 1 ? try Self.parameters(value[1])["name"] : nil
            names.append(name.map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
        guard names == [Self.partName] else {
            throw MultipartError(reason: "a part must be named 'files'")
        }
    }
}

// MARK: - Bytes

extension MultipartParser {
    /// `a=b; c="d"`, with names in lower case.
    private static func parameters(_ text: some Collection<UInt8>) throws(MultipartError) -> [String: [UInt8]]
    {
        let bytes = Array(text)
        var parameters: [String: [UInt8]] = [:]
        var position = 0
        func skipSpaces() {
            while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
        }
        while true {
            skipSpaces()
            guard position < bytes.count else { return parameters }
            let nameStart = position
            while position < bytes.count, isToken(bytes[position]) { position += 1 }
            let name = String(decoding: lowered(bytes[nameStart..<position]), as: UTF8.self)
            guard !name.isEmpty, position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                throw MultipartError(reason: "a parameter without a name or a value")
            }
            position += 1
            let value = try value(bytes, &position)
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw MultipartError(reason: "a duplicate parameter")
            }
            skipSpaces()
            guard position < bytes.count else { return parameters }
            guard bytes[position] == UInt8(ascii: ";") else {
                throw MultipartError(reason: "something follows a parameter")
            }
            position += 1
        }
    }

    private static func value(_ bytes: [UInt8], _ position: inout Int) throws(MultipartError) -> [UInt8] {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            let start = position
            while position < bytes.count, isToken(bytes[position]) { position += 1 }
            guard position > start else { throw MultipartError(reason: "a parameter without a value") }
            return Array(bytes[start..<position])
        }
        position += 1
        var value: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "\\"):
                guard position < bytes.count else { break }
                value.append(bytes[position])
                position += 1
            default: value.append(byte)
            }
        }
        throw MultipartError(reason: "a quotation mark is missing")
    }

    /// Accepts the tokens of RFC 9110, and a few more bytes that unquoted boundaries contain in practice.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~/:?()@".utf8.contains(byte)
        }
    }

    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> [UInt8] {
        var bytes = Array(bytes)
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return Array(bytes.drop { $0 == 0x20 || $0 == 0x09 })
    }

    private static func lowered(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
    }

    /// Returns the position of `mark` in `bytes`.
    private static func find(_ mark: [UInt8], in bytes: [UInt8]) -> Int? {
        guard let first = mark.first, bytes.count >= mark.count else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            mark.withUnsafeBufferPointer { mark in
                for start in 0...(bytes.count - mark.count) where bytes[start] == first {
                    var length = 1
                    while length < mark.count, bytes[start + length] == mark[length] { length += 1 }
                    if length == mark.count { return start }
                }
                return nil
            }
        }
    }
}

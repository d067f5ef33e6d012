/// A request's target, parsed and decoded once.
///
/// Rules: a target is a path with an optional query, the same after `http://host`, or `*` for OPTIONS. It
/// contains only characters that a URL allows unescaped, and `%XX`. A decoded path has no control character,
/// no backslash, no encoded slash, and no segment of dots only. Path and query are UTF-8. A plus stays a
/// plus.
struct HTTPTarget {
    typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    var path: String
    var query: [(name: String, value: String)]
    /// The host in the target, if it has one.
    var authority: Bytes?

    init(_ bytes: Bytes, method: String) throws(HTTPParseFailure) {
        authority = nil
        query = []
        if bytes.count == 1, bytes.first == 0x2A, method == "OPTIONS" {
            path = "*"
            return
        }
        var rest = bytes
        if rest.first != 0x2F {
            authority = try Self.authority(&rest)
            if rest.isEmpty {
                path = "/"
                return
            }
        }
        guard rest.first == 0x2F || rest.first == 0x3F else {
            throw HTTPParseFailure(400, "a target that is no path")
        }
        let questionMark = rest.firstIndex(of: 0x3F)
        let pathBytes = rest[rest.startIndex..<(questionMark ?? rest.endIndex)]
        path = pathBytes.isEmpty ? "/" : try Self.path(pathBytes)
        if let questionMark { query = try Self.query(rest[(questionMark + 1)...]) }
    }

    /// Removes `http://host` from the front.
    private static func authority(_ rest: inout Bytes) throws(HTTPParseFailure) -> Bytes {
        let scheme: StaticString = isEqual(rest.prefix(7), toLowercase: "http://") ? "http://" : "https://"
        guard isEqual(rest.prefix(scheme.utf8CodeUnitCount), toLowercase: scheme) else {
            throw HTTPParseFailure(400, "a target that is no path")
        }
        rest = rest.dropFirst(scheme.utf8CodeUnitCount)
        let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    private static func path(_ bytes: Bytes) throws(HTTPParseFailure) -> String {
        var segmentStart = bytes.startIndex + 1
        var isPlain = true
        var isInPlaceholder = false
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == 0x2F {
                try checkDots(bytes[min(segmentStart, index)..<index])
                segmentStart = index + 1
            } else if byte == 0x25 {
                isPlain = false
            } else if !isSegmentByte(byte) {
                // CloudKit's addresses of files contain a literal `${f}`, and some clients send it unescaped.
                let isBrace = isInPlaceholder ? byte == 0x7D : byte == 0x7B && bytes[index - 1] == 0x24
                guard isBrace else {
                    throw HTTPParseFailure(400, "a character in the path that must be percent-encoded")
                }
                isInPlaceholder.toggle()
            }
        }
        guard !isInPlaceholder else {
            throw HTTPParseFailure(400, "a placeholder in the path without an end")
        }
        try checkDots(bytes[segmentStart...])
        if isPlain { return String(decoding: bytes, as: UTF8.self) }

        let decoded = try decode(bytes) { byte in
            byte < 0x20 || byte == 0x7F || byte == 0x2F || byte == 0x5C
        }
        for segment in decoded.utf8.split(separator: 0x2F) where segment.allSatisfy({ $0 == 0x2E }) {
            throw HTTPParseFailure(400, "a path with a segment of dots")
        }
        return decoded
    }

    private static func checkDots(_ segment: Bytes) throws(HTTPParseFailure) {
        if segment.first == 0x2E, segment.allSatisfy({ $0 == 0x2E }) {
            throw HTTPParseFailure(400, "a path with a segment of dots")
        }
    }

    private static func query(_ bytes: Bytes) throws(HTTPParseFailure) -> [(name: String, value: String)] {
        for byte in bytes where !isSegmentByte(byte) && byte != 0x2F && byte != 0x3F && byte != 0x25 {
            throw HTTPParseFailure(400, "a character in the query that must be percent-encoded")
        }
        var items = [(name: String, value: String)]()
        for item in bytes.split(separator: 0x26) {
            let equals = item.firstIndex(of: 0x3D) ?? item.endIndex
            let name = try decode(item[..<equals]) { $0 == 0 }
            let value = try decode(item[equals...].dropFirst()) { $0 == 0 }
            items.append((name, value))
        }
        return items
    }

    /// Decodes percent escapes. Rejects escapes of forbidden bytes, and text that isn't UTF-8.
    private static func decode(
        _ bytes: Bytes, forbidden: (UInt8) -> Bool
    ) throws(HTTPParseFailure) -> String {
        guard bytes.contains(0x25) else { return String(decoding: bytes, as: UTF8.self) }
        var decoded = [UInt8]()
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard bytes[index] == 0x25 else {
                decoded.append(bytes[index])
                index += 1
                continue
            }
            guard index + 2 < bytes.endIndex, let high = hexadecimalDigit(bytes[index + 1]),
                let low = hexadecimalDigit(bytes[index + 2])
            else { throw HTTPParseFailure(400, "a bad percent escape in the target") }
            let byte = high << 4 | low
            if forbidden(byte) {
                throw HTTPParseFailure(400, "an escape of a forbidden byte in the target")
            }
            decoded.append(byte)
            index += 3
        }
        guard let text = String(validating: decoded, as: UTF8.self) else {
            throw HTTPParseFailure(400, "a target that is not UTF-8")
        }
        return text
    }
}

@testable import HTTPServer

/// What a parser makes of pieces of bytes, as one text.
private func outcome(_ pieces: [ArraySlice<UInt8>]) throws -> String {
    var parser = HTTPRequestParser(limits: HTTPParserLimits())
    parser.bodyBytesMax = 1 << 20
    var text = ""
    var body = [UInt8]()
    for piece in pieces {
        let hasFailed = try piece.withUnsafeBufferPointer { input in
            var position = 0
            while true {
                let before = position
                switch parser.next(input, &position) {
                case .needsMore:
                    try expect(position == input.count, "bytes were left")
                    return false
                case .head(let parsed):
                    let head = parsed.head
                    try expect(head.path.utf8.first == 0x2F || head.path == "*", "a path without a slash")
                    try expect(!head.path.utf8.contains(0), "a path with a zero")
                    text += "\(head.method) \(head.path) \(head.query) \(head.headers) \(parsed.framing)"
                    body = []
                case .body(let places):
                    try expect(
                        places.lowerBound >= before && places.upperBound <= input.count, "a body outside")
                    body += input[places]
                case .end: text += " \(body)\n"
                case .failed(let failure):
                    text += "\(failure.status) \(failure.reason)"
                    return true
                }
            }
        }
        if hasFailed { return text }
    }
    return text
}

/// The parser of HTTP requests: however the bytes are cut, they mean the same.
@Sendable func fuzzRequest(_ bytes: [UInt8]) throws {
    let whole = try outcome([bytes[...]])
    let cut = bytes.isEmpty ? 0 : (Int(bytes[0]) &* 31 &+ bytes.count / 2) % (bytes.count + 1)
    try expect(try outcome([bytes[..<cut], bytes[cut...]]) == whole, "a cut changes the meaning")
    try expect(
        try outcome(bytes.indices.map { bytes[$0...$0] }) == whole, "byte by byte has another meaning")
}

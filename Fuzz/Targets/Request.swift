// Compiled together with Sources/HTTPServer/Parsing by Scripts/fuzz.

/// What a parser makes of pieces of bytes, as one text.
private func outcome(_ pieces: [ArraySlice<UInt8>]) -> String {
    var parser = HTTPRequestParser(limits: HTTPParserLimits())
    parser.bodyBytesMax = 1 << 20
    var text = ""
    var body = [UInt8]()
    for piece in pieces {
        let hasFailed = piece.withUnsafeBufferPointer { input in
            var position = 0
            while true {
                let before = position
                switch parser.next(input, &position) {
                case .needsMore:
                    precondition(position == input.count, "bytes were left")
                    return false
                case .head(let parsed):
                    let head = parsed.head
                    precondition(head.path.utf8.first == 0x2F || head.path == "*")
                    precondition(!head.path.utf8.contains(0))
                    text += "\(head.method) \(head.path) \(head.query) \(head.headers) \(parsed.framing)"
                    body = []
                case .body(let places):
                    precondition(places.lowerBound >= before && places.upperBound <= input.count)
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

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequest(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let whole = outcome([bytes[...]])
    // However the bytes are cut, they mean the same.
    let cut = count == 0 ? 0 : (Int(bytes[0]) &* 31 &+ count / 2) % (count + 1)
    precondition(outcome([bytes[..<cut], bytes[cut...]]) == whole, "a cut changes the meaning")
    precondition(outcome(bytes.indices.map { bytes[$0...$0] }) == whole, "byte by byte has another meaning")
    return 0
}

import HTTPServer

/// What a parser makes of some bytes.
struct Parsed: Equatable, CustomStringConvertible {
    struct Request: Equatable {
        var method: String
        var path: String
        var query: [String]
        var headers: [String]
        var body: String
        var keepsAlive: Bool
    }

    var requests = [Request]()
    var failure: HTTPParseFailure?
    /// Whether the bytes end between two requests.
    var isWhole = false

    var status: Int? { failure?.status }
    var description: String {
        "\(requests.map { "\($0.method) \($0.path) \($0.query) \($0.headers) \($0.body.debugDescription)" })"
            + (failure.map { " \($0.status) \($0.reason)" } ?? (isWhole ? " whole" : " more"))
    }

    /// Parses the pieces one after another.
    init(_ pieces: [[UInt8]], limits: HTTPParserLimits = HTTPParserLimits(), bodyBytesMax: Int = .max) {
        var parser = HTTPRequestParser(limits: limits)
        parser.bodyBytesMax = bodyBytesMax
        var current: Request?
        var body = [UInt8]()
        for piece in pieces where failure == nil {
            piece.withUnsafeBufferPointer { input in
                var position = 0
                while true {
                    switch parser.next(input, &position) {
                    case .needsMore: return
                    case .head(let parsed):
                        current = Request(
                            method: parsed.head.method, path: parsed.head.path,
                            query: parsed.head.query.map { "\($0.name)=\($0.value)" },
                            headers: parsed.head.headers.map { "\($0.name):\($0.value)" }, body: "",
                            keepsAlive: parsed.keepsAlive)
                    case .body(let places): body += input[places]
                    case .end:
                        current?.body = String(decoding: body, as: UTF8.self)
                        if let current { requests.append(current) }
                        current = nil
                        body = []
                    case .failed(let failure):
                        self.failure = failure
                        return
                    }
                }
            }
        }
        isWhole = failure == nil && current == nil && parser.isBetweenRequests
    }

    /// Parses the text whole.
    init(_ text: String, limits: HTTPParserLimits = HTTPParserLimits(), bodyBytesMax: Int = .max) {
        self.init([Array(text.utf8)], limits: limits, bodyBytesMax: bodyBytesMax)
    }

    /// Parses the bytes cut in two at each place, and byte by byte; returns the cuts that change the outcome.
    static func cutsThatMatter(
        _ bytes: [UInt8], limits: HTTPParserLimits = HTTPParserLimits(), bodyBytesMax: Int = .max
    ) -> [String] {
        let whole = Parsed([bytes], limits: limits, bodyBytesMax: bodyBytesMax)
        var different = [String]()
        // Every place; of what is only long because a limit is, some hundreds.
        for cut in stride(from: 0, through: bytes.count, by: 1 + bytes.count / 400) {
            let parsed = Parsed(
                [Array(bytes[..<cut]), Array(bytes[cut...])], limits: limits, bodyBytesMax: bodyBytesMax)
            if parsed != whole { different.append("cut at \(cut): \(parsed), whole: \(whole)") }
        }
        let single = Parsed(bytes.map { [$0] }, limits: limits, bodyBytesMax: bodyBytesMax)
        if single != whole { different.append("byte by byte: \(single), whole: \(whole)") }
        return different
    }
}

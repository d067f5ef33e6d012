/// Parses requests from a stream of bytes, independent of how the stream is split. It does no I/O.
///
/// It accepts less than the standard allows, to prevent request smuggling past a proxy. A rejected request
/// has a status, and nothing after it is read.
package struct HTTPRequestParser {
    /// The result of parsing the bytes so far.
    package enum Event {
        /// All given bytes were consumed, and more are needed.
        case needsMore
        /// A head is complete. Its body's events and `.end` follow.
        case head(HTTPParsedHead)
        /// This range of the input contains bytes of the body.
        case body(Range<Int>)
        /// The request is complete.
        case end
        /// The request is invalid, and the connection can't continue.
        case failed(HTTPParseFailure)
    }

    private enum State {
        case head
        case length(Int)
        case chunked
        case failed(HTTPParseFailure)
    }

    /// Maximum bytes of the body. The caller sets it after the head.
    package var bodyBytesMax = Int.max

    private let limits: HTTPParserLimits
    private var state = State.head
    private var scanner = HTTPHeadScanner()
    private var chunks = HTTPChunkDecoder()
    /// Bytes of an incomplete request head. Empty between requests, so an idle connection uses no memory.
    private var partialHead = [UInt8]()

    /// Makes a parser at the start of a connection.
    package init(limits: HTTPParserLimits) {
        self.limits = limits
    }

    /// True between two requests.
    package var isBetweenRequests: Bool {
        if case .head = state { return scanner.byteCount == 0 }
        return false
    }

    /// Consumes bytes of the input from `position` on, advances `position`, and returns the next event.
    package mutating func next(_ input: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Event {
        switch state {
        case .head: return nextOfHead(input, &position)
        case .length(let remaining): return nextOfLength(remaining, input, &position)
        case .chunked:
            switch chunks.next(input, &position, bodyBytesMax: bodyBytesMax) {
            case .failed(let failure): return fail(failure)
            case .end:
                state = .head
                return .end
            case let event: return event
            }
        case .failed(let failure): return .failed(failure)
        }
    }

    private mutating func nextOfLength(
        _ remaining: Int, _ input: UnsafeBufferPointer<UInt8>, _ position: inout Int
    ) -> Event {
        if remaining == 0 {
            state = .head
            return .end
        }
        let count = min(remaining, input.count - position)
        if count == 0 { return .needsMore }
        state = .length(remaining - count)
        position += count
        return .body(position - count..<position)
    }

    private mutating func nextOfHead(_ input: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Event {
        let start = position
        switch scanner.scan(input, &position, limits) {
        case .failed(let failure): return fail(failure)
        case .needsMore:
            if start < position { partialHead.append(contentsOf: input[start..<position]) }
            return .needsMore
        case .complete:
            partialHead.append(contentsOf: input[start..<position])
            var bytes = [UInt8]()
            swap(&bytes, &partialHead)
            let fieldCount = scanner.fieldCount
            scanner = HTTPHeadScanner()
            do throws(HTTPParseFailure) {
                let parsed = try HTTPParsedHead(bytes: bytes, fieldCount: fieldCount, limits: limits)
                switch parsed.framing {
                case .none: state = .length(0)
                case .length(let count): state = .length(count)
                case .chunked:
                    chunks = HTTPChunkDecoder()
                    state = .chunked
                }
                return .head(parsed)
            } catch {
                return fail(error)
            }
        }
    }

    private mutating func fail(_ failure: HTTPParseFailure) -> Event {
        partialHead = []
        state = .failed(failure)
        return .failed(failure)
    }
}

/// The reason that a request is rejected.
package struct HTTPParseFailure: Error, Equatable {
    /// The status of the response.
    package var status: Int
    /// A human-readable reason.
    package var reason: String

    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}

/// Limits of a head.
package struct HTTPParserLimits: Sendable {
    /// Maximum bytes of the request line's target.
    package var targetBytesMax = 8 * 1024
    /// Maximum bytes of the request line and the fields.
    package var headerBytesMax = 16 * 1024
    /// Maximum number of fields.
    package var headerCountMax = 100

    /// The limits of `HTTPServerOptions`.
    package init() {}
}

/// Takes requests out of a stream of bytes, however the stream is cut into pieces. It does no I/O.
///
/// It accepts less than the standard allows where the rest is used to smuggle requests past a proxy; what it refuses
/// has a status, and nothing after that is read.
package struct HTTPRequestParser {
    /// What the bytes so far mean.
    package enum Event {
        /// All given bytes are taken; more are needed.
        case needsMore
        /// A head is complete; its body's events and `.end` follow.
        case head(HTTPParsedHead)
        /// These places of the input are bytes of the body.
        case body(Range<Int>)
        /// The request is complete.
        case end
        /// The request breaks a rule; the connection can't go on.
        case failed(HTTPParseFailure)
    }

    private enum State {
        case head
        case length(Int)
        case chunked
        case failed(HTTPParseFailure)
    }

    /// The longest body that is let through; the caller sets it when it knows the head.
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

    /// True if it stands between two requests.
    package var isBetweenRequests: Bool {
        if case .head = state { return scanner.byteCount == 0 }
        return false
    }

    /// Takes bytes of the input from `position` on, moves `position` behind them, and says what they mean.
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

/// Why a request can't be accepted.
package struct HTTPParseFailure: Error, Equatable {
    /// The status of the response.
    package var status: Int
    /// What is wrong, for a person.
    package var reason: String

    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}

/// What a head may cost.
package struct HTTPParserLimits: Sendable {
    /// Bytes of the request line's target.
    package var targetBytesMax = 8 * 1024
    /// Bytes of the request line and the fields.
    package var headerBytesMax = 16 * 1024
    /// Fields.
    package var headerCountMax = 100

    /// The limits of `HTTPServerOptions`.
    package init() {}
}

/// Finds the end of a head, and immediately rejects invalid heads: with a bare CR or LF, a NUL or another
/// control character, a folded field, or more than the limits.
struct HTTPHeadScanner {
    enum Result {
        case needsMore, complete
        case failed(HTTPParseFailure)
    }

    /// Maximum bytes of the method, the version and the two spaces.
    private static let requestLineBytesBesideTargetMax = 64

    /// Number of bytes of the head so far, without an empty line before it.
    private(set) var byteCount = 0
    /// Number of complete fields so far.
    private(set) var fieldCount = 0
    private var lineByteCount = 0
    private var isRequestLine = true
    private var isAfterCarriageReturn = false
    private var sawEmptyLine = false

    /// Scans until the end of the head or of the input.
    mutating func scan(
        _ input: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ limits: HTTPParserLimits
    ) -> Result {
        while position < input.count {
            if isAfterCarriageReturn {
                guard input[position] == 0x0A else { return bad("a carriage return without a line feed") }
                position += 1
                byteCount += 1
                isAfterCarriageReturn = false
                switch endLine(limits) {
                case .needsMore: continue
                case let result: return result
                }
            }
            let start = position
            while position < input.count, input[position] >= 0x20, input[position] != 0x7F { position += 1 }
            if let failure = take(start, position, input, limits) { return .failed(failure) }
            guard position < input.count else { return .needsMore }
            switch input[position] {
            case 0x0D: isAfterCarriageReturn = true
            case 0x09 where lineByteCount > 0: lineByteCount += 1
            case 0x09: return bad("a folded header field")
            case 0x0A: return bad("a line feed without a carriage return")
            default: return bad("a control character in the head")
            }
            position += 1
            byteCount += 1
            // The number of tabs is limited like that of other bytes.
            if let failure = checkLimits(limits) { return .failed(failure) }
        }
        return .needsMore
    }

    /// Counts printable bytes of one line.
    private mutating func take(
        _ start: Int, _ end: Int, _ input: UnsafeBufferPointer<UInt8>, _ limits: HTTPParserLimits
    ) -> HTTPParseFailure? {
        guard start < end else { return nil }
        if lineByteCount == 0, input[start] == 0x20 {
            return HTTPParseFailure(
                400, isRequestLine ? "a space before the method" : "a folded header field")
        }
        byteCount += end - start
        lineByteCount += end - start
        return checkLimits(limits)
    }

    private func checkLimits(_ limits: HTTPParserLimits) -> HTTPParseFailure? {
        if isRequestLine, lineByteCount > limits.targetBytesMax + Self.requestLineBytesBesideTargetMax {
            return HTTPParseFailure(414, "the target is longer than \(limits.targetBytesMax) bytes")
        }
        if byteCount > limits.headerBytesMax {
            return HTTPParseFailure(431, "the header is longer than \(limits.headerBytesMax) bytes")
        }
        return nil
    }

    private mutating func endLine(_ limits: HTTPParserLimits) -> Result {
        defer { lineByteCount = 0 }
        if isRequestLine {
            // The standard allows one empty line before a request.
            if lineByteCount == 0 {
                if sawEmptyLine { return bad("empty lines instead of a request") }
                sawEmptyLine = true
            } else {
                isRequestLine = false
            }
            return .needsMore
        }
        if lineByteCount == 0 { return .complete }
        fieldCount += 1
        if fieldCount > limits.headerCountMax {
            return .failed(HTTPParseFailure(431, "more than \(limits.headerCountMax) header fields"))
        }
        return .needsMore
    }

    private func bad(_ reason: String) -> Result { .failed(HTTPParseFailure(400, reason)) }
}

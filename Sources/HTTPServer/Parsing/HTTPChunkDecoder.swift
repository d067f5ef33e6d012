/// Decodes the chunks of a body. Extensions and trailer fields are checked and discarded.
struct HTTPChunkDecoder {
    private enum State {
        case size, extensions, sizeLineFeed
        case data, dataCarriageReturn, dataLineFeed
        case trailerStart, trailerName, trailerValue, trailerLineFeed, endLineFeed
        case done
    }

    /// Maximum digits of a chunk's size: a chunk is shorter than 4 GB.
    private static let sizeDigitsMax = 8
    private static let extensionBytesMax = 256
    /// Maximum bytes of all extensions of a body.
    private static let extensionBytesTotalMax = 4096
    private static let trailerBytesMax = 4096

    private var state = State.size
    private var remaining = 0
    private var digitCount = 0
    private var bodyByteCount = 0
    private var extensionByteCount = 0
    private var extensionByteTotal = 0
    private var trailerByteCount = 0

    /// Consumes bytes from `position` on.
    mutating func next(
        _ input: UnsafeBufferPointer<UInt8>, _ position: inout Int, bodyBytesMax: Int
    ) -> HTTPRequestParser.Event {
        while position < input.count {
            if state == .data {
                let count = min(remaining, input.count - position)
                position += count
                remaining -= count
                if remaining == 0 { state = .dataCarriageReturn }
                return .body(position - count..<position)
            }
            let byte = input[position]
            position += 1
            if let failure = take(byte) { return .failed(failure) }
            if state == .done { return .end }
            if state == .data {
                bodyByteCount += remaining
                if bodyByteCount > bodyBytesMax {
                    return .failed(HTTPParseFailure(413, "the body is longer than \(bodyBytesMax) bytes"))
                }
            }
        }
        return .needsMore
    }

    private mutating func take(_ byte: UInt8) -> HTTPParseFailure? {
        switch state {
        case .size, .extensions, .sizeLineFeed: return takeOfSizeLine(byte)
        case .dataCarriageReturn:
            guard byte == 0x0D else { return bad("a chunk longer than its size") }
            state = .dataLineFeed
        case .dataLineFeed:
            guard byte == 0x0A else { return bad("a carriage return without a line feed after a chunk") }
            state = .size
            digitCount = 0
            remaining = 0
        case .data, .done: break
        default: return takeOfTrailer(byte)
        }
        return nil
    }

    private mutating func takeOfSizeLine(_ byte: UInt8) -> HTTPParseFailure? {
        switch (state, byte) {
        case (.sizeLineFeed, 0x0A): state = remaining == 0 ? .trailerStart : .data
        case (.sizeLineFeed, _): return bad("a carriage return without a line feed after a chunk's size")
        case (.size, _):
            if let digit = hexadecimalDigit(byte) {
                digitCount += 1
                guard digitCount <= Self.sizeDigitsMax else { return bad("a chunk's size is too long") }
                remaining = remaining << 4 | Int(digit)
                return nil
            }
            guard digitCount > 0 else { return bad("a chunk without a size") }
            switch byte {
            case 0x0D: state = .sizeLineFeed
            case 0x3B:
                state = .extensions
                extensionByteCount = 0
            default: return bad("a chunk's size is no hexadecimal number")
            }
        default:
            if byte == 0x0D {
                state = .sizeLineFeed
                return nil
            }
            guard byte == 0x09 || (0x20...0x7E).contains(byte) else {
                return bad("a control character in a chunk's extension")
            }
            extensionByteCount += 1
            extensionByteTotal += 1
            guard
                extensionByteCount <= Self.extensionBytesMax,
                extensionByteTotal <= Self.extensionBytesTotalMax
            else { return bad("chunk extensions that are too long") }
        }
        return nil
    }

    private mutating func takeOfTrailer(_ byte: UInt8) -> HTTPParseFailure? {
        trailerByteCount += 1
        guard trailerByteCount <= Self.trailerBytesMax else {
            return HTTPParseFailure(431, "the trailer is longer than \(Self.trailerBytesMax) bytes")
        }
        switch state {
        case .endLineFeed:
            guard byte == 0x0A else { return bad("a carriage return without a line feed after the chunks") }
            state = .done
        case .trailerLineFeed:
            guard byte == 0x0A else { return bad("a carriage return without a line feed in the trailer") }
            state = .trailerStart
        case .trailerStart where byte == 0x0D: state = .endLineFeed
        case .trailerStart where isTokenByte(byte): state = .trailerName
        case .trailerName where byte == 0x3A: state = .trailerValue
        case .trailerName where isTokenByte(byte): break
        case .trailerValue where byte == 0x0D: state = .trailerLineFeed
        case .trailerValue where byte == 0x09 || byte >= 0x20 && byte != 0x7F: break
        default: return bad("an invalid trailer field")
        }
        return nil
    }

    private func bad(_ reason: String) -> HTTPParseFailure { HTTPParseFailure(400, reason) }
}

/// A part of a text, with the matches of a full-text query. All offsets are bytes of UTF-8.
public struct FullTextExcerpt: Equatable, Sendable {
    /// Maximum bytes of an excerpt for each of its tokens, for texts with very few words.
    private static let bytesPerToken = 256

    /// Number of the column.
    public var column = 0
    /// True if text precedes the excerpt.
    public var isCutAtStart = false
    /// True if text follows the excerpt.
    public var isCutAtEnd = false
    /// Bytes of the excerpt.
    public var bytes: [UInt8] = []
    /// The matches in `bytes`, in ascending order and without overlap.
    public var ranges: [Range<Int>] = []

    /// Chooses the part of a text with the most different phrases of a query.
    ///
    /// - Parameters:
    ///   - text: The whole text.
    ///   - tokens: The tokens' ranges in the text, in order. They may overlap.
    ///   - hits: Matches of phrases: the phrase's number, and a range of tokens.
    ///   - count: Maximum number of tokens; 0 for the whole text.
    public init(
        _ text: UnsafeRawBufferPointer, tokens: [Range<Int>], hits: [(phrase: Int, tokens: Range<Int>)],
        count: Int
    ) {
        let hits = hits.filter { !$0.tokens.isEmpty && $0.tokens.upperBound <= tokens.count }
            .sorted { $0.tokens.lowerBound < $1.tokens.lowerBound }
        var part = 0..<text.count
        if count > 0, tokens.count > count {
            let first = Self.firstToken(hits, count, of: tokens.count)
            if first > 0 { part = tokens[first].lowerBound..<part.upperBound }
            if first + count < tokens.count {
                part = part.lowerBound..<tokens[first + count - 1].upperBound
            }
        }
        if count > 0 { part = Self.limited(part, to: count * Self.bytesPerToken, text) }
        isCutAtStart = part.lowerBound > 0
        isCutAtEnd = part.upperBound < text.count
        bytes = Array(text[part])
        for hit in hits {
            let whole =
                tokens[hit.tokens.lowerBound].lowerBound..<tokens[hit.tokens.upperBound - 1].upperBound
            add(whole.clamped(to: part), from: part.lowerBound)
        }
    }

    private mutating func add(_ range: Range<Int>, from start: Int) {
        guard !range.isEmpty else { return }
        let range = range.lowerBound - start..<range.upperBound - start
        if let last = ranges.last, range.lowerBound <= last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        } else {
            ranges.append(range)
        }
    }

    /// Returns the first token of the best part: the one with the most different phrases, then the most hits, then
    /// the first one.
    private static func firstToken(
        _ hits: [(phrase: Int, tokens: Range<Int>)], _ count: Int, of total: Int
    ) -> Int {
        var counts: [Int: Int] = [:]
        var end = 0
        var best = (score: (0, 0), range: 0..<0)
        for (start, hit) in hits.enumerated() {
            while end < hits.count, hits[end].tokens.upperBound <= hit.tokens.lowerBound + count {
                counts[hits[end].phrase, default: 0] += 1
                end += 1
            }
            if end > start {
                let score = (counts.count, end - start)
                let range = hit.tokens.lowerBound..<hits[end - 1].tokens.upperBound
                if score > best.score { best = (score, range) }
                counts[hit.phrase] = counts[hit.phrase].flatMap { $0 > 1 ? $0 - 1 : nil }
            } else {
                // The phrase is longer than the part.
                if best.score == (0, 0) { best.range = hit.tokens.lowerBound..<hit.tokens.lowerBound + count }
                end += 1
            }
        }
        let before = max(0, (count - best.range.count) / 2)
        return min(max(0, best.range.lowerBound - before), total - count)
    }

    /// Returns the beginning of a part, cut between two scalars.
    private static func limited(_ part: Range<Int>, to bytesMax: Int, _ text: UnsafeRawBufferPointer)
        -> Range<Int>
    {
        guard part.count > bytesMax else { return part }
        var end = part.lowerBound + bytesMax
        while end > part.lowerBound, text[end] & 0xC0 == 0x80 { end -= 1 }
        return part.lowerBound..<end
    }
}

extension FullTextExcerpt {
    /// The excerpt as the SQL function returns it.
    var blob: [UInt8] {
        let flags = (isCutAtStart ? 1 : 0) + (isCutAtEnd ? 2 : 0)
        let numbers = [column, flags, ranges.count] + ranges.flatMap { [$0.lowerBound, $0.upperBound] }
        return numbers.flatMap { number in
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).littleEndian) { Array($0) }
        } + bytes
    }

    /// Parses the result of the SQL function. Nil for anything else.
    public init?(blob: UnsafeRawBufferPointer) {
        func number(_ place: Int) -> Int {
            Int(UInt32(littleEndian: blob.loadUnaligned(fromByteOffset: place * 4, as: UInt32.self)))
        }
        guard blob.count >= 12 else { return nil }
        let count = number(2)
        let start = 12 + count * 8
        guard start <= blob.count else { return nil }
        column = number(0)
        isCutAtStart = number(1) & 1 != 0
        isCutAtEnd = number(1) & 2 != 0
        bytes = Array(blob[start...])
        for place in 0..<count {
            let (lower, upper) = (number(3 + place * 2), number(4 + place * 2))
            guard lower <= upper, upper <= bytes.count else { return nil }
            ranges.append(lower..<upper)
        }
    }
}
